package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestMain makes the test binary the program itself if it is called as such: a server that can be killed, or a command whose
// status can be seen.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"inspect", "backup"}, os.Args[1]) {
		main()
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if spoil := os.Getenv(spoilEnv); spoil != "" {
			args, err := behindProxy(os.Args, spoil)
			if err != nil {
				panic(err)
			}
			os.Args = args
		}
		if spec := os.Getenv(doomEnv); spec != "" {
			panic(serveDoomed(os.Args[2:], spec))
		}
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a server in a process of its own.
type child struct {
	t    testing.TB
	cmd  *exec.Cmd
	url  string
	http string
	logs chan string
}

var (
	saysReady   = regexp.MustCompile(`psql -h (\S+) -p (\d+)`)
	saysMetrics = regexp.MustCompile(`http://(\S+)/metrics`)
)

// startChild starts a server on a data directory ("" if args say where the data is) and waits until it takes clients.
func startChild(t testing.TB, dir string, args ...string) *child {
	t.Helper()
	if dir != "" {
		args = append(args, "--data-dir", dir)
	}
	args = append([]string{"serve", "--sql-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--log-level", "warn"}, args...)
	c := &child{t: t, cmd: exec.Command(os.Args[0], args...), logs: make(chan string, 1)}
	// The server must not outlive a test that is killed.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if m := saysReady.FindStringSubmatch(lines.Text()); m != nil {
			c.url = fmt.Sprintf("postgres://materialize@%s:%s/materialize?sslmode=disable", m[1], m[2])
		}
		if m := saysMetrics.FindStringSubmatch(lines.Text()); m != nil {
			c.http = "http://" + m[1]
			break
		}
	}
	if c.url == "" || c.http == "" {
		t.Fatalf("the server did not start:\n%s", said.String())
	}
	go func() {
		rest, _ := io.ReadAll(out)
		c.logs <- string(rest)
	}()
	return c
}

// kill ends the process as a power cut would end it, as far as one process can be asked to.
func (c *child) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.cmd.Wait()
}

// stop asks the server to end, and checks that it ends well.
func (c *child) stop() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	logs := <-c.logs
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the server ended with %v:\n%s", err, logs)
	}
}

func (c *child) connect() *pgx.Conn {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// exec runs statements, each by itself.
func exec1(t testing.TB, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.Exec(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// table gives a query's rows as text, tab-separated and unsorted.
func table(t testing.TB, conn *pgx.Conn, query string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	results, err := conn.PgConn().Exec(ctx, query).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for _, row := range results[len(results)-1].Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = string(c)
			if c == nil {
				cells[i] = `\N`
			}
		}
		out = append(out, strings.Join(cells, "\t"))
	}
	return out
}

// metric adds up the samples of a metric whose labels contain all the given texts.
func (c *child) metric(name string, labels ...string) float64 {
	c.t.Helper()
	resp, err := http.Get(c.http + "/metrics")
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	sum := 0.0
	lines := bufio.NewScanner(resp.Body)
lines:
	for lines.Scan() {
		head, value, ok := strings.Cut(lines.Text(), " ")
		if !ok || head != name && !strings.HasPrefix(head, name+"{") {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(head, l) {
				continue lines
			}
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			c.t.Fatal(err)
		}
		sum += v
	}
	return sum
}
