package storagetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

// In the environment of a process that answers requests, memberConsensus is the directory of its consensus store, or the URL
// of a PostgreSQL, and memberBlob the directory of its objects, or the URL of an S3.
const (
	memberConsensus = "STORAGETEST_CONSENSUS"
	memberBlob      = "STORAGETEST_BLOB"
)

// numbered is a request or a reply on its way.
type numbered struct {
	N       int
	Request request
	Reply   reply
}

// remote is a member that is a process of its own: this test binary.
type remote struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	// gone is set when the process answers no more.
	gone bool
}

// startRemote starts a process that opens the stores when it is first asked.
func startRemote(t *testing.T, registers, objects string) *remote {
	t.Helper()
	answers, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := &remote{cmd: exec.Command(os.Args[0], "-test.run=TestMemberProcess$"), waiting: map[int]chan reply{}}
	m.cmd.Env = append(os.Environ(), memberConsensus+"="+registers, memberBlob+"="+objects)
	m.cmd.Stderr = os.Stderr
	m.cmd.ExtraFiles = []*os.File{w}
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.listen(answers)
		answers.Close()
	}()
	t.Cleanup(func() {
		m.kill()
		<-ended
	})
	return m
}

// listen hands out answers until the process ends. What was asked and not answered is unknown.
func (m *remote) listen(answers io.Reader) {
	d := json.NewDecoder(answers)
	for {
		var a numbered
		err := d.Decode(&a)
		m.mu.Lock()
		if err != nil {
			m.gone = true
			for _, ch := range m.waiting {
				ch <- reply{Status: unknown}
			}
			m.mu.Unlock()
			return
		}
		m.waiting[a.N] <- a.Reply
		delete(m.waiting, a.N)
		m.mu.Unlock()
	}
}

func (m *remote) do(q request) reply {
	m.mu.Lock()
	if m.gone {
		m.mu.Unlock()
		return reply{Status: failed}
	}
	m.next++
	ch := make(chan reply, 1)
	m.waiting[m.next] = ch
	line, err := json.Marshal(numbered{N: m.next, Request: q})
	if err == nil {
		// If the process has ended, so will its answers.
		m.in.Write(append(line, '\n'))
	}
	m.mu.Unlock()
	r := <-ch
	if r.Status == unknown && q.Op != "append" {
		r.Status = failed
	}
	return r
}

// kill ends the process by SIGKILL.
func (m *remote) kill() {
	m.cmd.Process.Kill()
	m.cmd.Wait()
}

// TestMemberProcess is a process that does what it is asked.
func TestMemberProcess(t *testing.T) {
	registers, objects := os.Getenv(memberConsensus), os.Getenv(memberBlob)
	if registers == "" {
		return
	}
	out := json.NewEncoder(os.NewFile(3, "answers"))
	var m *local
	var mu sync.Mutex
	var wg sync.WaitGroup
	defer wg.Wait()
	for d := json.NewDecoder(os.Stdin); ; {
		var q numbered
		if d.Decode(&q) != nil {
			return
		}
		if m == nil {
			m = openMember(t, registers, objects)
		}
		wg.Go(func() {
			a := numbered{N: q.N, Reply: m.do(q.Request)}
			mu.Lock()
			defer mu.Unlock()
			if err := out.Encode(a); err != nil {
				t.Error(err)
			}
		})
	}
}

func openMember(t *testing.T, registers, objects string) *local {
	quiet, registry := slog.New(slog.DiscardHandler), storagetest.NewRegistry().Metrics()
	o := collection.Options{Settings: smallSettings(t), Registry: registry, Log: quiet,
		Clock: func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }}
	var err error
	if filepath.IsAbs(registers) {
		o.Consensus, err = consensus.OpenPebble(registers, consensus.PebbleOptions{Registry: registry, Log: quiet})
	} else {
		o.Consensus, err = consensus.OpenPostgres(t.Context(), registers, consensus.PostgresOptions{Log: quiet})
	}
	if err != nil {
		t.Fatal(err)
	}
	if filepath.IsAbs(objects) {
		o.Blob, err = blob.OpenDirectory(objects, blob.DirectoryOptions{Registry: registry})
	} else {
		o.Blob, err = blob.OpenS3(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
	set, err := collection.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := openLocal(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestProcessesHandADirectoryOver: one process after the other has a directory, and is killed in the middle of its work.
func TestProcessesHandADirectoryOver(t *testing.T) {
	dir := t.TempDir()
	c := newCrowd(1)
	for life := range 4 {
		m := startRemote(t, filepath.Join(dir, "consensus"), filepath.Join(dir, "blob"))
		process, _, err := c.open(func() (member, error) { return m, nil })
		if err != nil {
			t.Fatal(err)
		}
		if life == 3 {
			c.readAll(process, m)
			break
		}
		var asked atomic.Int64
		c.work(25, func(int) (int, member) {
			if asked.Add(1) == 60 {
				m.kill()
			}
			return process, m
		})
	}
	checkHistory(t, c)
}

func checkHistory(t *testing.T, c *crowd) {
	t.Helper()
	count := map[status]int{}
	for i := range shards {
		for _, o := range c.rec.mu.ops[i] {
			count[o.Output.(reply).Status]++
		}
	}
	t.Log(count)
	if count[done] == 0 {
		t.Error("nothing was done")
	}
	if !c.rec.isLinearizable(t, true) {
		t.Error("what clients were told cannot be")
	}
}

// TestProcessesTakeTheEpochFromEachOther: on one PostgreSQL and one S3, a process takes over while clients still ask the one
// before. From then on that one, which lives and may not know, has no write confirmed: what other systems call a lost lease.
// One is killed.
func TestProcessesTakeTheEpochFromEachOther(t *testing.T) {
	registers, objects := newPostgres(t), newS3(t)
	c := newCrowd(2)
	var last member
	var before int
	for life := range 4 {
		m := startRemote(t, registers, objects)
		opened := make(chan int, 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			process, _, err := c.open(func() (member, error) { return m, nil })
			if err != nil {
				t.Error(err)
			}
			opened <- process
		})
		if last != nil {
			c.work(8, func(int) (int, member) { return before, last })
		}
		wg.Wait()
		process := <-opened
		var asked atomic.Int64
		c.work(6, func(client int) (int, member) {
			if n := asked.Add(1); life == 2 && n == 12 {
				m.kill()
			}
			if client%2 == 0 && last != nil {
				return before, last
			}
			return process, m
		})
		last, before = m, process
	}
	c.readAll(before, last)
	checkHistory(t, c)
}

// newPostgres gives the URL of a schema of its own.
func newPostgres(t *testing.T) string {
	server := pgtest.Start(t)
	admin, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), "DROP SCHEMA IF EXISTS processes CASCADE; CREATE SCHEMA processes"); err != nil {
		t.Fatal(err)
	}
	return server.URL + "&search_path=processes"
}

// newS3 gives the URL of a bucket of an S3 of the test's own.
func newS3(t *testing.T) string {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return fmt.Sprintf("s3://bucket?region=us-east-1&endpoint=%s", server.URL)
}
