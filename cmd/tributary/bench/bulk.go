package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// hydration builds a view over a table that is there already.
type hydration struct {
	workers int
	// text is the SQL of a row's text, which has so many bytes.
	text  string
	bytes int
}

// rowsPerInsert is how many rows a table is filled with at a time.
const rowsPerInsert = 250_000

func (h hydration) rows(size int) int { return size / (h.bytes + 8) }

// load gives a directory with the table, which all ways of a run share, and the run's only.
func (h hydration) load(ctx context.Context, b *bench) (dir string, err error) {
	if dir, err = os.MkdirTemp(b.o.Dir, "bench"); err != nil {
		return "", err
	}
	s, err := b.start(ctx, ServerOptions{Dir: dir, Workers: 1})
	if err != nil {
		return dir, err
	}
	err = s.exec(ctx, "CREATE TABLE t (k int8 NOT NULL, v text NOT NULL)", h.clusterSQL())
	n := h.rows(b.size)
	for from := 0; from < n && err == nil; from += rowsPerInsert {
		err = s.exec(ctx, fmt.Sprintf("INSERT INTO t SELECT g, %s FROM generate_series(%d, %d) g",
			h.text, from, min(from+rowsPerInsert, n)-1))
	}
	if err == nil {
		err = s.settle(ctx, "materialize.public.t")
	}
	return dir, errors.Join(err, s.close(ctx))
}

// settleLimit is how long a table's compaction may take after it was filled.
const settleLimit = 10 * time.Minute

// settle waits until a collection has not been compacted for a while, nor is to be: else the first way that is measured with it
// would be slowed down by that, and the others not.
func (s *sut) settle(ctx context.Context, collection string) error {
	const looks, every = 30, 100 * time.Millisecond
	deadline := time.Now().Add(settleLimit)
	for quiet := 0; quiet < looks; quiet++ {
		c, err := s.counts()
		if err != nil {
			return err
		}
		if c.sum("tributary_storage_collection_rows", "collection", collection) == 0 {
			return fmt.Errorf("nothing is known of %s", collection)
		}
		if c.sum("tributary_storage_collection_unmerged_batches", "collection", collection)+
			c.sum("tributary_storage_collection_merging_batches", "collection", collection) > 0 {
			quiet = -1
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("compaction of %s did not end within %v", collection, settleLimit)
		}
		if err := sleepUntil(ctx, time.Now().Add(every)); err != nil {
			return err
		}
	}
	return nil
}

func (h hydration) clusterSQL() string {
	return fmt.Sprintf("CREATE CLUSTER c (SIZE = 'scale=1,workers=%d')", h.workers)
}

// measure makes the view and waits until it can be read.
func (h hydration) measure(ctx context.Context, b *bench, w way, run int) (values, error) {
	dir, err := b.shared(fmt.Sprint(h.text, run), func() (string, error) { return h.load(ctx, b) })
	if err != nil {
		return nil, err
	}
	return b.withServer(ctx, w, cellServer{dir: dir}, func(s *sut) (values, error) { return h.build(ctx, b, s) })
}

// build makes the view.
func (h hydration) build(ctx context.Context, b *bench, s *sut) (values, error) {
	if err := s.exec(ctx, "SET cluster = c", "SELECT count(*) FROM t"); err != nil {
		return nil, err
	}
	before, err := s.counts()
	if err != nil {
		return nil, err
	}
	heap, began := watchHeap(), lookAtHost()
	if err := s.exec(ctx, "CREATE MATERIALIZED VIEW v AS SELECT k, v FROM t"); err != nil {
		return nil, err
	}
	rows, err := s.count(ctx, "SELECT count(*) FROM v")
	ended, peak := lookAtHost(), heap.end()
	if want := int64(h.rows(b.size)); err != nil || rows != want {
		return nil, errors.Join(err, fmt.Errorf("the view has %d rows of %d", rows, want))
	}
	after, err := s.countsOf(ctx, float64(rows))
	if err != nil {
		return nil, err
	}
	v := bulkValues(before, after)
	v["seconds"], v["cpu"], v["peak"] = ended.at.Sub(began.at).Seconds(), ended.own-began.own, peak/(1<<20)
	v["rate"] = float64(h.rows(b.size)*(h.bytes+8)) / (1 << 20) / v["seconds"]
	return v, s.exec(ctx, "DROP MATERIALIZED VIEW v")
}

// bulkValues gives what a few large appends took.
func bulkValues(before, after counts) values {
	diff := func(name string, labels ...string) float64 {
		return after.sum(name, labels...) - before.sum(name, labels...)
	}
	v := values{
		"object_parts": diff("tributary_sink_parts_total", "view", view, "kind", "object"),
		"inline_parts": diff("tributary_sink_parts_total", "view", view, "kind", "inline"),
		"appends":      diff("tributary_sink_appends_total", "view", view, "empty", "false"),
		"puts":         diff("tributary_storage_objects_put_total", "collection", view, "origin", "append"),
		"bytes":        diff("tributary_storage_consensus_bytes_total", "collection", view, "origin", "append"),
		"commands":     diff("tributary_storage_consensus_commands_total"),
		"fsyncs":       diff("tributary_storage_fsyncs_total"),
	}
	for _, phase := range phases {
		v[phase] = diff("tributary_sink_phase_seconds", "view", view, "phase", phase)
	}
	return v
}

// bulkInsert inserts many rows at once into a table that has a view.
type bulkInsert struct{ workers int }

// measure gives how long the insert takes, and how much later the view has the rows.
func (i bulkInsert) measure(ctx context.Context, b *bench, w way, _ int) (values, error) {
	return b.withServer(ctx, w, cellServer{}, func(s *sut) (values, error) { return i.insert(ctx, b, s) })
}

func (i bulkInsert) insert(ctx context.Context, b *bench, s *sut) (values, error) {
	if err := s.exec(ctx, steady{workers: i.workers}.setUp()...); err != nil {
		return nil, err
	}
	before, err := s.counts()
	if err != nil {
		return nil, err
	}
	heap, began := watchHeap(), time.Now()
	if err := s.exec(ctx, fmt.Sprintf("INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, %d) g", b.bulk)); err != nil {
		return nil, err
	}
	committed := lookAtHost()
	n, err := s.count(ctx, "SELECT count(*) FROM v")
	ended, peak := lookAtHost(), heap.end()
	if err != nil || n != int64(b.bulk) {
		return nil, errors.Join(err, fmt.Errorf("the view has %d rows of %d", n, b.bulk))
	}
	after, err := s.countsOf(ctx, float64(n))
	if err != nil {
		return nil, err
	}
	v := bulkValues(before, after)
	v["insert"], v["seconds"] = committed.at.Sub(began).Seconds(), ended.at.Sub(committed.at).Seconds()
	v["cpu"], v["peak"] = ended.own-committed.own, peak/(1<<20)
	return v, nil
}
