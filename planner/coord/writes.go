package coord

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// spillBytes is how much of a transaction's rows for one table stays in memory; beyond it all of them go to
// storage as they come.
const spillBytes = 4 << 20

// writes gathers a transaction's writes.
type writes struct {
	c      *Coord
	tables map[tvc.ID]*tableRows
	order  []tvc.ID
	done   bool
}

// tableRows is what was added for one table: blocks, until there are too many; then a writer has them.
type tableRows struct {
	name   string
	shard  *shard.Shard
	blocks []*vec.Block
	bytes  int
	writer *shard.Writer
}

// Write starts gathering a transaction's writes.
func (c *Coord) Write() Writes { return &writes{c: c, tables: map[tvc.ID]*tableRows{}} }

// Add is Writes's.
func (w *writes) Add(ctx context.Context, table *catalog.Item, rows *vec.Block) error {
	if rows.Len == 0 {
		return nil
	}
	t := w.tables[table.ID]
	if t == nil {
		sh, ok := w.c.set.Shard(table.ID)
		if !ok {
			return droppedError(table.Name)
		}
		t = &tableRows{name: table.Name, shard: sh}
		w.tables[table.ID] = t
		w.order = append(w.order, table.ID)
	}
	if t.writer != nil {
		return t.explain(t.writer.Add(ctx, rows))
	}
	if n := len(t.blocks); n > 0 && t.blocks[n-1].Len+rows.Len <= 4096 {
		t.blocks[n-1].AppendBlock(rows)
	} else {
		t.blocks = append(t.blocks, rows.Clone())
	}
	if t.bytes += rows.Size(); t.bytes <= spillBytes {
		return nil
	}
	return t.spill(ctx)
}

// spill hands what was gathered to a writer.
func (t *tableRows) spill(ctx context.Context) error {
	t.writer = t.shard.NewWriter(shard.WriterOptions{})
	for _, b := range t.blocks {
		if err := t.writer.Add(ctx, b); err != nil {
			return t.explain(err)
		}
	}
	t.blocks = nil
	return nil
}

// explain says of an error of a write that the table was dropped, if that is so.
func (t *tableRows) explain(err error) error {
	if err != nil && t.shard.IsSealed() {
		return droppedError(t.name)
	}
	return ofStorage(err)
}

// Pending is Writes's.
func (w *writes) Pending(table tvc.ID) ([]*vec.Block, bool) {
	t := w.tables[table]
	if t == nil {
		return nil, true
	}
	return t.blocks, t.writer == nil
}

// Commit is Writes's.
func (w *writes) Commit(ctx context.Context, reads []tvc.ID, readAt tvc.Time) (tvc.Time, error) {
	if w.done {
		return 0, pgerr.New(pgerr.InternalError, "a transaction was ended twice")
	}
	w.done = true
	p := &pendingCommit{ctx: ctx, reads: slices.Clone(reads), readAt: readAt}
	for _, id := range w.order {
		t := w.tables[id]
		written, err := t.finish(ctx)
		if err != nil {
			w.drop(ctx, p)
			return 0, err
		}
		p.writes = append(p.writes, tableWrite{id: id, name: t.name, shard: t.shard, written: written})
	}
	if len(p.writes) == 0 && len(p.reads) == 0 {
		return w.c.readTime(ctx)
	}
	return w.c.commitWrites(p)
}

func (t *tableRows) finish(ctx context.Context) (*shard.Written, error) {
	if t.writer == nil {
		if err := t.spill(ctx); err != nil {
			return nil, err
		}
	}
	wr := t.writer
	t.writer = nil
	written, err := wr.Finish(ctx)
	return written, t.explain(err)
}

// drop ends a commit that failed before it came to the line.
func (w *writes) drop(ctx context.Context, p *pendingCommit) {
	for _, x := range p.writes {
		x.written.Discard(context.WithoutCancel(ctx))
	}
	w.abort()
}

// Abort is Writes's.
func (w *writes) Abort() {
	if !w.done {
		w.done = true
		w.abort()
	}
}

func (w *writes) abort() {
	for _, t := range w.tables {
		if t.writer != nil {
			t.writer.Abort(context.Background())
			t.writer = nil
		}
		t.blocks = nil
	}
}
