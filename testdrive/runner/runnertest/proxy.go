package runnertest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Spoil is what a proxy does to results.
type Spoil struct {
	// Journal is a file that the proxy notes results in, and goes on with if it was killed.
	Journal string
	// Target is the number of the result that is spoilt, counted from 1 as they begin; 0 means none.
	Target int
	// How is one of the ways to spoil a row.
	How int
}

// The ways to spoil a row.
const (
	dropRow = iota
	doubleRow
	nullField
	changeField
	mutations
)

// The words of a journal's lines: a result began; one ended well, of a number; the target was spoilt, as follows.
const (
	began  = "began"
	ended  = "ended"
	spoilt = "spoilt"
)

// String is what ParseSpoil reads.
func (s Spoil) String() string { return fmt.Sprintf("%d %d %s", s.Target, s.How, s.Journal) }

// ParseSpoil reads a Spoil that was handed to another process.
func ParseSpoil(text string) (s Spoil, err error) {
	_, err = fmt.Sscanf(text, "%d %d %s", &s.Target, &s.How, &s.Journal)
	return s, err
}

// read gives the numbers of the results that had rows and no error, and what was done to the target.
func (s Spoil) read(t *testing.T) (results []int, what string) {
	text, err := os.ReadFile(s.Journal)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case ended:
			n, err := strconv.Atoi(rest)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, n)
		case spoilt:
			what = rest
		}
	}
	slices.Sort(results)
	return results, what
}

// proxy relays connections to a server, counts the results that have rows, and may spoil the first row of one.
type proxy struct {
	spoil  Spoil
	server string
	mu     struct {
		sync.Mutex
		seen    int
		journal *os.File
	}
}

// Serve relays what comes to the listener to a server, until the listener is closed.
func Serve(l net.Listener, server string, s Spoil) error {
	text, err := os.ReadFile(s.Journal)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	p := &proxy{spoil: s, server: server}
	p.mu.seen = strings.Count(string(text), began+"\n")
	if p.mu.journal, err = os.OpenFile(s.Journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	defer p.mu.journal.Close()
	for {
		client, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go p.relay(client)
	}
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
	result := 0 // the number of the one that is under way
	header := make([]byte, 5)
	for {
		if _, err := io.ReadFull(server, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		message := append(slices.Clone(header), body...)
		switch {
		case header[0] == 'D' && result == 0:
			result, message = p.begin(message, body)
		case result == 0:
		case header[0] == 'C' || header[0] == 's':
			p.note(fmt.Sprint(ended, " ", result))
			result = 0
		case header[0] == 'E' || header[0] == 'Z':
			result = 0
		}
		if _, err := client.Write(message); err != nil {
			return
		}
	}
}

// begin counts a result by its first row, and spoils that if it is the chosen one.
func (p *proxy) begin(message, body []byte) (number int, out []byte) {
	p.mu.Lock()
	p.mu.seen++
	number = p.mu.seen
	p.mu.Unlock()
	p.note(began)
	if number != p.spoil.Target {
		return number, message
	}
	what := ""
	switch p.spoil.How {
	case dropRow:
		what = "row dropped"
	case doubleRow:
		what, out = "row doubled", append(slices.Clone(message), message...)
	default:
		what, out = change(message, body, p.spoil.How)
	}
	p.note(spoilt + " " + what)
	return number, out
}

// note writes a line into the journal. A proxy that cannot would make the check worthless, so it ends.
func (p *proxy) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.mu.journal.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// change makes the last field that has a value NULL, or changes that value's last letter or digit. (The first may be a
// time that scripts have to hide.) What has no value gets a doubled row instead.
func change(message, body []byte, how int) (what string, out []byte) {
	at, n := lastValue(body)
	if n == 0 {
		return "row without values doubled", append(slices.Clone(message), message...)
	}
	value := body[at+4 : at+4+n]
	last := value[n-1]
	isText := last >= '0' && last <= '9' || last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z'
	if how == changeField && isText {
		switch last {
		case 't':
			last = 'f'
		case 'f':
			last = 't'
		default:
			last ^= 1
		}
		out := slices.Clone(message)
		out[5+at+4+n-1] = last
		return fmt.Sprintf("last character of %q", value), out
	}
	out = append([]byte{'D', 0, 0, 0, 0}, body[:at]...)
	out = append(out, 0xff, 0xff, 0xff, 0xff)
	out = append(out, body[at+4+n:]...)
	binary.BigEndian.PutUint32(out[1:], uint32(len(out)-1))
	return fmt.Sprintf("NULL for %q", value), out
}

// lastValue finds the last field of a row that has a value of at least a byte: where its length stands, and the length.
func lastValue(body []byte) (at, n int) {
	next := 2
	for range binary.BigEndian.Uint16(body) {
		length := max(0, int(int32(binary.BigEndian.Uint32(body[next:]))))
		if length > 0 {
			at, n = next, length
		}
		next += 4 + length
	}
	return at, n
}
