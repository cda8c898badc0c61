package bench

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tributary-db/tributary/compute/sink"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
)

// steady is a table that batches of rows are inserted into at a steady rate, with views over it.
type steady struct {
	workers int
	// groups stand for processes in the baselines.
	groups   int
	replicas int
	views    int
	rows     int // of a batch; 0 inserts nothing
	every    time.Duration
	// noCompaction switches it off.
	noCompaction bool
	// tail is how many batches follow the window, each as soon as the one before has arrived. They count for what is
	// taken with compaction, which comes to small appends only now and then.
	tail int
	// skew gives nine rows of ten to one worker.
	skew bool
	// slow has the objects in a slow store that sometimes fails.
	slow bool
}

// measure inserts for a window, and gives what it took.
func (st steady) measure(ctx context.Context, b *bench, w way, run int) (values, error) {
	c := cellServer{groups: st.groups}
	if st.slow {
		c.blob = func(s blob.Store) blob.Store { return newSlowStore(s, uint64(run)) }
	}
	return b.withServer(ctx, w, c, func(s *sut) (values, error) {
		if err := s.exec(ctx, st.setUp()...); err != nil {
			return nil, err
		}
		if st.rows == 0 {
			return st.idle(ctx, b, s)
		}
		return st.insert(ctx, b, s)
	})
}

func (st steady) setUp() []string {
	out := []string{
		fmt.Sprintf("CREATE CLUSTER c (SIZE = 'scale=1,workers=%d', REPLICATION FACTOR %d)", st.workers, max(st.replicas, 1)),
		"SET cluster = c",
		"CREATE TABLE t (k int8 NOT NULL, v text NOT NULL)",
		"CREATE MATERIALIZED VIEW v AS SELECT k, v FROM t",
	}
	if st.noCompaction {
		out = append(out, "ALTER SYSTEM SET storage_compaction_enabled = off")
	}
	for i := 1; i < st.views; i++ {
		out = append(out, fmt.Sprintf("CREATE MATERIALIZED VIEW v%d AS SELECT k, v FROM t WHERE k >= 0", i))
	}
	return append(out, "SELECT count(*) FROM v")
}

// view is v's name in metrics.
const view = "materialize.public.v"

// series are the batches of a cell, in their order: some before the window, those of the window, and the tail.
type series struct {
	texts      []string
	first, end int // of the window
	// When a batch up to the end of the window was sent, committed, and had arrived.
	sent, committed, arrived []time.Time
	// all is closed when these have arrived; more has an element for each of the tail that has.
	all, more chan struct{}
}

func (st steady) series(b *bench) *series {
	tail := st.tail
	if b.o.Quick {
		tail = min(tail, 1)
	}
	first := int(b.warmUp / st.every)
	end := first + max(1, int(b.window/st.every))
	return &series{texts: st.batches(end + tail), first: first, end: end, all: make(chan struct{}), more: make(chan struct{}, tail),
		sent: make([]time.Time, end), committed: make([]time.Time, end), arrived: make([]time.Time, end)}
}

// insert inserts a series into a table with views.
func (st steady) insert(ctx context.Context, b *bench, s *sut) (values, error) {
	in := st.series(b)
	left := in.end
	sub, err := s.subscribe(ctx, "v", st.rows, func(a arrival) {
		if a.batch >= in.end {
			in.more <- struct{}{}
			return
		}
		in.arrived[a.batch] = a.at
		if left--; left == 0 {
			close(in.all)
		}
	})
	if err != nil {
		return nil, err
	}
	before, after, err := st.window(ctx, s, sub, in)
	if err != nil {
		return nil, err
	}
	for _, sql := range in.texts[in.end:] {
		if err := s.exec(ctx, sql); err != nil {
			return nil, err
		}
		if err := sub.wait(ctx, in.more); err != nil {
			return nil, err
		}
	}
	rows := len(in.texts) * st.rows
	last, err := s.countsOf(ctx, float64(rows))
	if err != nil {
		return nil, err
	}
	if err := sub.stop(ctx); err != nil {
		return nil, err
	}
	if n, err := s.count(ctx, "SELECT count(*) FROM v"); err != nil || n != int64(rows) {
		return nil, errors.Join(err, fmt.Errorf("the view has %d rows of %d", n, rows))
	}
	v := st.perAppend(before, after, in.end-in.first)
	// Of all there was, as an object may be put before the window and appended in it.
	v["wasted"] = st.perAppend(counts{}, after, in.end)["wasted"]
	compacted := st.perAppend(before, last, len(in.texts)-in.first)
	for _, key := range []string{"all_bytes", "all_puts"} {
		v[key] = compacted[key]
	}
	in.latencies(v)
	return v, nil
}

// window inserts at the steady rate, and gives the counts at the beginning and the end of the window.
func (st steady) window(ctx context.Context, s *sut, sub *subscriber, in *series) (before, after counts, err error) {
	began := time.Now().Add(50 * time.Millisecond)
	for i, sql := range in.texts[:in.end] {
		if i == in.first {
			if before, err = s.counts(); err != nil {
				return before, after, err
			}
		}
		if err := sleepUntil(ctx, began.Add(time.Duration(i)*st.every)); err != nil {
			return before, after, err
		}
		in.sent[i] = time.Now()
		if err := s.exec(ctx, sql); err != nil {
			return before, after, err
		}
		in.committed[i] = time.Now()
	}
	if err := sub.wait(ctx, in.all); err != nil {
		return before, after, err
	}
	after, err = s.countsOf(ctx, float64(in.end*st.rows))
	return before, after, err
}

// latencies adds how long it took from an insert's sending to its arrival, in all and by what it was spent on.
func (in *series) latencies(v values) {
	var total, commit []time.Duration
	for i := in.first; i < in.end; i++ {
		total, commit = append(total, in.arrived[i].Sub(in.sent[i])), append(commit, in.committed[i].Sub(in.sent[i]))
	}
	slices.Sort(total)
	v["p50"], v["p95"], v["p99"] = at(total, 50), at(total, 95), at(total, 99)
	v["mean"], v["commit"], v["rest"] = mean(total), mean(commit), mean(total)-mean(commit)
	for _, phase := range phases {
		v["rest"] -= v[phase]
	}
}

// countsOf gives the counts when the view's rows are counted, which may be a moment after they have arrived.
func (s *sut) countsOf(ctx context.Context, rows float64) (counts, error) {
	for deadline := time.Now().Add(lateLimit); ; {
		c, err := s.counts()
		if err != nil || c.sum("tributary_sink_rows_total", "view", view) >= rows {
			return c, err
		}
		if time.Now().After(deadline) {
			return c, fmt.Errorf("%.0f rows of the view were not counted within %v", rows, lateLimit)
		}
		if err := sleepUntil(ctx, time.Now().Add(time.Millisecond)); err != nil {
			return c, err
		}
	}
}

// lateLimit is how long after an insert its rows must have arrived.
const lateLimit = time.Minute

// wait waits until something is told that the subscription tells.
func (s *subscriber) wait(ctx context.Context, told <-chan struct{}) error {
	select {
	case <-told:
		return nil
	case err := <-s.ended:
		return fmt.Errorf("the subscription ended: %w", err)
	case <-time.After(lateLimit):
		return fmt.Errorf("not all rows arrived within %v of the last insert", lateLimit)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// phases are those of a sink's appends, in their order.
var phases = []string{"dataflow", "wait", "encode", "put", "append"}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// at gives a percentile of what is sorted, in milliseconds.
func at(sorted []time.Duration, percent int) float64 {
	return float64(sorted[min(len(sorted)-1, len(sorted)*percent/100)].Microseconds()) / 1000
}

// mean is in milliseconds.
func mean(ds []time.Duration) float64 {
	sum := time.Duration(0)
	for _, d := range ds {
		sum += d
	}
	return float64(sum.Microseconds()) / 1000 / float64(len(ds))
}

// perAppend gives what appends to the view took between two moments.
func (st steady) perAppend(before, after counts, inserts int) values {
	diff := func(name string, labels ...string) float64 {
		return after.sum(name, labels...) - before.sum(name, labels...)
	}
	// Of many views, all count.
	sink := func(name string, labels ...string) float64 {
		if st.views <= 1 {
			labels = append(labels, "view", view)
		}
		return diff("tributary_sink_"+name, labels...)
	}
	appends := max(1, sink("appends_total", "empty", "false"))
	stored := func(name string, labels ...string) float64 {
		name = "tributary_storage_" + name
		if st.views <= 1 {
			return diff(name, append(labels, "collection", view)...)
		}
		return diff(name, labels...) - diff(name, append(labels, "collection", "materialize.public.t")...)
	}
	objects := stored("objects_put_total", "origin", "append")
	appended := sink("parts_total", "kind", "object")
	v := values{
		"appends":      appends,
		"empty":        sink("appends_total", "empty", "true"),
		"refused":      sink("refused_total"),
		"object_parts": appended / appends,
		"inline_parts": sink("parts_total", "kind", "inline") / appends,
		"puts":         objects / appends,
		"all_puts":     (objects + stored("objects_put_total", "origin", "compaction")) / appends,
		"wasted":       objects - appended,
		"bytes":        stored("consensus_bytes_total", "origin", "append") / appends,
		"all_bytes":    stored("consensus_bytes_total") / appends,
		// An insert is a command and a commit of its own; what is left is the views'.
		"commands":     (diff("tributary_storage_consensus_commands_total") - float64(inserts)) / float64(inserts),
		"commits":      (diff("tributary_storage_consensus_commits_total") - float64(inserts)) / float64(inserts),
		"view_commits": diff("tributary_storage_consensus_view_commits_total") / float64(inserts),
		"fsyncs":       diff("tributary_storage_fsyncs_total") / float64(inserts),
	}
	for _, phase := range phases {
		v[phase] = 1000 * sink("phase_seconds", "phase", phase) / appends
	}
	return v
}

// idle is the window of a table that nobody writes to.
func (st steady) idle(ctx context.Context, b *bench, s *sut) (values, error) {
	if err := s.exec(ctx, "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 1000) g"); err != nil {
		return nil, err
	}
	for i := range st.views {
		name := "v"
		if i > 0 {
			name = fmt.Sprintf("v%d", i)
		}
		if n, err := s.count(ctx, "SELECT count(*) FROM "+name); err != nil || n != 1000 {
			return nil, errors.Join(err, fmt.Errorf("%s has %d rows of 1000", name, n))
		}
	}
	if err := sleepUntil(ctx, time.Now().Add(b.warmUp)); err != nil {
		return nil, err
	}
	before, err := s.counts()
	if err != nil {
		return nil, err
	}
	window := b.window
	if !b.o.Quick {
		window = max(window, time.Minute)
	}
	first, worked := goroutinesStarted(), lookAtHost()
	if err := sleepUntil(ctx, time.Now().Add(window)); err != nil {
		return nil, err
	}
	last, then := goroutinesStarted(), lookAtHost()
	after, err := s.counts()
	if err != nil {
		return nil, err
	}
	diff := func(name string) float64 { return after.sum(name) - before.sum(name) }
	return values{
		"appends":    diff("tributary_sink_appends_total"),
		"commands":   diff("tributary_storage_consensus_commands_total"),
		"fsyncs":     diff("tributary_storage_fsyncs_total"),
		"goroutines": last - first,
		"cpu":        1000 * (then.own - worked.own),
	}, nil
}

// batches are the statements that insert n batches of rows.
func (st steady) batches(n int) []string {
	deal := dealer(st.workers)
	out := make([]string, n)
	for i := range out {
		var sql strings.Builder
		sql.WriteString("INSERT INTO t VALUES ")
		for r := range st.rows {
			k := int64(i*st.rows + r)
			text := textOf(k, 0)
			for salt := 1; st.skew && r%10 != 0 && deal(k, text) != 0; salt++ {
				text = textOf(k, salt)
			}
			if r > 0 {
				sql.WriteByte(',')
			}
			fmt.Fprintf(&sql, "(%d,'%s')", k, text)
		}
		out[i] = sql.String()
	}
	return out
}

// textOf gives 32 characters that k and salt decide.
func textOf(k int64, salt int) string { return fmt.Sprintf("%x", md5.Sum(fmt.Append(nil, k, salt))) }

// dealer says which worker of a view has a row.
func dealer(workers int) func(k int64, v string) int {
	route := (&sink.View{}).Route()
	b := vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 1)
	sels := make([][]int32, workers)
	return func(k int64, v string) int {
		b.Reset()
		b.AppendRow(1, vec.IntOf(k), vec.StrOf(v))
		route.Deal(b, nil, sels)
		return slices.IndexFunc(sels, func(sel []int32) bool { return len(sel) > 0 })
	}
}
