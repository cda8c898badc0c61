package bind

import (
	"strconv"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Insert binds INSERT.
func Insert(env *Env, e *ast.Insert) (*Write, error) {
	b := newBinder(env)
	it, err := b.target(e.Table, "insert into")
	if err != nil {
		return nil, err
	}
	cols, err := columnsOf(it, e.Columns)
	if err != nil {
		return nil, err
	}
	in := &insert{b: b, e: e, it: it, cols: cols, w: &Write{Kind: InsertRows, Table: it}}
	if err := in.source(); err != nil {
		return nil, err
	}
	if in.w.Root == nil && e.Returning != nil {
		in.w.Root = logical.NewConstant(it.Rel.Cols, in.w.Rows)
	}
	if err := b.returning(in.w, e.Returning, []*source{tableSource(it, e.Alias, 0)}); err != nil {
		return nil, err
	}
	if in.w.Root != nil {
		in.w.Root = b.closed(in.w.Root)
	}
	return in.w, b.checkOpen()
}

// insert is an INSERT while it is bound.
type insert struct {
	b    *binder
	e    *ast.Insert
	it   *catalog.Item
	cols []int // the columns that values are given for
	w    *Write
	// defaults has what the others get, and DEFAULT; bound when first asked for.
	defaults []scalar.Expr
}

// source binds what is inserted.
func (in *insert) source() error {
	if in.e.Source == nil {
		return in.rows([][]ast.Expr{nil}, true)
	}
	if v, ok := plainValues(in.e.Source); ok && in.e.With == nil {
		return in.rows(v.Rows, false)
	}
	r, err := in.b.with(in.e.With, nil, func() (*relation, error) { return in.b.query(in.e.Source, nil) })
	if err != nil {
		return err
	}
	return in.query(r)
}

// plainValues gives the VALUES list that a query is, if it is no more than that.
func plainValues(q *ast.Query) (*ast.Values, bool) {
	v, ok := q.Body.(*ast.Values)
	return v, ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil && q.AsOf == nil
}

// checkCount holds the number of values against the number of columns.
func (in *insert) checkCount(n int, pos func(i int) ast.Pos) error {
	switch {
	case n > len(in.cols):
		return fail(pos(len(in.cols)), pgerr.SyntaxError, "INSERT has more expressions than target columns")
	case n < len(in.cols) && in.e.Columns != nil:
		return fail(in.e.Columns[n].Pos, pgerr.SyntaxError, "INSERT has more target columns than expressions")
	}
	return nil
}

func (in *insert) defaultOf(col int) (scalar.Expr, error) {
	if in.defaults == nil {
		in.defaults = make([]scalar.Expr, len(in.it.Rel.Cols))
	}
	if in.defaults[col] == nil {
		d, err := in.b.defaultOf(in.it, col)
		if err != nil {
			return nil, err
		}
		in.defaults[col] = d
	}
	return in.defaults[col], nil
}

// query inserts the rows of a query.
func (in *insert) query(r *relation) error {
	if err := in.checkCount(len(r.cols), func(i int) ast.Pos { return r.cols[i].pos }); err != nil {
		return err
	}
	ts := make([]types.T, len(r.cols))
	for i := range ts {
		ts[i] = in.it.Rel.Cols[in.cols[i]].Type
	}
	err := r.coerceIn(types.Assignment, in.b, ts, func(i int, from types.T) error {
		_, err := in.b.assign(&scalar.Col{T: from}, in.it.Rel.Cols[in.cols[i]], r.cols[i].pos)
		return err
	})
	if err != nil {
		return err
	}
	n := r.rows()
	row := make([]scalar.Expr, len(in.it.Rel.Cols))
	for i := range ts {
		row[in.cols[i]] = logical.ColOf(n, i)
	}
	for c := range row {
		if row[c] == nil {
			if row[c], err = in.defaultOf(c); err != nil {
				return err
			}
		}
	}
	in.w.Root = logical.Compute(n, row...)
	logical.Walk(n, func(n logical.Node) bool {
		_, ok := n.(*logical.Get)
		in.w.Reads = in.w.Reads || ok
		return !in.w.Reads
	})
	return nil
}

// rows inserts rows of expressions: constants go right into a block, and only if something else comes are trees
// made of them.
func (in *insert) rows(rows [][]ast.Expr, byDefault bool) error {
	if !byDefault {
		for _, r := range rows {
			if err := in.checkCount(len(r), func(i int) ast.Pos { return posOf(r[i]) }); err != nil {
				return err
			}
		}
	}
	block, err := in.constants(rows)
	if err != nil {
		return err
	}
	if block != nil {
		in.w.Rows = block
		return NotNull(in.it, block, 0)
	}
	q := in.b.newQuery(nil, nil)
	q.clause = inValues
	exprs := make([][]scalar.Expr, len(rows))
	for i, r := range rows {
		if exprs[i], err = in.row(q, r); err != nil {
			return err
		}
	}
	in.w.Reads = len(q.subs) > 0
	in.w.Root, err = q.rowsNode(in.it.Rel.Cols, exprs)
	return err
}

// row binds one row, all columns of the table.
func (in *insert) row(q *query, r []ast.Expr) ([]scalar.Expr, error) {
	out := make([]scalar.Expr, len(in.it.Rel.Cols))
	for i, e := range r {
		x, err := in.value(q, e, in.cols[i])
		if err != nil {
			return nil, err
		}
		out[in.cols[i]] = x
	}
	for c := range out {
		if out[c] == nil {
			d, err := in.defaultOf(c)
			if err != nil {
				return nil, err
			}
			out[c] = d
		}
	}
	return out, nil
}

func (in *insert) value(q *query, e ast.Expr, col int) (scalar.Expr, error) {
	if _, ok := e.(*ast.Default); ok {
		return in.defaultOf(col)
	}
	x, err := q.expr(e)
	if err != nil {
		return nil, err
	}
	return in.b.assign(x, in.it.Rel.Cols[col], posOf(e))
}

// constants puts rows of constants into a block; nil if some value is no constant.
func (in *insert) constants(rows [][]ast.Expr) (*vec.Block, error) {
	block := vec.NewBlock(in.it.Rel.Kinds(), len(rows))
	// at is the place of each column among the values given.
	at := make([]int, len(in.it.Rel.Cols))
	for c := range at {
		at[c] = -1
	}
	for i, c := range in.cols {
		at[c] = i
	}
	fills := make([]columnFill, len(in.it.Rel.Cols))
	for c, col := range in.it.Rel.Cols {
		fills[c] = columnFill{in: in, col: c, t: col.Type, alone: readsAlone(col.Type), to: &block.Cols[c]}
	}
	for _, r := range rows {
		for c := range fills {
			var e ast.Expr
			if i := at[c]; i >= 0 && i < len(r) {
				e = r[i]
			}
			if ok, err := fills[c].append(e); err != nil || !ok {
				return nil, err
			}
		}
	}
	block.Len = len(rows)
	return block, nil
}

// columnFill appends the values of one column.
type columnFill struct {
	in  *insert
	col int
	t   types.T
	to  *vec.Vec
	// alone: a literal means the same in any session.
	alone bool
	q     *query
}

// append appends a value, or the default for none; false if it is no constant.
func (f *columnFill) append(e ast.Expr) (bool, error) {
	l, ok := e.(*ast.Literal)
	if !ok {
		return f.slow(e)
	}
	switch {
	case l.Kind == ast.Null:
		f.to.AppendNull()
		return true, nil
	case l.Kind == ast.Number && f.t.Kind() == types.Int:
		if n, err := strconv.ParseInt(l.Text, 10, 64); err == nil && fits(f.t, n) {
			f.to.AppendInt(n)
			return true, nil
		}
		return f.slow(e)
	case l.Kind == ast.String && f.t.OID == types.OIDText:
		f.to.AppendString(l.Text)
		return true, nil
	case l.Kind == ast.String && f.alone, l.Kind == ast.Number && readsNumbers(f.t):
		// What fails here may mean something in the session ("now"); if not, it fails there again.
		if err := row.ParseTextAt(f.t, l.Text, adt.Clock{}, f.to); err == nil {
			return true, nil
		}
	}
	return f.slow(e)
}

// readsAlone says whether a literal of the type can be read without asking the session.
func readsAlone(t types.T) bool {
	f, ok := fn.Cast(types.TUnknown, types.Of(t.OID), types.Implicit)
	return ok && f.Volatility == scalar.Immutable
}

// readsNumbers says whether a number literal, read as the type, is what it is when it is cast.
func readsNumbers(t types.T) bool {
	switch t.OID {
	case types.OIDFloat4, types.OIDFloat8, types.OIDNumeric:
		return true
	}
	return false
}

// fits says whether an integer is within an integer type's range; false for other types.
func fits(t types.T, n int64) bool {
	switch t.OID {
	case types.OIDInt2:
		return int64(int16(n)) == n
	case types.OIDInt4:
		return int64(int32(n)) == n
	case types.OIDInt8:
		return true
	}
	return false
}

// slow binds any expression, and computes it if it is constant.
func (f *columnFill) slow(e ast.Expr) (bool, error) {
	if f.q == nil {
		f.q = f.in.b.newQuery(nil, nil)
		f.q.clause = inValues
	}
	var x scalar.Expr
	var err error
	if e == nil {
		x, err = f.in.defaultOf(f.col)
	} else {
		x, err = f.in.value(f.q, e, f.col)
	}
	if err != nil {
		return false, err
	}
	if len(f.q.subs) > 0 || scalar.Any(x, func(e scalar.Expr) bool { _, ok := e.(*scalar.Param); return ok }) ||
		f.in.b.env.Scalar == nil && scalar.Depends(x) != scalar.Immutable {
		return false, nil
	}
	d, err := scalar.Eval(x, nil, f.in.b.env.Scalar)
	if err != nil {
		return false, err
	}
	f.to.AppendDatum(d)
	return true, nil
}
