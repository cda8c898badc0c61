package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributary-db/tributary/testdrive/action"
)

// Suite is a set of files and how to run them.
type Suite struct {
	// Paths are files and folders; "-" is Stdin.
	Paths []string
	Stdin io.Reader
	// URL is the server to use; empty if Serve is set.
	URL string
	// HTTPAddr is host:port of that server's HTTP side; empty if it has none.
	HTTPAddr string
	// Serve makes the runner start a server for each job.
	Serve *Serve
	// NoReset leaves what is in the server where it is.
	NoReset bool
	// Setup is statements that the system user runs before each file, after the reset.
	Setup []string
	// Jobs is how many files run at a time. 0 means 1.
	Jobs int
	// Shuffle runs the files in an order that Seed decides.
	Shuffle bool
	Seed    uint64
	// Of the files, only each ShardCount-th one runs, from number Shard on (from 0). ShardCount 0 means all.
	Shard, ShardCount int
	// MaxErrors ends the run after so many failed files. 0 means never.
	MaxErrors int
	// JUnitReport is a file to write; empty means none.
	JUnitReport string
	// Out gets a line per file, the failures and a summary.
	Out   io.Writer
	Clock action.Clock
}

// Env is what the run of one file is given.
type Env struct {
	// Name is the file's path as it is shown, Text its contents.
	Name, Text string
	Server     *action.Server
	// TempDir is the file's own directory; it is removed afterwards.
	TempDir string
	// Random is the file's own source, made of the suite's seed and the file's name.
	Random *rand.Rand
}

// RunFile runs one file; every error it gives is a failure to show.
type RunFile func(ctx context.Context, env Env) []error

// Outcome is what became of one file.
type Outcome struct {
	Path   string
	Took   time.Duration
	Errors []error
	// Skipped says that the run ended before the file's turn.
	Skipped bool
}

// Summary is what became of all.
type Summary struct {
	Outcomes                []Outcome // in the order of the run
	Passed, Failed, Skipped int
	// Restarts is how often servers that the run started were killed or restarted, by scripts or by an Interrupt.
	Restarts int
}

// OK says that there was something to run and all of it passed.
func (s Summary) OK() bool { return s.Passed > 0 && s.Failed == 0 && s.Skipped == 0 }

// Run runs every file with the extension; the error is for what is no file's fault.
func (s Suite) Run(ctx context.Context, extension string, run RunFile) (Summary, error) {
	files, err := s.files(extension)
	if err != nil {
		return Summary{}, err
	}
	if s.JUnitReport != "" {
		// A report that cannot be written is told before the run, not after it.
		if err := os.WriteFile(s.JUnitReport, nil, 0o644); err != nil {
			return Summary{}, fmt.Errorf("write the JUnit report: %w", err)
		}
	}
	if s.Jobs > 1 && s.Serve == nil && !s.NoReset {
		probe, err := newServer(ctx, s.URL, s.HTTPAddr)
		if err != nil {
			return Summary{}, err
		}
		if !probe.Postgres {
			return Summary{}, errors.New("several jobs would drop each other's objects on this server: use --serve or --no-reset")
		}
	}
	p := &progress{suite: s, begin: s.Clock.Now(), outcomes: make([]Outcome, len(files))}
	for i := range files {
		p.outcomes[i] = Outcome{Path: files[i], Skipped: true}
	}
	next := make(chan int)
	jobs := min(max(s.Jobs, 1), len(files))
	jobErrs := make([]error, jobs)
	// A job that cannot go on must not leave the others' files unread, so the work is handed out under a context
	// that the first such error ends.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for job := range jobs {
		wg.Go(func() {
			if err := s.job(ctx, job, files, next, p, run); err != nil {
				jobErrs[job] = err
				cancel(err)
			}
		})
	}
	handOut(ctx, len(files), next)
	wg.Wait()
	summary := p.summary()
	p.report(summary)
	err = errors.Join(jobErrs...)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if s.JUnitReport != "" {
		err = errors.Join(err, writeJUnit(s.JUnitReport, extension, summary))
	}
	return summary, err
}

// handOut gives out the files' numbers until all are out or the run is over.
func handOut(ctx context.Context, n int, next chan<- int) {
	defer close(next)
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			return
		}
	}
}

// files finds the files, in the order of the run.
func (s Suite) files(extension string) ([]string, error) {
	files, err := findFiles(s.Paths, extension)
	if err != nil {
		return nil, err
	}
	if s.ShardCount > 1 {
		if s.Shard < 0 || s.Shard >= s.ShardCount {
			return nil, fmt.Errorf("shard %d is not one of %d", s.Shard, s.ShardCount)
		}
		var mine []string
		for i := s.Shard; i < len(files); i += s.ShardCount {
			mine = append(mine, files[i])
		}
		files = mine
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no %s files in %s", extension, strings.Join(s.Paths, ", "))
	}
	if s.Shuffle {
		rnd := rand.New(rand.NewPCG(s.Seed, 0))
		rnd.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	}
	return files, nil
}

// job runs files on one server until there are no more.
func (s Suite) job(ctx context.Context, job int, files []string, next <-chan int, p *progress, run RunFile) error {
	host := &host{suite: s, job: job}
	for i := range next {
		if s.MaxErrors > 0 && p.failed() >= s.MaxErrors {
			continue // Files left over are skipped.
		}
		begin := s.Clock.Now()
		errs := s.one(ctx, host, files[i], run)
		if ctx.Err() != nil {
			break
		}
		p.done(i, Outcome{Path: files[i], Took: s.Clock.Now().Sub(begin), Errors: errs})
	}
	// The server is stopped and the database dropped even if the run was cut short.
	err := host.close(context.WithoutCancel(ctx))
	p.restarted(host.restarts)
	return err
}

// one runs one file in a clean state.
func (s Suite) one(ctx context.Context, h *host, path string, run RunFile) (errs []error) {
	text, err := s.read(path)
	if err != nil {
		return []error{err}
	}
	dir, err := os.MkdirTemp("", "testdrive")
	if err != nil {
		return []error{fmt.Errorf("make a temporary directory: %w", err)}
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("remove the temporary directory: %w", err))
		}
	}()
	server, err := h.server(ctx)
	if err != nil {
		return []error{err}
	}
	if !s.NoReset {
		if err := Reset(ctx, server); err != nil {
			h.discard()
			return []error{fmt.Errorf("reset the server: %w", err)}
		}
	}
	if err := s.setup(ctx, server); err != nil {
		return []error{err}
	}
	errs = run(ctx, Env{Name: path, Text: text, Server: server, TempDir: dir, Random: s.random(path)})
	if len(errs) > 0 {
		// It may have been the server: the next file gets a new one, if that is ours to give.
		h.discard()
	}
	return errs
}

func (s Suite) setup(ctx context.Context, server *action.Server) error {
	if len(s.Setup) == 0 {
		return nil
	}
	address, err := server.SystemURL()
	if err != nil {
		return err
	}
	for _, sql := range s.Setup {
		if err := execAt(ctx, address, sql); err != nil {
			return fmt.Errorf("set up: %s: %w", sql, err)
		}
	}
	return nil
}

func (s Suite) read(path string) (string, error) {
	if path == stdin {
		text, err := io.ReadAll(s.Stdin)
		if err != nil {
			return "", fmt.Errorf("read the standard input: %w", err)
		}
		return string(text), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// random gives a file its own source, whatever ran before it and wherever it lies.
func (s Suite) random(path string) *rand.Rand {
	var sum uint64 = 14695981039346656037 // FNV-1a
	for _, c := range []byte(filepath.Base(path)) {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(s.Seed, sum))
}

// progress collects outcomes and shows them as they come.
type progress struct {
	suite    Suite
	begin    time.Time
	mu       sync.Mutex
	outcomes []Outcome
	restarts int
}

func (p *progress) done(i int, o Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes[i] = o
	word := "ok  "
	if len(o.Errors) > 0 {
		word = "FAIL"
	}
	fmt.Fprintf(p.suite.Out, "%s  %s (%.2fs)\n", word, o.Path, o.Took.Seconds())
	for _, err := range o.Errors {
		fmt.Fprintf(p.suite.Out, "%v\n", err)
	}
}

func (p *progress) restarted(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restarts += n
}

func (p *progress) failed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, o := range p.outcomes {
		if len(o.Errors) > 0 {
			n++
		}
	}
	return n
}

func (p *progress) summary() Summary {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Summary{Outcomes: slices.Clone(p.outcomes), Restarts: p.restarts}
	for _, o := range p.outcomes {
		switch {
		case o.Skipped:
			s.Skipped++
		case len(o.Errors) > 0:
			s.Failed++
		default:
			s.Passed++
		}
	}
	return s
}

// report writes the last lines: the failed files once more if there are many lines above, and the counts.
func (p *progress) report(s Summary) {
	if s.Failed > 0 && len(s.Outcomes) > 1 {
		fmt.Fprintf(p.suite.Out, "failed:\n")
		for _, o := range s.Outcomes {
			if len(o.Errors) > 0 {
				fmt.Fprintf(p.suite.Out, "    %s\n", o.Path)
			}
		}
	}
	fmt.Fprintf(p.suite.Out, "%d passed, %d failed", s.Passed, s.Failed)
	if s.Skipped > 0 {
		fmt.Fprintf(p.suite.Out, ", %d skipped", s.Skipped)
	}
	if s.Restarts > 0 {
		fmt.Fprintf(p.suite.Out, "; restarts of the server: %d", s.Restarts)
	}
	fmt.Fprintf(p.suite.Out, "\n")
}
