package slt_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/slt"
)

// detectedShare is how many of the files must fail when one of their results is wrong: else the checks do not check.
const detectedShare = 0.95

// TestWrongResultsAreNoticed runs every file of the corpora through a proxy that spoils one row of one result.
func TestWrongResultsAreNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("long: runs the corpora twice")
	}
	pg := pgtest.Start(t)
	db := pg.NewDatabase(t)
	var files []string
	for _, pattern := range []string{"../testdata/slt/*.slt", "../testdata/td/plain/*.td"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	tried, noticed := 0, 0
	for i, path := range files {
		p := startProxy(t, db)
		if out, ok := runFile(t, db, p.url, path); !ok {
			t.Errorf("fails through an honest proxy: %s", out)
			continue
		}
		results := p.results()
		if results == 0 {
			continue // It has nothing but errors.
		}
		tried++
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		p.spoil(1+rnd.IntN(results), rnd.IntN(mutations))
		if _, ok := runFile(t, db, p.url, path); ok {
			t.Logf("not noticed in %s: %s", path, p.spoilt())
			continue
		}
		noticed++
	}
	t.Logf("%d of %d files noticed a wrong result", noticed, tried)
	if float64(noticed) < detectedShare*float64(tried) {
		t.Errorf("only %d of %d", noticed, tried)
	}
}

// runFile runs one file through the proxy, on a database that was cleaned behind its back.
func runFile(t *testing.T, direct, proxied, path string) (string, bool) {
	if err := runner.Reset(t.Context(), &action.Server{URL: direct, Postgres: true}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	suite := runner.Suite{
		URL: proxied, NoReset: true, Seed: 1, Paths: []string{path}, Out: &out, Clock: runner.Clock{Now: time.Now},
	}
	var summary runner.Summary
	var err error
	if filepath.Ext(path) == slt.Extension {
		summary, err = slt.Run(t.Context(), slt.Options{Suite: suite})
	} else {
		summary, err = runner.Run(t.Context(), runner.Options{Suite: suite, MaxTries: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), summary.OK()
}

// The ways to spoil a row.
const (
	dropRow = iota
	doubleRow
	nullField
	changeField
	mutations
)

// proxy relays connections to PostgreSQL, counts the results that have rows, and may spoil the first row of one.
type proxy struct {
	url, server string
	mu          struct {
		sync.Mutex
		seen, target, how int
		what              string
	}
}

func startProxy(t *testing.T, server string) *proxy {
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{server: u.Host}
	u.Host = l.Addr().String()
	p.url = u.String()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.relay(client)
		}
	}()
	return p
}

func (p *proxy) relay(client net.Conn) {
	defer client.Close()
	var d net.Dialer
	server, err := d.DialContext(context.Background(), "tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	inResult := false
	header := make([]byte, 5)
	for {
		if _, err := io.ReadFull(server, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		message := append(append([]byte{}, header...), body...)
		switch header[0] {
		case 'D':
			if !inResult {
				message = p.first(message, body)
			}
			inResult = true
		case 'C', 'Z', 'E', 's':
			inResult = false
		}
		if _, err := client.Write(message); err != nil {
			return
		}
	}
}

// first counts a result by its first row, and spoils that if it is the chosen one.
func (p *proxy) first(message, body []byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.seen++
	if p.mu.seen != p.mu.target {
		return message
	}
	switch p.mu.how {
	case dropRow:
		p.mu.what = "row dropped"
		return nil
	case doubleRow:
		p.mu.what = "row doubled"
		return append(append([]byte{}, message...), message...)
	}
	return p.changeLocked(message, body)
}

// changeLocked makes the first field that has a value NULL, or changes its last letter or digit. What has no value
// gets a doubled row instead.
func (p *proxy) changeLocked(message, body []byte) []byte {
	fields := int(binary.BigEndian.Uint16(body))
	at := 2
	for range fields {
		n := int(int32(binary.BigEndian.Uint32(body[at:])))
		if n <= 0 {
			at += 4
			continue
		}
		value := body[at+4 : at+4+n]
		last := value[n-1]
		isText := last >= '0' && last <= '9' || last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z'
		if p.mu.how == changeField && isText {
			p.mu.what = fmt.Sprintf("last character of %q", value)
			switch last {
			case 't':
				last = 'f'
			case 'f':
				last = 't'
			default:
				last ^= 1
			}
			out := append([]byte{}, message...)
			out[5+at+4+n-1] = last
			return out
		}
		p.mu.what = fmt.Sprintf("NULL for %q", value)
		out := append([]byte{'D', 0, 0, 0, 0}, body[:at]...)
		out = append(out, 0xff, 0xff, 0xff, 0xff)
		out = append(out, body[at+4+n:]...)
		binary.BigEndian.PutUint32(out[1:], uint32(len(out)-1))
		return out
	}
	p.mu.what = "row without values doubled"
	return append(append([]byte{}, message...), message...)
}

func (p *proxy) results() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.seen
}

func (p *proxy) spoil(target, how int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.seen, p.mu.target, p.mu.how = 0, target, how
}

func (p *proxy) spoilt() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.what
}
