package bind

import (
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// isUnknown says whether an expression is a literal or a parameter whose type its place decides.
func isUnknown(e scalar.Expr) bool { return e.Type().OID == types.OIDUnknown }

// isNullLiteral says whether an expression is a NULL.
func isNullLiteral(e scalar.Expr) bool {
	d, ok := scalar.IsConst(e)
	return ok && d.IsNull()
}

// coerce makes e a value of type t, as far as the context allows it; nil if there is no such cast.
func (b *binder) coerce(e scalar.Expr, t types.T, ctx types.CastContext, pos ast.Pos) (scalar.Expr, error) {
	from := e.Type()
	if from.Equal(t) || from.OID == types.OIDRecord && t.OID == types.OIDRecord && t.Record == nil {
		return e, nil
	}
	if from.OID == types.OIDUnknown {
		switch e := e.(type) {
		case *scalar.Const:
			return b.literal(e, t, ctx, pos)
		case *scalar.Param:
			p, err := b.typed(e, t, pos)
			if err != nil {
				return nil, err
			}
			return b.coerce(p, t, ctx, pos)
		}
	}
	if digits, ok := b.digits[e]; ok && (t.OID == types.OIDFloat4 || t.OID == types.OIDFloat8) {
		delete(b.large, e)
		return b.literal(&scalar.Const{Value: vec.StrOf(digits), T: types.TUnknown}, t, ctx, pos)
	}
	if c, ok := e.(*scalar.Const); ok && c.Value.IsNull() {
		if _, ok := fn.Cast(from, t, ctx); !ok {
			return nil, nil
		}
		return &scalar.Const{Value: vec.Null, T: t}, nil
	}
	f, ok := fn.Cast(from, t, ctx)
	if !ok {
		return nil, nil
	}
	if from.OID == t.OID && t.Mod == types.NoMod && from.Record == nil {
		return e, nil // a modifier is only ever lost by name
	}
	call := &scalar.Call{Func: f, Args: []scalar.Expr{e}, T: t}
	if _, isConst := e.(*scalar.Const); isConst && f.Volatility == scalar.Immutable {
		if d, err := scalar.Eval(call, nil, nil); err == nil {
			return &scalar.Const{Value: d.Clone(), T: t}, nil
		}
	}
	return call, nil
}

// literal reads a literal as a type. What depends on the session ('now', say, or a relation's name) stays to be
// read later if there is no session to ask.
func (b *binder) literal(c *scalar.Const, t types.T, ctx types.CastContext, pos ast.Pos) (scalar.Expr, error) {
	if t.OID == types.OIDUnknown {
		return c, nil
	}
	if c.Value.IsNull() {
		b.noted.literal(c, types.Of(t.OID), vec.Null)
		return &scalar.Const{Value: vec.Null, T: t}, nil
	}
	switch {
	case t.OID == types.OIDText:
		b.noted.literal(c, t, c.Value)
		return &scalar.Const{Value: c.Value, T: t}, nil
	case t.OID == types.OIDRecord && t.Record == nil:
		return nil, fail(pos, pgerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	base := types.Of(t.OID)
	base.Record = t.Record
	f, ok := fn.Cast(types.TUnknown, base, ctx)
	if !ok {
		return nil, nil
	}
	if f.Volatility != scalar.Immutable && b.env.Scalar == nil {
		return b.coerce(&scalar.Call{Func: f, Args: []scalar.Expr{c}, T: base}, t, ctx, pos)
	}
	d, err := fn.Literal(b.env.Scalar, base, c.Value.Str())
	if err == nil {
		b.noted.literal(c, base, d)
	}
	if err == nil && t.Mod != types.NoMod {
		if sized, ok := fn.Cast(base, t, ctx); ok {
			d, err = sized.Apply(b.env.Scalar, []vec.Datum{d}, t.Kind())
		}
	}
	if err != nil {
		return nil, at(err, pos)
	}
	return &scalar.Const{Value: d.Clone(), T: t}, nil
}

// implicit is coerce for an argument that resolution has chosen a type for.
func (b *binder) implicit(e scalar.Expr, t types.T, pos ast.Pos) (scalar.Expr, error) {
	r, err := b.coerce(e, t, types.Implicit, pos)
	if err == nil && r == nil {
		return nil, fail(pos, pgerr.CannotCoerce, "cannot cast type %s to %s", types.Of(e.Type().OID), types.Of(t.OID))
	}
	return r, err
}

// cast is CAST(e AS t).
func (b *binder) cast(e scalar.Expr, t types.T, pos, argPos ast.Pos) (scalar.Expr, error) {
	r, err := b.coerce(e, t, types.Explicit, argPos)
	if err == nil && r == nil {
		return nil, fail(pos, pgerr.CannotCoerce, "cannot cast type %s to %s", types.Of(e.Type().OID), types.Of(t.OID))
	}
	return r, err
}

// assign makes e a value for a column.
func (b *binder) assign(e scalar.Expr, col types.Column, pos ast.Pos) (scalar.Expr, error) {
	r, err := b.coerce(e, col.Type, types.Assignment, pos)
	if err == nil && r == nil {
		return nil, fail(pos, pgerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s",
			col.Name, types.Of(col.Type.OID), types.Of(e.Type().OID)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	return r, err
}

// boolean makes e a condition; what is said in the message: "argument of WHERE must be type boolean".
func (b *binder) boolean(e scalar.Expr, what string, pos ast.Pos) (scalar.Expr, error) {
	r, err := b.coerce(e, types.TBool, types.Implicit, pos)
	if err == nil && r == nil {
		return nil, fail(pos, pgerr.DatatypeMismatch, "argument of %s must be type boolean, not type %s", what, types.Of(e.Type().OID))
	}
	return r, err
}

// settle gives an expression that nothing asks anything of a type: unknown literals are text.
func (b *binder) settle(e scalar.Expr, pos ast.Pos) (scalar.Expr, error) {
	if !isUnknown(e) {
		return e, nil
	}
	return b.implicit(e, types.TText, pos)
}

// typesOf gives the types of expressions.
func typesOf(es []scalar.Expr) []types.T {
	ts := make([]types.T, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}

// common gives expressions one type, in place. what is for the message: "CASE types integer and text cannot be
// matched".
func (b *binder) common(what string, es []scalar.Expr, pos func(i int) ast.Pos) (types.T, error) {
	t, err := fn.CommonType(what, typesOf(es)...)
	if err != nil {
		// The expression that does not fit the ones before it is where the error is.
		for i := 1; i <= len(es); i++ {
			if _, err := fn.CommonType(what, typesOf(es[:i])...); err != nil {
				return types.T{}, at(err, pos(i-1))
			}
		}
		return types.T{}, err
	}
	for i, e := range es {
		r, err := b.coerce(e, t, types.Implicit, pos(i))
		if err != nil {
			return types.T{}, err
		}
		if r == nil {
			return types.T{}, fail(pos(i), pgerr.CannotCoerce, "%s could not convert type %s to %s", what,
				types.Of(e.Type().OID), types.Of(t.OID))
		}
		es[i] = r
	}
	return t, nil
}
