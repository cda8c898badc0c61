package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tributary-db/tributary/testdrive/action"
)

// Serve says how to start a server of our own.
type Serve struct {
	// Binary is the program; it is called with "serve", addresses, a data directory and Args.
	Binary string
	Args   []string
	// StartWithin and EndWithin bound how long it may take to answer, and to end when asked to; 0 means 30 s.
	StartWithin, EndWithin time.Duration
}

// Child is a server that we started: a process that may be killed and started again on the same data.
type Child struct {
	serve    Serve
	dir      string // data and log
	sqlAddr  string
	httpAddr string
	server   *action.Server
	running  *process
	restarts int // how often it was ended and started again
}

// process is one life of a child.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended, with err set
	err   error
}

const (
	defaultPatience = 30 * time.Second
	startPoll       = 5 * time.Millisecond
	shownLogBytes   = 4000
)

const loopback = "127.0.0.1"

// StartChild starts a server on an empty directory and waits until it answers.
func StartChild(ctx context.Context, serve Serve) (*Child, error) {
	dir, err := os.MkdirTemp("", "testdrive-server")
	if err != nil {
		return nil, fmt.Errorf("make the server's directory: %w", err)
	}
	serve.StartWithin = cmp.Or(serve.StartWithin, defaultPatience)
	serve.EndWithin = cmp.Or(serve.EndWithin, defaultPatience)
	c := &Child{serve: serve, dir: dir}
	for _, addr := range []*string{&c.sqlAddr, &c.httpAddr} {
		if *addr, err = freeAddr(ctx); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	err = c.start(ctx)
	if err == nil {
		c.server, err = newServer(ctx, c.url(), c.httpAddr)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.server.Process = c
	return c, nil
}

// Server is how scripts reach the child.
func (c *Child) Server() *action.Server { return c.server }

func (c *Child) url() string {
	return "postgres://materialize@" + c.sqlAddr + "/" + firstDatabase + "?sslmode=disable"
}

// Ports of children lie below those that systems hand out to who asks for any (Linux: from 32768 on). A child listens some
// time after its port was found free, and again after a restart; if somebody else had got the port meanwhile, scripts would
// talk to somebody else's server.
const (
	firstPort = 20_000
	allPorts  = 12_000
)

// nextPort gives another port each time, for all children of this process.
var nextPort = func() func() int {
	begin, taken := rand.Uint32N(allPorts), &atomic.Uint32{}
	return func() int { return int(firstPort + (begin+taken.Add(1))%allPorts) }
}()

// freeAddr gives an address that nobody listens on.
func freeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	var last error
	for range allPorts {
		addr := net.JoinHostPort(loopback, strconv.Itoa(nextPort()))
		l, err := lc.Listen(ctx, "tcp", addr)
		if err == nil {
			return addr, l.Close()
		}
		last = err
		if ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("find a free port: %w", last)
}

func (c *Child) logPath() string { return filepath.Join(c.dir, "server.log") }

// start begins a life and waits until it answers.
func (c *Child) start(ctx context.Context) error {
	log, err := os.OpenFile(c.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	args := append([]string{
		"serve", "--data-dir", filepath.Join(c.dir, "data"), "--sql-listen", c.sqlAddr, "--http-listen", c.httpAddr,
	}, c.serve.Args...)
	cmd := exec.Command(c.serve.Binary, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ties the child's life to the thread that made it, so that thread must not go before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.ended)
		}
	}()
	err = <-started
	if err := errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	c.running = p
	return c.waitReady(ctx, p)
}

// waitReady connects until that succeeds.
func (c *Child) waitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, c.serve.StartWithin)
	defer cancel()
	poll := time.NewTicker(startPoll)
	defer poll.Stop()
	var last error // of an attempt that was not cut short
	for {
		s, err := action.NewSession(c.url())
		if err != nil {
			return err
		}
		if _, err = s.Conn(ctx); err == nil {
			return s.Close(ctx)
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-p.ended:
			c.running = nil
			return fmt.Errorf("the server ended while starting: %w\n%s", p.err, c.logTail())
		case <-ctx.Done():
			return fmt.Errorf("the server did not answer in %v: %w\n%s", c.serve.StartWithin, last, c.logTail())
		case <-poll.C:
		}
	}
}

// logTail is the end of the log, for messages.
func (c *Child) logTail() string {
	text, err := os.ReadFile(c.logPath())
	if err != nil {
		return err.Error()
	}
	if len(text) > shownLogBytes {
		text = text[len(text)-shownLogBytes:]
	}
	return string(bytes.TrimSpace(text))
}

// Kill is action.Process.
func (c *Child) Kill(ctx context.Context) error {
	return c.again(ctx, syscall.SIGKILL)
}

// Restart is action.Process.
func (c *Child) Restart(ctx context.Context) error {
	return c.again(ctx, syscall.SIGTERM)
}

// again ends the running life and begins the next.
func (c *Child) again(ctx context.Context, signal syscall.Signal) error {
	if err := c.stop(signal); err != nil {
		return err
	}
	c.restarts++
	return c.start(ctx)
}

// stop ends the running life, if there is one, and waits for its end. It is an error if the life had ended by
// itself, or if it was asked to end and did so with a status.
func (c *Child) stop(signal syscall.Signal) error {
	p := c.running
	if p == nil {
		return nil
	}
	c.running = nil
	select {
	case <-p.ended:
		return c.badEnd(p)
	default:
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal the server: %w", err)
	}
	timer := time.NewTimer(c.serve.EndWithin)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		err := p.cmd.Process.Kill()
		<-p.ended
		return errors.Join(fmt.Errorf("the server did not end in %v after %v\n%s", c.serve.EndWithin, signal, c.logTail()), err)
	}
	if signal != syscall.SIGKILL && p.err != nil {
		return c.badEnd(p)
	}
	return nil
}

func (c *Child) badEnd(p *process) error {
	if p.err == nil {
		return fmt.Errorf("the server ended by itself\n%s", c.logTail())
	}
	return fmt.Errorf("the server did not end cleanly: %w\n%s", p.err, c.logTail())
}

// Close ends the child and removes its directory.
func (c *Child) Close() error {
	return errors.Join(c.stop(syscall.SIGTERM), os.RemoveAll(c.dir))
}
