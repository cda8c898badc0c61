package bind

import (
	"strconv"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// values binds a VALUES list as a query.
func (b *binder) values(e *ast.Values, parent *scope) (*relation, error) {
	q := b.newQuery(parent, nil)
	q.clause = inValues
	rows, items := make([][]scalar.Expr, len(e.Rows)), make([][]ast.Expr, len(e.Rows))
	for i, r := range e.Rows {
		var err error
		if rows[i], items[i], err = q.spread(r); err != nil {
			return nil, err
		}
		if len(rows[i]) != len(rows[0]) {
			return nil, fail(posOf(r[0]), pgerr.SyntaxError, "VALUES lists must all be the same length")
		}
	}
	if err := checkResults(len(rows[0]), posOf(e.Rows[0][0])); err != nil {
		return nil, err
	}
	cols := make([]types.Column, len(rows[0]))
	out := &relation{visible: len(cols)}
	column := make([]scalar.Expr, len(rows))
	for c := range cols {
		for i := range rows {
			column[i] = rows[i][c]
		}
		t, err := b.common("VALUES", column, func(i int) ast.Pos { return posOf(items[i][c]) })
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i][c] = column[i]
		}
		name := "column" + strconv.Itoa(c+1)
		cols[c] = types.Column{Name: name, Type: t}
		out.cols = append(out.cols, relCol{name: name, t: t, pos: posOf(items[0][c])})
	}
	var err error
	out.node, err = q.rowsNode(cols, rows)
	return out, err
}

// rowsNode is rows of expressions over no row: those that are all constants as one Constant.
func (q *query) rowsNode(cols []types.Column, rows [][]scalar.Expr) (logical.Node, error) {
	block := vec.NewBlock(types.Rel{Cols: cols}.Kinds(), len(rows))
	row := make([]vec.Datum, len(cols))
	var parts []logical.Node
	for _, r := range rows {
		if constantRow(r, row) {
			block.AppendRow(1, row...)
			continue
		}
		p := q.placing(logical.NewUnit())
		exprs := p.exprs(r)
		if p.err != nil {
			return nil, p.err
		}
		parts = append(parts, logical.Compute(p.rel, exprs...))
	}
	if block.Len > 0 || len(parts) == 0 {
		parts = append([]logical.Node{logical.NewConstant(cols, block)}, parts...)
	}
	return logical.NewUnion(parts...), nil
}

// constantRow puts a row of constants into row; false if not all are.
func constantRow(es []scalar.Expr, row []vec.Datum) bool {
	for i, e := range es {
		d, ok := scalar.IsConst(e)
		if !ok {
			return false
		}
		row[i] = d
	}
	return true
}
