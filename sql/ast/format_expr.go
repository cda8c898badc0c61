package ast

import (
	"strconv"
	"strings"
)

// level is how strongly an expression binds, as in PostgreSQL's table of precedences.
type level uint8

const (
	levelOr level = iota
	levelAnd
	levelNot
	levelIs
	levelCompare
	levelLike // LIKE, IN, BETWEEN
	levelOp   // all operators that have no level of their own
	levelSum
	levelProduct
	levelPower
	levelCollate
	levelSign
	levelPostfix // x::t
	levelPrimary // names, literals, calls, brackets
)

// levelOf gives the level of an expression. What starts and ends in a word or bracket of its own is primary.
func (p *printer) levelOf(e Expr) level {
	switch e := e.(type) {
	case *Or:
		return levelOr
	case *And:
		return levelAnd
	case *Not:
		return levelNot
	case *Is, *IsDistinct, *Quantified:
		return levelIs
	case *Between, *In, *Like:
		return levelLike
	case *Binary:
		return binaryLevel(e.Op)
	case *Unary:
		// PostgreSQL has - and + high and all other prefix operators low; parentheses save thinking.
		return levelNot
	case *Collate:
		return levelCollate
	case *Literal:
		if p.spelling.Literals[e].Type != "" {
			return levelPostfix
		}
		if e.Kind == Number && strings.HasPrefix(e.Text, "-") {
			return levelSign
		}
	case *Cast:
		return levelPostfix
	}
	return levelPrimary
}

func binaryLevel(op Op) level {
	if op.Schema != "" {
		return levelOp
	}
	switch op.Symbol {
	case "=", "<", ">", "<=", ">=", "<>":
		return levelCompare
	case "+", "-":
		return levelSum
	case "*", "/", "%":
		return levelProduct
	case "^":
		return levelPower
	}
	return levelOp
}

func (e *Column) format(p *printer) { MakeName(e.Names...).format(p) }

func (e *Star) format(p *printer) {
	for _, s := range e.Qualifier {
		p.ident(s)
		p.str(".")
	}
	p.str("*")
}

func (e *Literal) format(p *printer) {
	if s, ok := p.spelling.Literals[e]; ok {
		p.str(s.Text)
		p.when(s.Type != "", "::"+s.Type)
		return
	}
	switch e.Kind {
	case Null:
		p.str("NULL")
	case Bool:
		p.str(e.Text)
	case Number:
		p.str(e.Text)
	case String:
		p.str(QuoteString(e.Text))
	case Bits:
		p.str(e.Text[:1] + QuoteString(e.Text[1:]))
	}
}

func (e *Param) format(p *printer) { p.str("$" + strconv.Itoa(e.Number)) }

func (e *Unary) format(p *printer) {
	e.Op.format(p)
	p.str(" ")
	p.operand(e.Arg, levelPostfix)
}

func (e *Binary) format(p *printer) {
	l := binaryLevel(e.Op)
	left := l
	if l == levelCompare {
		left++ // comparisons do not associate
	}
	p.operand(e.Left, left)
	p.str(" ")
	e.Op.format(p)
	p.str(" ")
	p.operand(e.Right, l+1)
}

func (p *printer) chain(args []Expr, word string, atLeast level) {
	for i, a := range args {
		p.when(i > 0, word)
		p.operand(a, atLeast)
	}
}

func (e *And) format(p *printer) { p.chain(e.Args, " AND ", levelNot) }
func (e *Or) format(p *printer)  { p.chain(e.Args, " OR ", levelAnd) }

func (e *Not) format(p *printer) {
	p.str("NOT ")
	p.operand(e.Arg, levelNot)
}

func (p *printer) not(not bool) { p.when(not, "NOT ") }

func (e *Is) format(p *printer) {
	p.operand(e.Arg, levelOp)
	p.str(" IS ")
	p.not(e.Not)
	p.str([...]string{IsNull: "NULL", IsTrue: "TRUE", IsFalse: "FALSE", IsUnknown: "UNKNOWN"}[e.Test])
}

func (e *IsDistinct) format(p *printer) {
	p.operand(e.Left, levelOp)
	p.str(" IS ")
	p.not(e.Not)
	p.str("DISTINCT FROM ")
	p.operand(e.Right, levelOp)
}

func (e *Between) format(p *printer) {
	p.operand(e.Arg, levelOp)
	p.str(" ")
	p.not(e.Not)
	p.str("BETWEEN ")
	p.when(e.Symmetric, "SYMMETRIC ")
	p.operand(e.Low, levelOp)
	p.str(" AND ")
	p.operand(e.High, levelOp)
}

func (e *In) format(p *printer) {
	p.operand(e.Arg, levelOp)
	p.str(" ")
	p.not(e.Not)
	p.str("IN (")
	if e.List != nil {
		p.exprs(e.List)
	} else {
		e.Query.format(p)
	}
	p.str(")")
}

func (e *Like) format(p *printer) {
	p.operand(e.Arg, levelOp)
	p.str(" ")
	p.not(e.Not)
	p.str([...]string{LikeOp: "LIKE ", ILikeOp: "ILIKE ", SimilarOp: "SIMILAR TO "}[e.Kind])
	p.operand(e.Pattern, levelOp)
	if e.Escape != nil {
		p.str(" ESCAPE ")
		p.operand(e.Escape, levelOp)
	}
}

func (e *Quantified) format(p *printer) {
	p.operand(e.Left, levelSum)
	p.str(" ")
	e.Op.format(p)
	p.str(" ANY (")
	if e.All {
		p.out = append(p.out[:len(p.out)-len("ANY (")], "ALL ("...)
	}
	if e.Array != nil {
		e.Array.format(p)
	} else {
		e.Query.format(p)
	}
	p.str(")")
}

func (e *Case) format(p *printer) {
	p.str("CASE")
	p.clause(" ", e.Arg)
	for _, w := range e.Whens {
		p.clause(" WHEN ", w.Cond)
		p.clause(" THEN ", w.Then)
	}
	p.clause(" ELSE ", e.Else)
	p.str(" END")
}

func (e *Cast) format(p *printer) {
	l, isLiteral := e.Arg.(*Literal)
	s, ok := p.spelling.Literals[l]
	if isLiteral && ok && (l.Kind == String || l.Kind == Null) {
		p.str(s.Text) // the literal is one of the cast's type already
	} else {
		p.operand(e.Arg, levelPostfix)
	}
	p.str("::")
	if t, ok := p.spelling.Casts[e]; ok {
		p.str(t)
	} else {
		e.Type.format(p)
	}
}

func (e *Collate) format(p *printer) {
	p.operand(e.Arg, levelCollate)
	p.str(" COLLATE ")
	e.Collation.format(p)
}

func (e *Call) format(p *printer) {
	e.Func.format(p)
	p.str("(")
	p.when(e.Distinct, "DISTINCT ")
	p.when(e.Star, "*")
	p.list(len(e.Args), func(i int) {
		p.when(e.Variadic && i == len(e.Args)-1, "VARIADIC ")
		e.Args[i].format(p)
	})
	p.orderBy(" ORDER BY ", e.OrderBy)
	p.str(")")
	if e.WithinGroup != nil {
		p.orderBy(" WITHIN GROUP (ORDER BY ", e.WithinGroup)
		p.str(")")
	}
	if e.Filter != nil {
		p.clause(" FILTER (WHERE ", e.Filter)
		p.str(")")
	}
	p.when(e.Nulls == RespectNulls, " RESPECT NULLS")
	p.when(e.Nulls == IgnoreNulls, " IGNORE NULLS")
	if e.Over != nil {
		p.str(" OVER ")
		if e.Over.Ref != "" {
			p.ident(e.Over.Ref)
		} else {
			e.Over.format(p)
		}
	}
}

func (e *NamedArg) format(p *printer) {
	p.ident(e.Name)
	p.clause(" => ", e.Value)
}

func (e *Special) format(p *printer) {
	p.str(e.Func.String() + "(")
	p.exprs(e.Args)
	p.str(")")
}

func (e *ValueFunc) format(p *printer) {
	p.str(strings.ToUpper(e.Name))
	if e.Precision >= 0 {
		p.mods([]int64{int64(e.Precision)})
	}
}

func (e *Array) format(p *printer) {
	p.str("ARRAY")
	if e.List {
		p.out = append(p.out[:len(p.out)-len("ARRAY")], "LIST"...)
	}
	if e.Query != nil {
		p.paren(e.Query)
		return
	}
	p.str("[")
	p.exprs(e.Elems)
	p.str("]")
}

func (e *Map) format(p *printer) {
	p.str("MAP")
	if e.Query != nil {
		p.paren(e.Query)
		return
	}
	p.str("[")
	p.list(len(e.Entries), func(i int) {
		e.Entries[i].Key.format(p)
		p.clause(" => ", e.Entries[i].Value)
	})
	p.str("]")
}

func (e *Row) format(p *printer) {
	p.when(e.Explicit || len(e.Items) < 2, "ROW")
	p.str("(")
	p.exprs(e.Items)
	p.str(")")
}

// indirected writes a value behind which [ or . may stand as it is.
func (p *printer) indirected(e Expr, bare bool) {
	if bare {
		e.format(p)
		return
	}
	p.paren(e)
}

func (e *Subscript) format(p *printer) {
	switch arg := e.Arg.(type) {
	case *Column, *Param:
		p.indirected(arg, true)
	case *Field:
		p.indirected(arg, arg.Name != "")
	default:
		p.indirected(arg, false)
	}
	for _, x := range e.Indexes {
		p.clause("[", x.Lower)
		p.when(x.Lower == nil, "[")
		p.when(x.Slice, ":")
		p.clause(" ", x.Upper)
		p.str("]")
	}
}

func (e *Field) format(p *printer) {
	arg, nested := e.Arg.(*Field)
	p.indirected(e.Arg, nested && arg.Name != "")
	p.str(".")
	if e.Name == "" {
		p.str("*")
		return
	}
	p.ident(e.Name)
}

func (e *Exists) format(p *printer) {
	p.str("EXISTS ")
	p.paren(e.Query)
}

func (e *Subquery) format(p *printer) { p.paren(e.Query) }
func (e *Default) format(p *printer)  { p.str("DEFAULT") }

func (o OrderItem) format(p *printer) {
	o.Expr.format(p)
	o.placement(p)
}

// placement writes what stands behind the expression.
func (o OrderItem) placement(p *printer) {
	if o.Using != nil {
		p.str(" USING ")
		o.Using.format(p)
	}
	p.when(o.Desc, " DESC")
	p.when(o.Nulls == NullsFirst, " NULLS FIRST")
	p.when(o.Nulls == NullsLast, " NULLS LAST")
}

func (w *Window) format(p *printer) {
	p.str("(")
	start := len(p.out)
	blank := func() { p.when(len(p.out) > start, " ") }
	if w.Base != "" {
		p.ident(w.Base)
	}
	if w.PartitionBy != nil {
		blank()
		p.str("PARTITION BY ")
		p.exprs(w.PartitionBy)
	}
	if w.OrderBy != nil {
		blank()
		p.orderBy("ORDER BY ", w.OrderBy)
	}
	if w.Frame != nil {
		blank()
		w.Frame.format(p)
	}
	p.str(")")
}

func (f *Frame) format(p *printer) {
	p.str([...]string{FrameRange: "RANGE", FrameRows: "ROWS", FrameGroups: "GROUPS"}[f.Unit])
	p.str(" BETWEEN ")
	f.Start.format(p)
	p.str(" AND ")
	f.End.format(p)
	if f.Exclude != "" {
		p.str(" EXCLUDE " + f.Exclude)
	}
}

func (b Bound) format(p *printer) {
	switch b.Kind {
	case UnboundedPreceding:
		p.str("UNBOUNDED PRECEDING")
	case UnboundedFollowing:
		p.str("UNBOUNDED FOLLOWING")
	case CurrentRow:
		p.str("CURRENT ROW")
	case Preceding:
		p.operand(b.Offset, levelOp)
		p.str(" PRECEDING")
	case Following:
		p.operand(b.Offset, levelOp)
		p.str(" FOLLOWING")
	}
}
