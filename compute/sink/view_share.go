package sink

import (
	"context"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/shard"
)

// Sharing is how the changes that workers have for an interval become parts.
type Sharing interface {
	// stages says how many bytes of an interval a worker keeps until it gives them to a writer of its own, and whether
	// what it has kept in the end becomes a part of its own too.
	stages(set *settings.Set) (limit int64, alone bool)
	// write makes parts of what the workers have. What it gives beside an error is to be discarded.
	write(ctx context.Context, a *Appender, iv *Interval) ([]*shard.Written, error)
}

// sharedBatchMaxBytes is the threshold up to which a worker stages an interval's rows for the one part that
// all workers share.
var sharedBatchMaxBytes = settings.NewBytes("compute_mv_sink_shared_batch_max_bytes", 1<<20, 0, 1<<30,
	"how many bytes of an interval's changes one worker hands over to be written as one part with those of the others; "+
		"0: every worker writes a part of its own",
	"next interval")

// upToThreshold has all workers share one part, which the appender makes. What a worker has past the threshold it writes
// by itself.
type upToThreshold struct{}

// aloneBytes is what a worker that does not share gathers before it writes.
const aloneBytes = 1 << 20

func (upToThreshold) stages(set *settings.Set) (limit int64, alone bool) {
	if limit = sharedBatchMaxBytes.Get(set); limit > 0 {
		return limit, false
	}
	return aloneBytes, true
}

func (upToThreshold) write(ctx context.Context, a *Appender, iv *Interval) ([]*shard.Written, error) {
	var writers []*shard.Writer
	var shared *shard.Writer
	for i := range iv.reports {
		r := &iv.reports[i]
		to := r.writer
		r.writer = nil
		switch {
		case to != nil:
			a.metrics.count(func(s *Statistics) { s.Spills++ })
			writers = append(writers, to)
		case r.staged == nil || r.staged.Len == 0:
			continue
		case r.alone:
			to = a.o.Shard.NewWriter(shard.WriterOptions{})
			writers = append(writers, to)
		case shared == nil:
			shared = a.o.Shard.NewWriter(shard.WriterOptions{})
			writers = append(writers, shared)
			to = shared
		default:
			to = shared
		}
		if r.staged == nil {
			continue
		}
		if err := to.Add(ctx, r.staged); err != nil {
			for _, w := range writers {
				w.Abort(ctx)
			}
			return nil, err
		}
	}
	return a.finish(ctx, writers)
}
