package action

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/tributary-db/tributary/testdrive/script"
)

// Clock is where time comes from.
type Clock struct {
	Now func() time.Time
	// Sleep waits, or returns the context's error. Nil means a real timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Options are what the run of one script is given.
type Options struct {
	Server *Server
	// Vars are the predefined variables, such as testdrive.seed and arg.x.
	Vars map[string]string
	// Env looks environment variables up, for ${env.X}.
	Env   func(name string) (string, bool)
	Clock Clock
	// Random decides how long random-sleep sleeps.
	Random *rand.Rand
	// TempDir is the script's own directory.
	TempDir string
	// Timeout is the time of one block. 0 means 30 s.
	Timeout time.Duration
	// MaxTries bounds the tries of one block. 0 means that only time bounds them.
	MaxTries int
	// InitialBackoff is the wait before the second try, 0 means 50 ms; BackoffFactor is by how much each
	// further wait is longer, 0 means 1.5.
	InitialBackoff time.Duration
	BackoffFactor  float64
	// Rewrite makes rows and texts that differ an edit of the script instead of a failure.
	Rewrite bool
}

// Defaults of Options.
const (
	DefaultTimeout        = 30 * time.Second
	DefaultInitialBackoff = 50 * time.Millisecond
	DefaultBackoffFactor  = 1.5
)

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.InitialBackoff == 0 {
		o.InitialBackoff = DefaultInitialBackoff
	}
	if o.BackoffFactor == 0 {
		o.BackoffFactor = DefaultBackoffFactor
	}
	if o.Clock.Sleep == nil {
		o.Clock.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Machine runs the blocks of one script, one after the other.
type Machine struct {
	o      Options
	file   *script.File
	vars   map[string]string
	main   *Session
	others map[string]*Session // by name: those of postgres-connect, and the two built-in ones

	regex       *regexp.Regexp
	replacement string
	timeout     time.Duration
	maxTries    int
	skipping    bool
	counting    bool   // a variable holds a metric, which a restart of the server would set back
	version     *int64 // of the server, once asked for

	edits      []script.Edit
	background background
}

// New makes a machine for a script.
func New(file *script.File, o Options) (*Machine, error) {
	o = o.withDefaults()
	main, err := NewSession(o.Server.URL)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		o: o, file: file, vars: map[string]string{}, main: main, others: map[string]*Session{},
		timeout: o.Timeout, maxTries: o.MaxTries,
	}
	for name, value := range o.Vars {
		m.vars[name] = value
	}
	return m, nil
}

// Failure is a block that did not hold.
type Failure struct {
	File   string
	Line   int
	Title  string // what did not hold, in one line
	Source string // the command as written
	Detail string // expected against actual, or the error
	Tries  int
	Took   time.Duration
}

// Error is the whole message.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s (%s in %v)\n", f.File, f.Line, f.Title, count(f.Tries, "try", "tries"),
		f.Took.Round(time.Millisecond))
	writeIndented(&b, f.Source)
	writeIndented(&b, f.Detail)
	return strings.TrimRight(b.String(), "\n")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// indentation of what belongs to a message's first line.
const indentation = "    "

func writeIndented(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(strings.TrimRight(indentation+line, " ") + "\n")
	}
}

// Run runs one block. Its error is a *Failure, unless ctx has ended.
func (m *Machine) Run(ctx context.Context, b script.Block) error {
	begin := m.o.Clock.Now()
	tries := 1
	err := m.run(ctx, b, &tries)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var p *problem
	if !errors.As(err, &p) {
		p = &problem{title: "action failed", detail: describeError(err)}
	}
	return &Failure{
		File: m.file.Name, Line: b.Line, Source: b.Source, Title: p.title, Detail: p.detail,
		Tries: tries, Took: m.o.Clock.Now().Sub(begin),
	}
}

func (m *Machine) run(ctx context.Context, b script.Block, tries *int) error {
	if action, ok := b.Command.(*script.Action); ok {
		return m.runAction(ctx, b, action, tries)
	}
	if m.skipping {
		return nil
	}
	open, err := m.gateOpen(ctx, b.Gate)
	if err != nil || !open {
		return err
	}
	switch c := b.Command.(type) {
	case *script.Query:
		return m.runQuery(ctx, b, c, tries)
	case *script.Failure:
		return m.runFailure(ctx, c, tries)
	case *script.Text:
		return m.runText(ctx, b, c, tries)
	default:
		panic(fmt.Sprintf("action: unknown command %T", c))
	}
}

// problem is what a Failure is made of.
type problem struct{ title, detail string }

func (p *problem) Error() string { return p.title + ": " + p.detail }

// gateOpen asks the server for its version, if the block wants to know.
func (m *Machine) gateOpen(ctx context.Context, gate script.Gate) (bool, error) {
	if !gate.Set {
		return true, nil
	}
	if m.version == nil {
		res, err := m.main.query(ctx, "SELECT mz_version_num()")
		if err != nil {
			return false, &problem{"version gate needs mz_version_num()", describeError(err)}
		}
		var n int64
		if len(res.rows) != 1 || len(res.rows[0]) != 1 {
			return false, &problem{"version gate needs mz_version_num()", "it did not give one number"}
		}
		if _, err := fmt.Sscan(res.rows[0][0], &n); err != nil {
			return false, &problem{"version gate needs mz_version_num()", "it gave " + res.rows[0][0]}
		}
		m.version = &n
	}
	return gate.Open(*m.version), nil
}

// Edits are the changes of a rewriting run, in the order of the file.
func (m *Machine) Edits() []script.Edit { return m.edits }

// Idle says that no session has an open transaction or anything else that a restart of the server would lose.
func (m *Machine) Idle() bool {
	if m.counting || m.background.running() || !m.main.Idle() {
		return false
	}
	for _, s := range m.others {
		if !s.Idle() {
			return false
		}
	}
	return true
}

// Restart ends the server, by a kill or in good order, and starts it again; all sessions are new after it.
func (m *Machine) Restart(ctx context.Context, kill bool) error {
	if m.o.Server.Process == nil {
		return errors.New("the server was not started by testdrive: use --serve")
	}
	call := m.o.Server.Process.Restart
	if kill {
		call = m.o.Server.Process.Kill
	}
	err := call(ctx)
	m.main.Abandon(ctx)
	for _, s := range m.others {
		s.Abandon(ctx)
	}
	return err
}

// Finish waits for what runs in the background, closes the sessions and tells what went wrong there.
func (m *Machine) Finish(ctx context.Context) error {
	errs := []error{m.background.join(m.timeout), m.main.Close(ctx)}
	for _, s := range m.others {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(errs...)
}

// attempt is one try of a block: nil if it held, and whether another try could do better.
type attempt func(ctx context.Context) (again bool, err error)

// retry tries until the attempt holds, says that it cannot, or time or tries are over. Each try may take as long as
// the block as a whole.
func (m *Machine) retry(ctx context.Context, tries *int, try attempt) error {
	begin := m.o.Clock.Now()
	wait := m.o.InitialBackoff
	for *tries = 1; ; *tries++ {
		tryCtx, cancel := context.WithTimeout(ctx, m.timeout)
		again, err := try(tryCtx)
		cancel()
		left := m.timeout - m.o.Clock.Now().Sub(begin)
		if err == nil || !again || left <= 0 || *tries == m.maxTries || m.o.Rewrite {
			return err
		}
		if err := m.o.Clock.Sleep(ctx, min(wait, left)); err != nil {
			return err
		}
		wait = time.Duration(float64(wait) * m.o.BackoffFactor)
	}
}

// mask applies the active regular expression.
func (m *Machine) mask(text string) string {
	if m.regex == nil {
		return text
	}
	return m.regex.ReplaceAllString(text, m.replacement)
}
