package parser

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// lifter turns TiDB's trees into ours.
type lifter struct {
	p   *parser
	err *pgerr.Error
	// postfix has what postfix operators gave that something stronger follows, as in a IS NULL + b.
	postfix map[*tidb.FuncCallExpr]ast.Expr
}

func (l *lifter) fail(err *pgerr.Error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *lifter) optional(n tidb.ExprNode) ast.Expr {
	if n == nil {
		return nil
	}
	return l.expr(n)
}

func (l *lifter) expr(n tidb.ExprNode) ast.Expr {
	switch n := n.(type) {
	case *marker:
		holes := l.p.holes
		return holes[sort.Search(len(holes), func(i int) bool { return holes[i].at >= n.at })].expr
	case *tidb.FuncCallExpr:
		if e, ok := l.postfix[n]; ok {
			return e
		}
		return l.mark(n, nil, nil)
	case *tidb.ParenthesesExpr:
		return l.expr(n.Expr)
	case *tidb.UnaryOperationExpr:
		return l.unary(n)
	case *tidb.BinaryOperationExpr:
		return l.binary(n)
	}
	panic(fmt.Sprintf("parser: the skeleton has no %T", n))
}

// number reads the number of a mark such as m_17.
func number(name string) int {
	n, _ := strconv.Atoi(name[2:])
	return n
}

func (l *lifter) mark(n *tidb.FuncCallExpr, left, right ast.Expr) ast.Expr {
	return l.p.marks[number(n.FnName.L)-1](&args{l: l, list: n.Args, left: left, right: right})
}

// opPos gives the place of the last operator that starts before a place in the skeleton.
func (l *lifter) opPos(before int) ast.Pos {
	ops := l.p.ops
	i := sort.Search(len(ops), func(i int) bool { return ops[i].at >= before })
	if i == 0 {
		return 0
	}
	return ops[i-1].pos
}

func (l *lifter) unary(n *tidb.UnaryOperationExpr) ast.Expr {
	pos := l.opPos(n.OriginTextPosition() + 1)
	arg := l.expr(n.V)
	switch n.Op {
	case opcode.Not:
		return &ast.Not{Pos: pos, Arg: arg}
	case opcode.Plus:
		return &ast.Unary{Pos: pos, Op: ast.Op{Symbol: "+"}, Arg: arg}
	}
	if lit, ok := arg.(*ast.Literal); ok && lit.Kind == ast.Number {
		text, negative := strings.CutPrefix(lit.Text, "-")
		if !negative {
			text = "-" + text
		}
		return &ast.Literal{Pos: pos, Kind: ast.Number, Text: text}
	}
	return &ast.Unary{Pos: pos, Op: ast.Op{Symbol: "-"}, Arg: arg}
}

// symbols are the operators that TiDB has on PostgreSQL's levels.
var symbols = map[opcode.Op]string{
	opcode.EQ: "=", opcode.NE: "<>", opcode.LT: "<", opcode.GT: ">", opcode.LE: "<=", opcode.GE: ">=",
	opcode.Plus: "+", opcode.Minus: "-", opcode.Mul: "*", opcode.Div: "/", opcode.Mod: "%", opcode.Xor: "^",
}

func (l *lifter) binary(n *tidb.BinaryOperationExpr) ast.Expr {
	if n.Op == opcode.LogicAnd || n.Op == opcode.LogicOr {
		return l.logic(n)
	}
	if y := leftmost(n.R); y != nil {
		e := l.mark(y, l.expr(n.L), nil)
		if y == n.R {
			return e
		}
		if l.postfix == nil {
			l.postfix = map[*tidb.FuncCallExpr]ast.Expr{}
		}
		l.postfix[y] = e
		return l.expr(n.R)
	}
	if x := markOf(n.L, 'x'); x != nil {
		return l.mark(x, nil, l.expr(n.R))
	}
	if left, ok := n.L.(*tidb.BinaryOperationExpr); ok && left.Op == n.Op {
		if x := markOf(left.R, 'x'); x != nil {
			return l.mark(x, l.expr(left.L), l.expr(n.R))
		}
	}
	pos := l.opPos(n.R.OriginTextPosition())
	return &ast.Binary{Pos: pos, Op: ast.Op{Symbol: symbols[n.Op]}, Left: l.expr(n.L), Right: l.expr(n.R)}
}

// logic gathers a chain of the same operator, which leans to the left.
func (l *lifter) logic(n *tidb.BinaryOperationExpr) ast.Expr {
	count := 2
	first := n
	for {
		left, ok := first.L.(*tidb.BinaryOperationExpr)
		if !ok || left.Op != n.Op {
			break
		}
		first = left
		count++
	}
	list := make([]ast.Expr, count)
	e := n
	for i := count - 1; i > 0; i-- {
		list[i] = l.expr(e.R)
		if i == 1 {
			list[0] = l.expr(e.L)
			break
		}
		e = e.L.(*tidb.BinaryOperationExpr)
	}
	pos := l.opPos(first.R.OriginTextPosition())
	if n.Op == opcode.LogicAnd {
		return &ast.And{Pos: pos, Args: list}
	}
	return &ast.Or{Pos: pos, Args: list}
}

// leftmost gives the postfix mark that an operand starts with, if it does.
func leftmost(n tidb.ExprNode) *tidb.FuncCallExpr {
	for {
		b, ok := n.(*tidb.BinaryOperationExpr)
		if !ok {
			return markOf(n, 'y')
		}
		n = b.L
	}
}

// markOf gives n if it is a mark with this letter.
func markOf(n tidb.ExprNode, letter byte) *tidb.FuncCallExpr {
	if f, ok := n.(*tidb.FuncCallExpr); ok && f.FnName.L[0] == letter {
		return f
	}
	return nil
}

func (l *lifter) subquery(n tidb.ExprNode) *ast.Query { return l.query(n.(*tidb.SubqueryExpr).Query) }

// query lifts a query, which is a SELECT or a list of them with set operators between.
func (l *lifter) query(n tidb.Node) *ast.Query {
	q := &ast.Query{}
	switch n := n.(type) {
	case *tidb.SelectStmt:
		m := l.selectOf(n)
		q.Pos, q.Body = m.queryPos, m.body
		l.queryEnd(q, n.With, n.OrderBy)
	case *tidb.SetOprStmt:
		l.setOps(q, n.SelectList.Selects)
		l.queryEnd(q, n.With, n.OrderBy)
	default:
		panic(fmt.Sprintf("parser: the skeleton has no %T", n))
	}
	return l.merge(q)
}

func (l *lifter) queryEnd(q *ast.Query, with *tidb.WithClause, order *tidb.OrderByClause) {
	if with != nil {
		for _, c := range with.CTEs {
			m := l.p.ctes[number(c.Name.L)-1]
			m.cte.Query = l.query(c.Query.Query)
			q.With = m.with
			q.With.CTEs = append(q.With.CTEs, m.cte)
		}
	}
	if order != nil {
		f := order.Items[0].Expr.(*tidb.FuncCallExpr)
		l.p.tails[number(f.FnName.L)-1].build(q, &args{l: l, list: f.Args})
	}
}

// merge makes a query in parentheses and what stands behind them one query, as PostgreSQL does.
func (l *lifter) merge(q *ast.Query) *ast.Query {
	inner, ok := q.Body.(*ast.Query)
	if !ok {
		return q
	}
	multiple := func(what string, at int) {
		l.fail(pgerr.Newf(pgerr.SyntaxError, "multiple %s clauses not allowed", what).At(at))
	}
	if q.With != nil {
		if inner.With != nil {
			multiple("WITH", q.With.Position())
		}
		inner.With = q.With
	}
	if q.OrderBy != nil {
		if inner.OrderBy != nil {
			multiple("ORDER BY", q.OrderBy[0].Expr.Position())
		}
		inner.OrderBy = q.OrderBy
	}
	if q.Offset != nil {
		if inner.Offset != nil {
			multiple("OFFSET", q.Offset.Position())
		}
		inner.Offset = q.Offset
	}
	if q.Limit != nil {
		if inner.Limit != nil {
			multiple("LIMIT", q.Limit.Position())
		}
		inner.Limit = q.Limit
	}
	if q.AsOf != nil {
		if inner.AsOf != nil {
			multiple("AS OF", q.AsOf.Position())
		}
		inner.AsOf = q.AsOf
	}
	inner.Pos = q.Pos
	return inner
}

// setOps makes a tree of a list of SELECTs: INTERSECT binds first, else from left to right.
func (l *lifter) setOps(q *ast.Query, selects []tidb.Node) {
	var left, right ast.QueryBody
	var waiting *ast.SetOp // a UNION or EXCEPT whose right side is not complete
	for i, n := range selects {
		s := n.(*tidb.SelectStmt)
		m := l.selectOf(s)
		if i == 0 {
			q.Pos, left = m.queryPos, arm(m.body)
			continue
		}
		op := setOp(*s.AfterSetOperator)
		op.Pos = m.setPos
		switch {
		case op.Kind == ast.Intersect && waiting == nil:
			op.Left, op.Right = left, arm(m.body)
			left = op
		case op.Kind == ast.Intersect:
			op.Left, op.Right = right, arm(m.body)
			right = op
		default:
			if waiting != nil {
				waiting.Right, left = right, waiting
			}
			op.Left = left
			waiting, right = op, arm(m.body)
		}
	}
	if waiting != nil {
		waiting.Right, left = right, waiting
	}
	q.Body = left
}

// arm takes the parentheses off a query that has nothing but a body.
func arm(b ast.QueryBody) ast.QueryBody {
	if q, ok := b.(*ast.Query); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil && q.AsOf == nil {
		return q.Body
	}
	return b
}

func setOp(t tidb.SetOprType) *ast.SetOp {
	switch t {
	case tidb.Union:
		return &ast.SetOp{Kind: ast.Union}
	case tidb.UnionAll:
		return &ast.SetOp{Kind: ast.Union, All: true}
	case tidb.Except:
		return &ast.SetOp{Kind: ast.Except}
	case tidb.ExceptAll:
		return &ast.SetOp{Kind: ast.Except, All: true}
	case tidb.Intersect:
		return &ast.SetOp{Kind: ast.Intersect}
	case tidb.IntersectAll:
		return &ast.SetOp{Kind: ast.Intersect, All: true}
	}
	panic(fmt.Sprintf("parser: unknown set operator %d", t))
}

// selectOf lifts one SELECT, whose first result says which body it is.
func (l *lifter) selectOf(n *tidb.SelectStmt) *selectMark {
	f := n.Fields.Fields[0].Expr.(*tidb.FuncCallExpr)
	m := l.p.selects[number(f.FnName.L)-1]
	if m.build != nil {
		m.build(&args{l: l, list: f.Args})
	}
	s, ok := m.body.(*ast.Select)
	if !ok {
		return m
	}
	for i, item := range n.Fields.Fields[1:] {
		s.Items = append(s.Items, ast.SelectItem{Expr: l.expr(item.Expr), Alias: m.aliases[i]})
	}
	if s.From == nil {
		s.From = l.from(n.From.TableRefs)
	}
	s.Where = l.optional(n.Where)
	if n.GroupBy != nil {
		for _, item := range n.GroupBy.Items {
			s.GroupBy = append(s.GroupBy, l.expr(item.Expr))
		}
	}
	if n.Having != nil {
		l.expr(n.Having.Expr)
	}
	return m
}

// from lifts a list of entries, which TiDB has as cross joins without a condition.
func (l *lifter) from(j *tidb.Join) []ast.TableExpr {
	var list []ast.TableExpr
	var walk func(n tidb.ResultSetNode)
	walk = func(n tidb.ResultSetNode) {
		if j, ok := n.(*tidb.Join); ok && j.On == nil {
			walk(j.Left)
			if j.Right != nil {
				walk(j.Right)
			}
			return
		}
		if t := l.table(n); t != nil {
			list = append(list, t)
		}
	}
	walk(j)
	return list
}

func (l *lifter) table(n tidb.ResultSetNode) ast.TableExpr {
	switch n := n.(type) {
	case *tidb.Join:
		if n.On == nil { // parentheses around a join
			return l.table(n.Left)
		}
		f := n.On.Expr.(*tidb.FuncCallExpr)
		j := l.p.joins[number(f.FnName.L)-1]
		j.Left, j.Right = l.table(n.Left), l.table(n.Right)
		if j.On != nil {
			j.On = l.expr(f.Args[0])
		}
		return j
	case *tidb.TableSource:
		name := n.AsName.L
		if t, ok := n.Source.(*tidb.TableName); ok {
			name = t.Name.L
		}
		i := number(name)
		if i == 0 {
			return nil
		}
		t := l.p.tables[i-1]
		switch t := t.(type) {
		case *ast.Derived:
			t.Query = l.query(n.Source)
		case *ast.TableFunc:
			l.query(n.Source) // its SELECT fills the calls
		}
		return t
	}
	panic(fmt.Sprintf("parser: the skeleton has no %T", n))
}
