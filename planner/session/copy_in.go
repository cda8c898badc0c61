package session

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/copydata"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// CopyIn is a COPY FROM STDIN that takes its data. All of it is one write: a bad value anywhere changes nothing.
type CopyIn struct {
	stmt   *statement
	table  *catalog.Item
	writes coord.Writes
	format *copydata.Format
	reader *copydata.Reader
	cols   []types.Column
	// target makes whole rows of those that the data has; nil if they are whole.
	target *bind.CopyTarget
	// block gathers rows; it is given away when it is full.
	block *vec.Block
}

// A block of COPY's rows is given away when it has this many rows, or bytes: enough to make the cost of giving small,
// little enough to stay in a processor's cache.
const (
	copyBlockRows  = 4096
	copyBlockStep  = 256
	copyBlockBytes = 1 << 20
)

// copyIn starts a COPY FROM STDIN.
func (s *Session) copyIn(stmt *statement, st *ast.Copy) (*Result, error) {
	f, err := copydata.ParseOptions(st.Options, true)
	if err != nil {
		return nil, err
	}
	p := s.newPlanner(stmt, nil)
	target, err := bind.CopyFrom(p.bindEnv(), st)
	if err != nil {
		return nil, err
	}
	in := &CopyIn{stmt: stmt, table: target.Table, format: f}
	for _, at := range target.Columns {
		in.cols = append(in.cols, target.Table.Rel.Cols[at])
	}
	if in.reader, err = copydata.NewReader(f, target.Table.Name, in.cols); err != nil {
		return nil, err
	}
	in.reader.Refuse = func(one *vec.Block) error { return bind.NotNull(in.table, one, 0) }
	if !slices.Equal(target.Columns, logical.Identity(len(target.Table.Rel.Cols))) {
		in.target = target
		in.reader.Refuse = func(one *vec.Block) error { _, err := target.Complete(one); return err }
		for i, c := range target.Table.Rel.Cols {
			sent := slices.Contains(target.Columns, i)
			in.reader.Incomplete = in.reader.Incomplete || !sent && !c.Nullable && target.Table.Default(i) == ""
		}
	}
	if in.writes, err = s.forWriting(p.snapshot, "COPY FROM"); err != nil {
		return nil, err
	}
	in.block = vec.NewBlock(types.Rel{Cols: in.cols}.Kinds(), copyBlockRows)
	return &Result{CopyIn: in, tag: counted("COPY")}, nil
}

// Columns is the number of columns that the data has.
func (c *CopyIn) Columns() int { return len(c.cols) }

// Binary says whether the data is in binary format.
func (c *CopyIn) Binary() bool { return c.format.Binary() }

// Context ends when the statement is stopped.
func (c *CopyIn) Context() context.Context { return c.stmt.ctx }

// Write takes a piece of the data, which may end anywhere. It keeps nothing of it.
func (c *CopyIn) Write(data []byte) error {
	if c.stmt.ctx.Err() != nil {
		return context.Cause(c.stmt.ctx)
	}
	c.reader.Add(data)
	return c.take()
}

// take reads the rows there are.
func (c *CopyIn) take() error {
	for {
		// The size is looked at every so many rows.
		full, err := c.reader.Read(c.block, c.block.Len+copyBlockStep-c.block.Len%copyBlockStep)
		if err != nil {
			return err
		}
		if c.block.Len >= copyBlockRows || full && c.block.Size() >= copyBlockBytes {
			if err := c.give(); err != nil {
				return err
			}
		}
		if !full {
			return nil
		}
	}
}

// give hands the gathered rows over.
func (c *CopyIn) give() error {
	if c.block.Len == 0 {
		return nil
	}
	whole := c.block
	if c.target != nil {
		var err error
		if whole, err = c.target.Complete(c.block); err != nil {
			return err
		}
	}
	err := c.writes.Add(c.stmt.ctx, c.table, whole)
	c.block.Reset()
	return err
}

// finish takes the last of the data.
func (c *CopyIn) finish() error {
	c.reader.Finish()
	if err := c.take(); err != nil {
		return err
	}
	return c.give()
}

// abort gives up what was gathered. What was handed over already is forgotten with the transaction.
func (c *CopyIn) abort() { c.block.Reset() }
