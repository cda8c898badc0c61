package bind

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// expr binds an expression.
func (q *query) expr(e ast.Expr) (scalar.Expr, error) {
	switch e := e.(type) {
	case *ast.Column:
		return q.name(e)
	case *ast.Star:
		return q.starValue(e)
	case *ast.Literal:
		return q.b.constant(e)
	case *ast.Param:
		return q.b.param(e.Number, e.Pos)
	}
	switch e := e.(type) {
	case *ast.Unary:
		return q.unary(e)
	case *ast.Binary:
		return q.binary(e)
	case *ast.And:
		return q.connective("AND", e.Args)
	case *ast.Or:
		return q.connective("OR", e.Args)
	case *ast.Not:
		arg, err := q.condition(e.Arg, "NOT")
		if err != nil {
			return nil, err
		}
		return fn.Not(arg), nil
	case *ast.Is:
		return q.is(e)
	case *ast.IsDistinct:
		return q.isDistinct(e)
	case *ast.Between:
		return q.between(e)
	case *ast.In:
		return q.inList(e)
	case *ast.Like:
		return q.like(e)
	case *ast.Quantified:
		return q.quantified(e)
	case *ast.Case:
		return q.caseOf(e)
	case *ast.Special:
		return q.special(e)
	case *ast.Cast:
		return q.castOf(e)
	case *ast.Collate:
		return q.collate(e)
	case *ast.Call:
		return q.call(e)
	case *ast.ValueFunc:
		return q.valueFunc(e)
	case *ast.Array:
		return q.array(e)
	case *ast.Row:
		return q.row(e)
	case *ast.Subscript:
		return q.subscript(e)
	case *ast.Field:
		return q.field(e)
	case *ast.Exists:
		return q.exists(e)
	case *ast.Subquery:
		return q.scalarSubquery(e)
	}
	return nil, q.misplaced(e)
}

// misplaced is the error for what cannot be a value where it stands.
func (q *query) misplaced(e ast.Expr) error {
	switch e := e.(type) {
	case *ast.Default:
		return fail(e.Pos, pgerr.SyntaxError, "DEFAULT is not allowed in this context")
	case *ast.Map:
		return unsupported(e.Pos, "MAP")
	case *ast.NamedArg:
		return unsupported(e.Pos, "calling a function with named arguments")
	}
	panic(fmt.Sprintf("bind: unknown expression %T", e))
}

// exprs binds several expressions.
func (q *query) exprs(es []ast.Expr) ([]scalar.Expr, error) {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		r, err := q.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	return out, nil
}

// condition binds an expression that must be a truth value.
func (q *query) condition(e ast.Expr, what string) (scalar.Expr, error) {
	r, err := q.expr(e)
	if err != nil {
		return nil, err
	}
	return q.b.boolean(r, what, posOf(e))
}

func (q *query) connective(name string, args []ast.Expr) (scalar.Expr, error) {
	out := make([]scalar.Expr, len(args))
	for i, a := range args {
		r, err := q.condition(a, name)
		if err != nil {
			return nil, err
		}
		out[i] = r
	}
	if name == "AND" {
		return &scalar.And{Args: out}, nil
	}
	return &scalar.Or{Args: out}, nil
}

// constant is a literal: strings and NULL are of unknown type until their place decides.
func (b *binder) constant(e *ast.Literal) (scalar.Expr, error) {
	switch e.Kind {
	case ast.Null:
		return b.noted.open(e, vec.Null), nil
	case ast.Bool:
		if e.Text == "true" {
			return scalar.True, nil
		}
		return scalar.False, nil
	case ast.String:
		return b.noted.open(e, vec.StrOf(e.Text)), nil
	case ast.Number:
		return b.number(e)
	}
	return nil, unsupported(e.Pos, "type bit")
}

// number is an integer, a bigint, or a numeric, as its size asks.
func (b *binder) number(e *ast.Literal) (scalar.Expr, error) {
	if n, err := strconv.ParseInt(e.Text, 10, 64); err == nil {
		c := &scalar.Const{Value: vec.IntOf(n), T: types.TInt8}
		if int64(int32(n)) == n {
			c.T = types.TInt4
		}
		b.noted.spell(e, c.T, c.Value)
		return c, nil
	}
	text := &scalar.Const{Value: vec.StrOf(e.Text), T: types.TUnknown}
	f, _ := fn.Cast(types.TUnknown, types.TNumeric, types.Implicit)
	call := &scalar.Call{Func: f, Args: []scalar.Expr{text}, T: types.TNumeric}
	d, err := scalar.Eval(call, nil, nil)
	if err != nil {
		b.digits[call], b.large[call] = e.Text, e.Pos
		return call, nil
	}
	c := &scalar.Const{Value: d.Clone(), T: types.TNumeric}
	if !exact(e.Text, c) {
		b.digits[c] = e.Text
		return c, nil
	}
	b.noted.spell(e, c.T, c.Value)
	return c, nil
}

// exact says whether a number is as good as what was written, also where it becomes a float.
func exact(text string, c *scalar.Const) bool {
	if len(text) < adt.NumericDigits && !strings.ContainsAny(text, "eE") {
		return true
	}
	toFloat, _ := fn.Cast(types.TNumeric, types.TFloat8, types.Implicit)
	got, err1 := toFloat.Apply(nil, []vec.Datum{c.Value}, types.Float)
	want, err2 := fn.Literal(nil, types.TFloat8, text)
	return err1 == nil && err2 == nil && got.Equal(want)
}

func (q *query) is(e *ast.Is) (scalar.Expr, error) {
	if e.Test == ast.IsNull {
		return q.isNull(e)
	}
	what := map[ast.Test]string{ast.IsTrue: "IS TRUE", ast.IsFalse: "IS FALSE", ast.IsUnknown: "IS UNKNOWN"}[e.Test]
	if e.Not {
		what = "IS NOT " + what[len("IS "):]
	}
	arg, err := q.condition(e.Arg, what)
	if err != nil {
		return nil, err
	}
	var r scalar.Expr
	switch e.Test {
	case ast.IsTrue:
		r = &scalar.Coalesce{Args: []scalar.Expr{arg, scalar.False}, T: types.TBool}
	case ast.IsFalse:
		r = &scalar.Coalesce{Args: []scalar.Expr{fn.Not(arg), scalar.False}, T: types.TBool}
	default:
		r = &scalar.IsNull{Arg: arg}
	}
	if e.Not {
		r = fn.Not(r)
	}
	return r, nil
}

// isNull: a row is NULL if all its fields are, and is not if none is.
func (q *query) isNull(e *ast.Is) (scalar.Expr, error) {
	var parts []scalar.Expr
	if r, ok := e.Arg.(*ast.Row); ok {
		var err error
		if parts, _, err = q.spread(r.Items); err != nil {
			return nil, err
		}
	} else {
		arg, err := q.expr(e.Arg)
		if err != nil {
			return nil, err
		}
		parts = []scalar.Expr{arg}
		if arg.Type().OID == types.OIDRecord {
			return nullRecord(arg, e)
		}
	}
	for i, p := range parts {
		// That it may be NULL says nothing of a parameter's type.
		if _, isParam := p.(*scalar.Param); !isParam {
			var err error
			if p, err = q.b.settle(p, e.Pos); err != nil {
				return nil, err
			}
		}
		parts[i] = &scalar.IsNull{Arg: p}
		if e.Not {
			parts[i] = fn.Not(parts[i])
		}
	}
	return scalar.AndOf(parts...), nil
}

func (q *query) isDistinct(e *ast.IsDistinct) (scalar.Expr, error) {
	l, lok := e.Left.(*ast.Row)
	r, rok := e.Right.(*ast.Row)
	if lok && rok {
		return q.rowsDistinct(e, l, r)
	}
	left, err := q.expr(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := q.expr(e.Right)
	if err != nil {
		return nil, err
	}
	d, err := q.distinct(left, right, e)
	if err != nil || !e.Not {
		return d, err
	}
	return fn.Not(d), nil
}

func (q *query) distinct(left, right scalar.Expr, e *ast.IsDistinct) (scalar.Expr, error) {
	eq, err := q.operator("=", left, right, e.Pos, posOf(e.Left), posOf(e.Right))
	if err != nil {
		return nil, err
	}
	c := eq.(*scalar.Call)
	return &scalar.Call{Func: fn.Distinct(c.Func), Args: c.Args, T: types.TBool}, nil
}

func (q *query) between(e *ast.Between) (scalar.Expr, error) {
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	low, err := q.expr(e.Low)
	if err != nil {
		return nil, err
	}
	high, err := q.expr(e.High)
	if err != nil {
		return nil, err
	}
	within := func(low, high scalar.Expr, lowPos, highPos ast.Pos) (scalar.Expr, error) {
		from, err := q.operator(">=", arg, low, e.Pos, posOf(e.Arg), lowPos)
		if err != nil {
			return nil, err
		}
		to, err := q.operator("<=", arg, high, e.Pos, posOf(e.Arg), highPos)
		if err != nil {
			return nil, err
		}
		return &scalar.And{Args: []scalar.Expr{from, to}}, nil
	}
	r, err := within(low, high, posOf(e.Low), posOf(e.High))
	if err == nil && e.Symmetric {
		var other scalar.Expr
		if other, err = within(high, low, posOf(e.High), posOf(e.Low)); err == nil {
			r = &scalar.Or{Args: []scalar.Expr{r, other}}
		}
	}
	if err == nil && e.Not {
		r = fn.Not(r)
	}
	return r, err
}

func (q *query) caseOf(e *ast.Case) (scalar.Expr, error) {
	q.inCase++
	defer func() { q.inCase-- }()
	var arg scalar.Expr
	if e.Arg != nil {
		var err error
		if arg, err = q.expr(e.Arg); err != nil {
			return nil, err
		}
		if arg, err = q.b.settle(arg, posOf(e.Arg)); err != nil {
			return nil, err
		}
	}
	c := &scalar.Case{}
	// The ELSE comes first in the choice of the type, as in PostgreSQL.
	results := make([]scalar.Expr, 1, len(e.Whens)+1)
	guards := len(q.guards)
	defer func() { q.guards = q.guards[:guards] }()
	for _, w := range e.Whens {
		cond, err := q.whenCond(arg, e, w)
		if err != nil {
			return nil, err
		}
		q.guards = append(q.guards, cond)
		then, err := q.expr(w.Then)
		if err != nil {
			return nil, err
		}
		q.guards[len(q.guards)-1] = fn.Not(&scalar.Coalesce{Args: []scalar.Expr{cond, scalar.False}, T: types.TBool})
		c.Whens = append(c.Whens, scalar.When{Cond: cond})
		results = append(results, then)
	}
	results[0] = &scalar.Const{Value: vec.Null, T: types.TUnknown}
	if e.Else != nil {
		var err error
		if results[0], err = q.expr(e.Else); err != nil {
			return nil, err
		}
	}
	t, err := q.b.common("CASE", results, func(i int) ast.Pos {
		if i == 0 {
			return posOf(orNode(e.Else, e))
		}
		return posOf(e.Whens[i-1].Then)
	})
	if err != nil {
		return nil, err
	}
	c.T, c.Else = t, results[0]
	for i := range c.Whens {
		c.Whens[i].Then = results[i+1]
	}
	return c, nil
}

func orNode(e ast.Expr, other ast.Expr) ast.Expr {
	if e == nil {
		return other
	}
	return e
}

func (q *query) whenCond(arg scalar.Expr, e *ast.Case, w ast.When) (scalar.Expr, error) {
	if arg == nil {
		return q.condition(w.Cond, "CASE/WHEN")
	}
	value, err := q.expr(w.Cond)
	if err != nil {
		return nil, err
	}
	return q.operator("=", arg, value, posOf(w.Cond), posOf(e.Arg), posOf(w.Cond))
}

func (q *query) special(e *ast.Special) (scalar.Expr, error) {
	if e.Func == ast.Coalesce {
		q.inCase++
		defer func() { q.inCase-- }()
	}
	args, err := q.exprs(e.Args)
	if err != nil {
		return nil, err
	}
	pos := func(i int) ast.Pos { return posOf(e.Args[i]) }
	switch e.Func {
	case ast.NullIf:
		eq, err := q.operator("=", args[0], args[1], e.Pos, pos(0), pos(1))
		if err != nil {
			return nil, err
		}
		// The result is the first argument as it was compared, but for what a typed one was before.
		first := args[0]
		if isUnknown(first) {
			first = eq.(*scalar.Call).Args[0]
		}
		return &scalar.Case{
			Whens: []scalar.When{{Cond: eq, Then: &scalar.Const{Value: vec.Null, T: first.Type()}}}, Else: first, T: first.Type(),
		}, nil
	case ast.Coalesce:
		t, err := q.b.common("COALESCE", args, pos)
		if err != nil {
			return nil, err
		}
		if len(args) == 1 {
			return args[0], nil
		}
		return &scalar.Coalesce{Args: args, T: t}, nil
	}
	name := map[ast.SpecialFunc]string{ast.Greatest: "greatest", ast.Least: "least"}[e.Func]
	if _, err := q.b.common(e.Func.String(), args, pos); err != nil {
		return nil, err
	}
	return q.function(name, args, e.Pos, pos)
}

func (q *query) castOf(e *ast.Cast) (scalar.Expr, error) {
	t, err := typeOf(e.Type)
	if err != nil {
		return nil, err
	}
	// ARRAY[…]::t[] gives the elements their type.
	if a, ok := e.Arg.(*ast.Array); ok && !a.List && a.Query == nil {
		if elem, ok := t.Elem(); ok {
			return q.arrayOf(a, &elem)
		}
	}
	if l, ok := e.Arg.(*ast.Literal); ok && t.OID == types.OIDInterval && e.Type.Fields != "" {
		return q.b.intervalLiteral(l, e)
	}
	if e.Type.Fields != "" {
		return nil, unsupported(e.Type.Pos, "type interval %s", e.Type.Fields)
	}
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	q.b.noted.cast(e, t)
	return q.b.cast(arg, t, e.Pos, posOf(e.Arg))
}

// intervalLiteral is INTERVAL '1' DAY: a bare number is in the unit.
func (b *binder) intervalLiteral(l *ast.Literal, e *ast.Cast) (scalar.Expr, error) {
	text := l.Text
	if _, err := strconv.ParseFloat(text, 64); err != nil || l.Kind != ast.String {
		return nil, unsupported(e.Type.Pos, "type interval %s", e.Type.Fields)
	}
	switch e.Type.Fields {
	case "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND":
		text += " " + e.Type.Fields
	default:
		return nil, unsupported(e.Type.Pos, "type interval %s", e.Type.Fields)
	}
	return b.literal(&scalar.Const{Value: vec.StrOf(text), T: types.TUnknown}, types.TInterval, types.Explicit, l.Pos)
}

// collate: the one order of text that there is goes by bytes.
func (q *query) collate(e *ast.Collate) (scalar.Expr, error) {
	switch e.Collation.Object() {
	case "C", "POSIX", "default", "ucs_basic":
	default:
		return nil, unsupported(e.Pos, "collation %s", e.Collation)
	}
	arg, err := q.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	arg, err = q.b.settle(arg, posOf(e.Arg))
	if err == nil && arg.Type().Category() != 'S' {
		return nil, fail(e.Pos, pgerr.DatatypeMismatch, "collations are not supported by type %s", types.Of(arg.Type().OID))
	}
	return arg, err
}
