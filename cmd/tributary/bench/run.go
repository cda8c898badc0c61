package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options say what to measure.
type Options struct {
	// Start starts a server.
	Start func(ctx context.Context, o ServerOptions) (*Server, error)
	// Full takes more and longer runs, and more data.
	Full bool
	// Runs is how often each way is measured; 0 leaves it to Full and Quick.
	Runs int
	// Tables names the tables to measure; empty means all.
	Tables []string
	// Dir is where servers have their directories, which go again.
	Dir string
	// State is a file that keeps each cell as soon as it is measured; cells that it has already of the same scale, measured by the
	// same build, are not measured again. Empty means none.
	State string
	// JSON is a file for the results, Plots a directory for drawings; empty means none.
	JSON, Plots string
	// Out takes the tables, Progress a line for each cell.
	Out, Progress io.Writer
	// Quick measures so little that it shows only whether everything works.
	Quick bool
}

// TableNames lists the tables.
func TableNames() []string {
	var out []string
	for _, t := range tables {
		out = append(out, t.name)
	}
	return out
}

// Cell is what was measured of one way in one run.
type Cell struct {
	Table string `json:"table"`
	Way   string `json:"way"`
	Run   int    `json:"run"`
	Scale string `json:"scale"`
	// Build is that of the program: cells of others are not told together with it.
	Build  string `json:"build"`
	Values values `json:"values"`
	// Others is what share of the processors others used meanwhile; below 0 it is unknown.
	Others float64 `json:"others"`
}

// bench is a run of it.
type bench struct {
	o      Options
	runs   int
	warmUp time.Duration // before anything is counted
	window time.Duration
	size   int // bytes of rows to build a view of
	bulk   int // rows inserted at once
	build  string
	cells  []Cell
	state  *os.File
	// kept is a directory that several cells use, by what for; there is one at a time.
	kept, keptFor string
}

// scale names how much is measured: only cells of the same can be told together.
func (b *bench) scale() string { return fmt.Sprintf("%d x %v, %d MB", b.runs, b.window, b.size>>20) }

// cellTries is how often a cell is measured, if others use the machine meanwhile.
const cellTries = 3

// maxRuns bounds how often each way is measured.
const maxRuns = 1000

// Run measures, and writes the tables.
func Run(ctx context.Context, o Options) (err error) {
	b := &bench{o: o, runs: 3, warmUp: 2 * time.Second, window: 20 * time.Second, size: 512 << 20, bulk: 5_000_000}
	switch {
	case o.Quick:
		b.runs, b.warmUp, b.window, b.size, b.bulk = 1, 100*time.Millisecond, 500*time.Millisecond, 4<<20, 100_000
	case o.Full:
		b.runs, b.window, b.size = 5, time.Minute, 2<<30
	}
	if o.Runs < 0 || o.Runs > maxRuns {
		return fmt.Errorf("%d runs: from 1 to %d are possible", o.Runs, maxRuns)
	}
	b.runs = cmp.Or(o.Runs, b.runs)
	chosen, err := choose(o.Tables)
	if err != nil {
		return err
	}
	if err := o.makePlaces(); err != nil {
		return err
	}
	if b.build, err = buildID(); err != nil {
		return err
	}
	if err := b.resume(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	before := describeHost()
	for _, t := range chosen {
		for run := range b.runs {
			for _, w := range inTurn(t.ways, run) {
				if err := b.measure(ctx, t, w, run); err != nil {
					if ctx.Err() != nil && o.State != "" {
						err = fmt.Errorf("interrupted; the same command goes on: %w", err)
					}
					return err
				}
			}
		}
	}
	r := b.report(chosen, before)
	if err := r.text(o.Out); err != nil {
		return err
	}
	if o.JSON != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.JSON, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.Plots != "" {
		return r.plot(o.Plots)
	}
	return nil
}

// makePlaces makes the directories, and the file for the results, so that it is not after all has been measured that they turn out
// to be impossible.
func (o *Options) makePlaces() error {
	for _, dir := range []string{o.Dir, o.Plots} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if o.JSON == "" {
		return nil
	}
	f, err := os.OpenFile(o.JSON, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// inTurn gives the ways in the order of a run. Two runs go forth and back, the next two begin with the next way: none is always
// measured after the same one.
func inTurn(ways []way, run int) []way {
	n := run / 2 % len(ways)
	out := slices.Concat(ways[n:], ways[:n])
	if run%2 == 1 {
		slices.Reverse(out)
	}
	return out
}

func choose(names []string) ([]table, error) {
	if len(names) == 0 {
		return tables, nil
	}
	var out []table
	for _, t := range tables {
		if slices.Contains(names, t.name) {
			out = append(out, t)
		}
	}
	for _, n := range names {
		if !slices.Contains(TableNames(), n) {
			return nil, fmt.Errorf("there is no table %q; there are %s", n, strings.Join(TableNames(), ", "))
		}
	}
	return out, nil
}

// resume reads the cells of the state file, and opens it for more.
func (b *bench) resume() error {
	if b.o.State == "" {
		return nil
	}
	data, err := os.ReadFile(b.o.State)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // a run that was killed may have left half a line
	others := 0
	lines := bufio.NewScanner(bytes.NewReader(whole))
	for n := 1; lines.Scan(); n++ {
		var c Cell
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("%s:%d: %w", b.o.State, n, err)
		}
		if c.Scale == b.scale() && c.Build == b.build {
			b.cells = append(b.cells, c)
		} else {
			others++
		}
	}
	if others > 0 {
		fmt.Fprintf(b.o.Progress, "%s has %d cells of another scale or program, which do not count here\n", b.o.State, others)
	}
	if b.state, err = os.OpenFile(b.o.State, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	if err := b.state.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = b.state.Seek(0, io.SeekEnd)
	return err
}

func (b *bench) close() error {
	err := b.forget()
	if b.state != nil {
		err = errors.Join(err, b.state.Close())
	}
	return err
}

// shared gives a directory that was made for something, and keeps it until another one is asked for.
func (b *bench) shared(what string, create func() (string, error)) (string, error) {
	if b.keptFor == what {
		return b.kept, nil
	}
	if err := b.forget(); err != nil {
		return "", err
	}
	dir, err := create()
	b.kept = dir
	if err == nil {
		b.keptFor = what
	}
	return dir, err
}

func (b *bench) forget() error {
	dir := b.kept
	b.kept, b.keptFor = "", ""
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// measure measures a cell, unless it is there already.
func (b *bench) measure(ctx context.Context, t table, w way, run int) error {
	if slices.ContainsFunc(b.cells, func(c Cell) bool { return c.Table == t.name && c.Way == w.name && c.Run == run }) {
		return nil
	}
	c := Cell{Table: t.name, Way: w.name, Run: run, Scale: b.scale(), Build: b.build}
	for try := 1; ; try++ {
		before := lookAtHost()
		v, err := t.measure(ctx, b, w, run)
		if err != nil {
			return fmt.Errorf("table %s, %s: %w", t.name, w.name, err)
		}
		_, others := lookAtHost().since(before)
		if try == 1 || others < c.Others {
			c.Values, c.Others = v, others
		}
		fmt.Fprintf(b.o.Progress, "%s, %s, run %d: %s %.4g; others used %.0f%%\n", t.name, w.name, run+1, t.plots, v[t.plots], 100*others)
		if c.Others <= foreignLimit || try == cellTries || b.o.Quick {
			break
		}
	}
	b.cells = append(b.cells, c)
	if b.state == nil {
		return nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = b.state.Write(append(line, '\n'))
	return err
}

// DefaultDir is where servers have their directories if nothing else is said.
func DefaultDir() string { return filepath.Clean(os.TempDir()) }

// buildID tells this program from others: a hash of its file.
func buildID() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}
