package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

func upperWord(w string) string { return strings.ToUpper(w) }

// call writes a call of a function, with all that may follow its arguments.
func (p *parser) call(c *chain) {
	t := p.tok()
	if p.ahead(1).kind == '.' && !p.isName() || p.ahead(1).kind != '.' && !p.isFunc() {
		if p.isName() || p.isFunc() {
			p.next() // a name, but of no such function: what is wrong follows it
		}
		p.syntax()
		return
	}
	e := &ast.Call{Pos: ast.Pos(t.pos), Func: p.nameOf(ast.TypeFuncName)}
	if p.kind() != '(' {
		p.syntax()
		return
	}
	p.next()
	n := p.open('m')
	count := p.callArgs(e)
	p.expectKind(')')
	if !c.call {
		p.callSuffixes(e)
	}
	p.close(c, n, false, func(a *args) ast.Expr {
		buildCall(a, e, count)
		return e
	})
}

// callArgs reads what stands between the parentheses of a call and gives the arguments, which the lift fills.
func (p *parser) callArgs(e *ast.Call) []ast.Expr {
	switch {
	case p.kind() == ')':
		return nil
	case p.acceptKind('*'):
		e.Star = true
		return nil
	case p.accept("distinct"):
		e.Distinct = true
	}
	plain := !e.Distinct && !p.accept("all")
	var es []ast.Expr
	for {
		e.Variadic = plain && p.accept("variadic")
		es = append(es, p.callArg())
		if e.Variadic || !p.acceptKind(',') {
			break
		}
	}
	e.OrderBy = p.orderBy()
	return es
}

// callArg reads one argument; a named one holds its value's place.
func (p *parser) callArg() ast.Expr {
	if k := p.ahead(1).kind; (k == tArrow || k == tAssign) && p.isFunc() {
		e := &ast.NamedArg{Pos: p.pos(), Name: p.identOf(ast.TypeFuncName)}
		p.next()
		p.argument()
		return e
	}
	return p.item()
}

// orderBy writes the items of an ORDER BY as arguments, if there is one.
func (p *parser) orderBy() []ast.OrderItem {
	if !p.acceptThen("order", "by") {
		return nil
	}
	return list(p, p.orderItem)
}

func (p *parser) orderItem() ast.OrderItem {
	p.argument()
	return p.orderPlacement()
}

// orderPlacement reads what stands behind the expression of an ORDER BY.
func (p *parser) orderPlacement() ast.OrderItem {
	var item ast.OrderItem
	switch {
	case p.accept("desc"):
		item.Desc = true
	case p.accept("asc"):
	case p.accept("using"):
		var op ast.Op
		if p.word() == "operator" {
			op = p.anyOperator()
		} else {
			op.Symbol = p.operatorSymbol()
		}
		item.Using = &op
	}
	switch {
	case p.accept("nulls", "first"):
		item.Nulls = ast.NullsFirst
	case p.accept("nulls", "last"):
		item.Nulls = ast.NullsLast
	}
	return item
}

// callSuffixes reads WITHIN GROUP, FILTER, IGNORE NULLS and OVER.
func (p *parser) callSuffixes(e *ast.Call) {
	if p.acceptThen("within", "group") {
		p.expectKind('(')
		if e.WithinGroup = p.orderBy(); e.WithinGroup == nil {
			p.syntax()
		}
		p.expectKind(')')
	}
	if p.accept("filter") {
		p.expectKind('(')
		p.expect("where")
		p.argument()
		p.expectKind(')')
		e.Filter = written
	}
	switch {
	case p.accept("ignore", "nulls"):
		e.Nulls = ast.IgnoreNulls
	case p.accept("respect", "nulls"):
		e.Nulls = ast.RespectNulls
	}
	if p.accept("over") {
		if p.kind() == '(' {
			e.Over = p.window()
		} else {
			e.Over = &ast.Window{Pos: p.pos(), Ref: p.ident()}
		}
	}
}

// buildCall fills a call: its arguments, then each part in the order of writing.
func buildCall(a *args, e *ast.Call, es []ast.Expr) {
	for i, arg := range es {
		if named, ok := arg.(*ast.NamedArg); ok && named.Value == nil {
			named.Value = a.take()
		} else if arg == nil {
			es[i] = a.take()
		}
	}
	e.Args = es
	a.order(e.OrderBy)
	a.order(e.WithinGroup)
	if e.Filter != nil {
		e.Filter = a.take()
	}
	if e.Over != nil {
		a.window(e.Over)
	}
}

// window reads a definition in parentheses and writes its expressions as arguments.
func (p *parser) window() *ast.Window {
	w := &ast.Window{Pos: p.pos()}
	p.expectKind('(')
	p.enter()
	switch p.word() {
	case "partition", "range", "rows", "groups": // clauses rather than a name, as in PostgreSQL
	default:
		if p.isName() {
			w.Base = p.ident()
		}
	}
	if p.accept("partition") {
		p.expect("by")
		w.PartitionBy = p.exprs()
	}
	w.OrderBy = p.orderBy()
	switch p.word() {
	case "range", "rows", "groups":
		w.Frame = p.frame()
	}
	p.leave()
	p.expectKind(')')
	return w
}

func (a *args) window(w *ast.Window) {
	a.fill(w.PartitionBy)
	a.order(w.OrderBy)
	if f := w.Frame; f != nil {
		if f.Start.Offset != nil {
			f.Start.Offset = a.take()
		}
		if f.End.Offset != nil {
			f.End.Offset = a.take()
		}
	}
}

func (p *parser) frame() *ast.Frame {
	f := &ast.Frame{Pos: p.pos(), End: ast.Bound{Kind: ast.CurrentRow}}
	switch {
	case p.accept("rows"):
		f.Unit = ast.FrameRows
	case p.accept("groups"):
		f.Unit = ast.FrameGroups
	default:
		p.next()
	}
	if p.accept("between") {
		f.Start = p.frameBound()
		p.expect("and")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
	}
	if p.accept("exclude") {
		switch {
		case p.acceptThen("current", "row"):
			f.Exclude = "CURRENT ROW"
		case p.accept("group"):
			f.Exclude = "GROUP"
		case p.accept("ties"):
			f.Exclude = "TIES"
		default:
			p.expect("no", "others")
		}
	}
	return f
}

func (p *parser) frameBound() ast.Bound {
	switch {
	case p.accept("unbounded", "preceding"):
		return ast.Bound{Kind: ast.UnboundedPreceding}
	case p.accept("unbounded", "following"):
		return ast.Bound{Kind: ast.UnboundedFollowing}
	case p.accept("current", "row"):
		return ast.Bound{Kind: ast.CurrentRow}
	}
	p.argument()
	b := ast.Bound{Kind: ast.Preceding, Offset: written}
	if !p.accept("preceding") {
		p.expect("following")
		b.Kind = ast.Following
	}
	return b
}
