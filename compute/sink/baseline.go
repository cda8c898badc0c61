package sink

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
)

// The baselines are ways to write a view that are known from elsewhere, to be measured beside this package's own. In all
// of them a worker keeps an interval's rows in memory, all of them, until the interval is closed, and a part is inline up
// to a size that does not depend on how many others there are.

// Sizes of the baselines.
const (
	baselineInlineMax = 4096
	// A worker hands rows over to a shared builder in chunks, so many of which may wait.
	chunkRows   = 1024
	chunksQueue = 4
)

// BaselinePerWorker has every worker write a part of its own.
func BaselinePerWorker() Sharing { return &baseline{groups: 1} }

// BaselineBestEffort has the workers of a group, which stands for a process, share a builder: whoever writes while another
// one does too joins it, and who ends last has the builder's parts. So an interval has one shared part of a group if its
// workers write at the same time, and more if not. A worker with more rows than compute_mv_sink_shared_batch_max_bytes
// writes them by itself.
func BaselineBestEffort(groups int) Sharing { return &baseline{groups: groups, share: true} }

// BaselineBarrier is like BaselineBestEffort, but all workers of a group report for every interval, rows or not, and the
// last one has the parts: there is one shared part of a group.
func BaselineBarrier(groups int) Sharing {
	return &baseline{groups: groups, share: true, barrier: true}
}

type baseline struct {
	groups         int
	share, barrier bool
}

// errBaselineSpilled says that the rows that a baseline keeps did not fit.
var errBaselineSpilled = errors.New("a baseline stages everything, which is more than compute_mv_sink_staging_max_bytes")

func (b *baseline) stages(*settings.Set) (limit int64, alone bool) { return math.MaxInt64, false }

func (b *baseline) write(ctx context.Context, a *Appender, iv *Interval) ([]*shard.Written, error) {
	limit := int64(0)
	if b.share {
		limit = sharedBatchMaxBytes.Get(a.o.Settings)
	}
	workers := len(iv.reports)
	each := (workers + b.groups - 1) / b.groups
	groups := make([]group, b.groups)
	for g := range groups {
		groups[g].a = a
		if b.barrier {
			groups[g].expected = max(0, min(each, workers-g*each))
		}
	}
	written, errs := make([][]*shard.Written, workers), make([]error, workers)
	var wg sync.WaitGroup
	for w := range iv.reports {
		r := &iv.reports[w]
		if r.writer != nil {
			errs[w] = errBaselineSpilled
			continue
		}
		share := limit > 0 && r.bytes <= limit
		wg.Go(func() {
			errs[w] = a.attempt(func() (err error) {
				written[w], err = groups[w/each].report(ctx, r.staged, share)
				return err
			})
		})
	}
	wg.Wait()
	return slices.Concat(written...), errors.Join(errs...)
}

// group is the workers of one process and the builder that they share at the moment.
type group struct {
	a *Appender
	// expected is how many workers report, if all have to.
	expected int
	mu       sync.Mutex
	current  *builder
}

// report is one worker's part of an interval: it writes its rows by itself, or gives them to the builder. It gives what
// was written by itself, and what the builder wrote if this worker was the last one there.
func (g *group) report(ctx context.Context, rows *vec.Block, share bool) (written []*shard.Written, err error) {
	if rows == nil || rows.Len == 0 {
		rows = &vec.Block{}
	}
	if rows.Len > 0 && !share {
		own, err := writeAlone(ctx, g.a, rows)
		if err != nil {
			return nil, err
		}
		written, rows = append(written, own), &vec.Block{}
	}
	if rows.Len == 0 && g.expected == 0 {
		return written, nil
	}
	b := g.join(ctx)
	// The others of this process may come too.
	runtime.Gosched()
	for from := 0; from < rows.Len; from += chunkRows {
		to := min(from+chunkRows, rows.Len)
		chunk := vec.NewBlock(rows.Kinds(), to-from)
		chunk.AppendRange(rows, from, to)
		b.chunks <- chunk
	}
	if g.leave(b) {
		close(b.chunks)
		<-b.done
		if b.written != nil {
			written = append(written, b.written)
		}
		err = errors.Join(err, b.err)
	}
	return written, err
}

// join gives the builder that is at work, or a new one if none is.
func (g *group) join(ctx context.Context) *builder {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil {
		g.current = &builder{chunks: make(chan *vec.Block, chunksQueue), done: make(chan struct{}), handles: g.expected}
		go g.current.run(ctx, g.a)
	}
	if g.expected == 0 {
		g.current.handles++
	}
	return g.current
}

// leave says whether a worker is the last one at a builder.
func (g *group) leave(b *builder) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.handles--; b.handles > 0 {
		return false
	}
	g.current = nil
	return true
}

// builder is one task that encodes and puts what several workers give it.
type builder struct {
	chunks  chan *vec.Block
	handles int // of the workers that have not ended; the group's lock guards it
	done    chan struct{}
	// written and err are there when done is closed.
	written *shard.Written
	err     error
}

// run works until there are no more chunks. It takes them all, even after an error.
func (b *builder) run(ctx context.Context, a *Appender) {
	defer close(b.done)
	defer func() {
		// After a panic too: who waits to hand a chunk over is not left waiting.
		for range b.chunks {
		}
	}()
	b.err = a.attempt(func() error {
		w := a.o.Shard.NewWriter(shard.WriterOptions{InlineMax: baselineInlineMax})
		var failed error
		for chunk := range b.chunks {
			if failed == nil {
				failed = w.Add(ctx, chunk)
			}
		}
		if failed != nil {
			w.Abort(ctx)
			return failed
		}
		var err error
		b.written, err = w.Finish(ctx)
		return err
	})
}

func writeAlone(ctx context.Context, a *Appender, rows *vec.Block) (*shard.Written, error) {
	w := a.o.Shard.NewWriter(shard.WriterOptions{InlineMax: baselineInlineMax})
	if err := w.Add(ctx, rows); err != nil {
		w.Abort(ctx)
		return nil, err
	}
	return w.Finish(ctx)
}
