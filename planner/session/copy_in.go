package session

import (
	"context"
	"slices"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// CopyIn is a COPY FROM STDIN that takes its data. All of it is one write: a bad value anywhere changes nothing.
type CopyIn struct {
	stmt   *statement
	table  *catalog.Item
	writes coord.Writes
	scan   *copyScanner
	f      *CopyFormat
	// cols are the columns that the data has, as the table has them.
	cols []types.Column
	// target makes whole rows of those that the data has; nil if they are whole.
	target       *bind.CopyTarget
	notNull      []bool
	forceNotNull []bool
	forceNull    []bool
	// incomplete: each row lacks a column that may not be NULL and has no default.
	incomplete bool
	// block gathers rows; it is given away when it is full.
	block *vec.Block
	// header: the first row is still to be compared with the columns' names.
	header bool
	rows   int64
}

// A block of COPY's rows is given away when it has this many rows, or bytes: enough to make the cost of giving small,
// little enough to stay in a processor's cache.
const (
	copyBlockRows  = 4096
	copyBlockBytes = 1 << 20
)

// copyIn starts a COPY FROM STDIN.
func (s *Session) copyIn(stmt *statement, st *ast.Copy) (*Result, error) {
	f, err := copyFormat(st.Options, true)
	if err != nil {
		return nil, err
	}
	p := s.newPlanner(stmt, nil)
	target, err := bind.CopyFrom(p.bindEnv(), st)
	if err != nil {
		return nil, err
	}
	writes, err := s.forWriting(p.snapshot, "COPY FROM")
	if err != nil {
		return nil, err
	}
	n := len(target.Columns)
	in := &CopyIn{stmt: stmt, table: target.Table, writes: writes, scan: newCopyScanner(f), f: f, header: f.match,
		notNull: make([]bool, n), forceNotNull: make([]bool, n), forceNull: make([]bool, n)}
	for i, at := range target.Columns {
		c := target.Table.Rel.Cols[at]
		in.cols = append(in.cols, c)
		in.notNull[i] = !c.Nullable
	}
	if !slices.Equal(target.Columns, logical.Identity(len(target.Table.Rel.Cols))) {
		in.target = target
		for i, c := range target.Table.Rel.Cols {
			sent := slices.Contains(target.Columns, i)
			in.incomplete = in.incomplete || !sent && !c.Nullable && target.Table.Default(i) == ""
		}
	}
	if err := in.force(f.forceNotNull, in.forceNotNull, "FORCE_NOT_NULL"); err != nil {
		return nil, err
	}
	if err := in.force(f.forceNull, in.forceNull, "FORCE_NULL"); err != nil {
		return nil, err
	}
	in.block = vec.NewBlock(types.Rel{Cols: in.cols}.Kinds(), copyBlockRows)
	return &Result{CopyIn: in, tag: counted("COPY")}, nil
}

// force marks the columns that an option names.
func (c *CopyIn) force(names []string, marks []bool, option string) error {
	for _, name := range names {
		i := 0
		for ; i < len(c.cols) && c.cols[i].Name != name; i++ {
		}
		if i == len(c.cols) {
			return pgerr.Newf(pgerr.InvalidColumnReference, "%s column %q not referenced by COPY", option, name)
		}
		marks[i] = true
	}
	return nil
}

// Columns is the number of columns that the data has.
func (c *CopyIn) Columns() int { return len(c.cols) }

// Context ends when the statement is stopped.
func (c *CopyIn) Context() context.Context { return c.stmt.ctx }

// Write takes a piece of the data, which may end anywhere. It keeps nothing of it.
func (c *CopyIn) Write(data []byte) error {
	if c.stmt.ctx.Err() != nil {
		return context.Cause(c.stmt.ctx)
	}
	if c.scan.over {
		return nil
	}
	c.scan.add(data)
	return c.take()
}

// take reads the rows there are.
func (c *CopyIn) take() error {
	for {
		ok, err := c.scan.next()
		if err != nil {
			return pgerr.From(err).WithContext(c.scan.context(c.table.Name, "", nil))
		}
		if !ok {
			return nil
		}
		if c.header {
			// It must match: another header the scanner has left out.
			c.header = false
			if err := c.checkHeader(); err != nil {
				return err
			}
			continue
		}
		if err := c.row(); err != nil {
			return err
		}
		if c.block.Len >= copyBlockRows || c.block.Len&63 == 0 && c.block.Size() >= copyBlockBytes {
			if err := c.give(); err != nil {
				return err
			}
		}
	}
}

// checkHeader compares the first row with the columns' names.
func (c *CopyIn) checkHeader() error {
	fail := func(format string, args ...any) error {
		return pgerr.Newf(pgerr.BadCopyFileFormat, format, args...).WithContext(c.scan.context(c.table.Name, "", nil))
	}
	if len(c.scan.fields) != len(c.cols) {
		return fail("wrong number of fields in header line: got %d, expected %d", len(c.scan.fields), len(c.cols))
	}
	for i := range c.cols {
		switch f := &c.scan.fields[i]; {
		case f.null:
			return fail("column name mismatch in header line field %d: got null value (%q), expected %q", i+1, c.f.null, c.cols[i].Name)
		case string(f.bytes) != c.cols[i].Name:
			return fail("column name mismatch in header line field %d: got %q, expected %q", i+1, f.bytes, c.cols[i].Name)
		}
	}
	return nil
}

// row puts the row that was scanned into the block.
func (c *CopyIn) row() error {
	fields := c.scan.fields
	if len(fields) != len(c.cols) {
		return c.wrongCount()
	}
	missing := c.incomplete
	for i := range fields {
		f := &fields[i]
		if c.f.csv && (c.forceNull[i] || c.forceNotNull[i]) {
			c.applyForce(i, f)
		}
		if f.null {
			missing = missing || c.notNull[i]
			c.block.Cols[i].AppendNull()
			continue
		}
		if err := row.ParseText(c.cols[i].Type, f.bytes, &c.block.Cols[i]); err != nil {
			return pgerr.From(err).WithContext(c.scan.context(c.table.Name, c.cols[i].Name, f))
		}
	}
	c.block.Len++
	c.rows++
	if missing {
		return c.missing()
	}
	return nil
}

// missing refuses the row that was put into the block last, which has a NULL where the table has none.
func (c *CopyIn) missing() error {
	one := c.block.Slice(c.block.Len-1, c.block.Len)
	var err error
	if c.target != nil {
		_, err = c.target.Complete(one)
	} else {
		err = bind.NotNull(c.table, one, 0)
	}
	if err == nil {
		invariants.Failf("session: COPY into %s found a NULL that is not there", c.table.Name)
	}
	return pgerr.From(err).WithContext(c.scan.context(c.table.Name, "", nil))
}

func (c *CopyIn) applyForce(i int, f *copyField) {
	switch {
	case c.forceNotNull[i] && f.null:
		f.null = false
	case c.forceNull[i] && !f.null && string(f.bytes) == c.f.null:
		f.null = true
	}
}

func (c *CopyIn) wrongCount() error {
	e := pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column")
	if n := len(c.scan.fields); n < len(c.cols) {
		e = pgerr.Newf(pgerr.BadCopyFileFormat, "missing data for column %q", c.cols[n].Name)
	}
	return e.WithContext(c.scan.context(c.table.Name, "", nil))
}

// give hands the gathered rows over.
func (c *CopyIn) give() error {
	if c.block.Len == 0 {
		return nil
	}
	full := c.block
	if c.target != nil {
		var err error
		if full, err = c.target.Complete(c.block); err != nil {
			return err
		}
	}
	err := c.writes.Add(c.stmt.ctx, c.table, full)
	c.block.Reset()
	return err
}

// finish takes the last of the data.
func (c *CopyIn) finish(context.Context) error {
	c.scan.finish()
	if err := c.take(); err != nil {
		return err
	}
	return c.give()
}

// abort gives up what was gathered. What was handed over already is forgotten with the transaction.
func (c *CopyIn) abort() { c.block.Reset() }
