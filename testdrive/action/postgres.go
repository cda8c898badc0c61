package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

func isURL(s string) bool { return strings.Contains(s, "://") }

// postgresConnect is $ postgres-connect name=… url=…: a further session under a name.
func postgresConnect(m *Machine, ctx context.Context, c *call) error {
	name := c.get("name")
	if isURL(name) {
		return &problem{"malformed argument", "the name of a connection may not be a URL"}
	}
	if _, taken := m.others[name]; taken {
		return &problem{"malformed argument", fmt.Sprintf("there is a connection %s already", name)}
	}
	s, err := NewSession(c.get("url"))
	if err != nil {
		return err
	}
	if _, err := s.Conn(ctx); err != nil {
		return err
	}
	m.others[name] = s
	return nil
}

// session finds the session that an action names: a connected one, one of the two built-in ones, or none for "".
func (m *Machine) session(name string) (*Session, error) {
	if name == "" {
		return m.main, nil
	}
	if s, ok := m.others[name]; ok {
		return s, nil
	}
	url := m.o.Server.URL
	switch name {
	case "materialize":
	case SystemUser:
		var err error
		if url, err = m.o.Server.SystemURL(); err != nil {
			return nil, err
		}
	default:
		return nil, &problem{"unknown connection", fmt.Sprintf("there is no connection %s: use $ postgres-connect first", name)}
	}
	s, err := NewSession(url)
	if err != nil {
		return nil, err
	}
	m.others[name] = s
	return s, nil
}

// postgresExecute is $ postgres-execute connection=…: each line below is sent by itself, in order, through the simple
// protocol. What it gives is dropped; an error fails the script.
func postgresExecute(m *Machine, ctx context.Context, c *call) error {
	inBackground, err := c.bool("background")
	if err != nil {
		return err
	}
	target := c.get("connection")
	if !isURL(target) {
		if inBackground {
			return &problem{"malformed argument", "background needs a URL as connection"}
		}
		s, err := m.session(target)
		if err != nil {
			return err
		}
		return m.executeLines(ctx, s, c.body)
	}
	s, err := NewSession(target)
	if err != nil {
		return err
	}
	if inBackground {
		m.background.start(ctx, func(ctx context.Context) error {
			return closing(ctx, s, executeEach(ctx, s, c.body))
		})
		return nil
	}
	return closing(ctx, s, m.executeLines(ctx, s, c.body))
}

func (m *Machine) executeLines(ctx context.Context, s *Session, lines []string) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	return executeEach(ctx, s, lines)
}

func executeEach(ctx context.Context, s *Session, lines []string) error {
	for _, line := range lines {
		if err := s.Exec(ctx, line); err != nil {
			return &problem{"statement failed", line + "\n" + describe(ctx, err)}
		}
	}
	return nil
}

func closing(ctx context.Context, s *Session, err error) error {
	closeErr := s.Close(ctx)
	if err == nil && closeErr != nil {
		return fmt.Errorf("close the connection: %w", closeErr)
	}
	return err
}

// background is the statements that run beside the script, until its end.
type background struct {
	wg sync.WaitGroup
	mu struct {
		sync.Mutex
		running int
		cancels []context.CancelFunc
		errs    []error
	}
}

// start runs work beside the script; Finish waits for it and tells its error.
func (b *background) start(ctx context.Context, work func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	b.mu.running++
	b.mu.cancels = append(b.mu.cancels, cancel)
	b.mu.Unlock()
	b.wg.Go(func() {
		defer cancel()
		err := work(ctx)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.mu.running--
		if err != nil {
			b.mu.errs = append(b.mu.errs, fmt.Errorf("in the background: %w", err))
		}
	})
}

// join waits for all work, but no longer than patience: then it is cancelled. It tells what went wrong.
func (b *background) join(patience time.Duration) error {
	timer := time.AfterFunc(patience, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, cancel := range b.mu.cancels {
			cancel()
		}
	})
	defer timer.Stop()
	b.wg.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.mu.errs...)
}

func (b *background) running() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.running > 0
}
