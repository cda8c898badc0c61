package rewrite

import (
	"slices"

	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// fold computes constants and simplifies conditions everywhere. In a filter or an inner join's condition
// NULL is as good as false.
func (r *run) fold(n logical.Node) logical.Node {
	n = logical.MapInputs(n, r.fold)
	s := simplifier{run: r}
	switch n := n.(type) {
	case *logical.Project:
		if c, ok := n.Input().(*logical.Constant); ok {
			return pruneConstant(c, n.Cols)
		}
		return n
	case *logical.Filter:
		if c, ok := n.Input().(*logical.Constant); ok {
			return r.computed(n, c)
		}
		s.rel = n.Input().Rel().Cols
		if preds, changed := s.conditions(n.Preds); changed {
			return logical.NewFilter(n.Input(), preds...)
		}
		return n
	case *logical.Join:
		s.rel = inputCols(n.Ins)
		if preds, changed := s.conditions(n.Preds); changed {
			return logical.NewJoin(n.Ins, preds...)
		}
		return n
	case *logical.OuterJoin:
		s.rel = inputCols(n.Sides[:])
		if on, changed := s.conditions(n.On); changed {
			return logical.NewOuterJoin(n.Full, n.Left(), n.Right(), on...)
		}
		return n
	case *logical.SemiJoin:
		s.rel = inputCols(n.Sides[:])
		if on, changed := s.conditions(n.On); changed {
			return logical.NewSemiJoin(n.Anti, n.Left(), n.Right(), on...)
		}
		return n
	case *logical.Map:
		if c, ok := n.Input().(*logical.Constant); ok {
			return r.computed(n, c)
		}
		s.rel = n.Input().Rel().Cols
	case *logical.TableFunc:
		s.rel = n.Input().Rel().Cols
	}
	return logical.MapExprs(n, s.value)
}

// maxComputed bounds how many constant rows are computed here, one by one; more are the engine's work.
const maxComputed = 1 << 12

// computed is a map or a filter of constant rows, computed; n itself if that cannot be done before the query
// runs. A row that fails is left to fail then.
func (r *run) computed(n logical.Node, c *logical.Constant) logical.Node {
	exprs := logical.Exprs(n)
	for _, e := range exprs {
		if !r.isKnown(e) {
			return n
		}
	}
	if c.Rows.Len > maxComputed {
		return n
	}
	out := vec.NewBlock(n.Rel().Kinds(), c.Rows.Len)
	var row []vec.Datum
	for i := range c.Rows.Len {
		row = c.Rows.Row(i, row)
		if _, isFilter := n.(*logical.Filter); isFilter {
			d, err := scalar.Eval(scalar.AndOf(exprs...), row, r.opts.Env)
			if err != nil {
				return n
			}
			if d.IsNull() || !d.Bool() {
				continue
			}
			out.AppendRow(c.Rows.Diff(i), row...)
			continue
		}
		all := slices.Clip(row)
		for _, e := range exprs {
			d, err := scalar.Eval(e, row, r.opts.Env)
			if err != nil {
				return n
			}
			all = append(all, d)
		}
		out.AppendRow(c.Rows.Diff(i), all...)
	}
	return logical.NewConstant(n.Rel().Cols, out)
}

// isKnown says whether an expression can be computed, given the row, before the query runs.
func (r *run) isKnown(e scalar.Expr) bool {
	upTo := scalar.Immutable
	if r.opts.Env != nil {
		upTo = scalar.Stable
	}
	return scalar.Depends(e) <= upTo && !scalar.Any(e, func(e scalar.Expr) bool {
		switch e.(type) {
		case *scalar.Param, *scalar.Outer:
			return true
		}
		return false
	})
}

// inputCols is what a join's conditions see: the inputs' columns, whose NULLs are not yet those of the result.
func inputCols(ins []logical.Node) []types.Column {
	var cols []types.Column
	for _, in := range ins {
		cols = append(cols, in.Rel().Cols...)
	}
	return cols
}

// simplifier simplifies expressions over the columns of rel.
type simplifier struct {
	*run
	rel []types.Column
}

func (s simplifier) nullable(e scalar.Expr) bool {
	return scalar.Nullable(e, func(c int) bool { return c >= len(s.rel) || s.rel[c].Nullable })
}

// conditions simplifies a list of conditions that must all be true.
func (s simplifier) conditions(preds []scalar.Expr) ([]scalar.Expr, bool) {
	var out []scalar.Expr
	changed := false
	// An error beats a NULL, but a false beats an error: so one may not become the other beside what fails.
	fails := len(preds) > 1 && logical.AnyFails(preds)
	for _, p := range preds {
		q := s.value(p)
		if !fails {
			q = s.truth(q)
		}
		if d, ok := scalar.IsConst(q); ok && !d.IsNull() && !d.Bool() {
			return []scalar.Expr{scalar.False}, len(preds) != 1 || p != q
		}
		parts := scalar.Conjuncts(q)
		changed = changed || len(parts) != 1 || parts[0] != p
		for _, part := range parts {
			if contains(out, part) {
				changed = true
				continue
			}
			out = append(out, part)
		}
	}
	if contradicts(out) {
		return []scalar.Expr{scalar.False}, true
	}
	return out, changed
}

// contradicts says whether two of the conditions ask a column to be different constants.
func contradicts(preds []scalar.Expr) bool {
	is := map[int]vec.Datum{}
	for _, p := range preds {
		col, value, ok := columnIs(p)
		if !ok {
			continue
		}
		if before, ok := is[col]; ok && !before.Equal(value) {
			return true
		}
		is[col] = value
	}
	return false
}

// columnIs takes column = constant apart.
func columnIs(p scalar.Expr) (col int, value vec.Datum, ok bool) {
	a, b, ok := logical.Equation(p)
	if !ok {
		return 0, vec.Null, false
	}
	if _, isConst := a.(*scalar.Const); isConst {
		a, b = b, a
	}
	c, isCol := a.(*scalar.Col)
	k, isConst := b.(*scalar.Const)
	if !isCol || !isConst || k.Value.IsNull() {
		return 0, vec.Null, false
	}
	return c.Index, k.Value, true
}

// value simplifies an expression and keeps its value.
func (s simplifier) value(e scalar.Expr) scalar.Expr { return scalar.Rewrite(e, s.step) }

// step simplifies an expression whose parts are simple.
func (s simplifier) step(e scalar.Expr) scalar.Expr {
	switch e := e.(type) {
	case *scalar.And:
		return s.and(e)
	case *scalar.Or:
		return s.or(e)
	case *scalar.Case:
		return s.cases(e)
	case *scalar.Coalesce:
		return s.coalesce(e)
	case *scalar.IsNull:
		if !s.nullable(e.Arg) && !scalar.CanFail(e.Arg) {
			return scalar.False
		}
		if d, ok := scalar.IsConst(e.Arg); ok && d.IsNull() {
			return scalar.True
		}
	case *scalar.In:
		if d, ok := scalar.IsConst(e.Arg); ok {
			return inConst(d, e)
		}
	case *scalar.Call:
		if inner, ok := logical.Negated(e); ok {
			if r := s.not(inner); r != nil {
				return r
			}
		}
		if r := s.sameSides(e); r != nil {
			return r
		}
		return s.constant(e)
	}
	return e
}

func inConst(d vec.Datum, e *scalar.In) scalar.Expr {
	if d.IsNull() {
		return logical.Null(types.TBool)
	}
	for _, m := range e.Set {
		if m.Equal(d) {
			return scalar.True
		}
	}
	if e.HasNull {
		return logical.Null(types.TBool)
	}
	return scalar.False
}

// constant computes a call of constants. One that fails stays: it fails when, and only if, it is computed.
func (s simplifier) constant(e *scalar.Call) scalar.Expr {
	if e.Func.Volatility == scalar.Volatile || e.Func.Volatility == scalar.Stable && s.opts.Env == nil {
		return e
	}
	for _, a := range e.Args {
		d, ok := scalar.IsConst(a)
		if ok && d.IsNull() && e.Func.Strict && !logical.AnyFails(e.Args) {
			return logical.Null(e.T)
		}
	}
	for _, a := range e.Args {
		if _, ok := scalar.IsConst(a); !ok {
			return e
		}
	}
	d, err := scalar.Eval(e, nil, s.opts.Env)
	if err != nil {
		return e
	}
	return &scalar.Const{Value: d.Clone(), T: e.T}
}

// sameSides decides comparisons of an expression with itself.
func (s simplifier) sameSides(e *scalar.Call) scalar.Expr {
	a, b, ok := logical.Equation(e)
	if !ok || !scalar.Equal(a, b) || scalar.CanFail(a) || scalar.Depends(a) == scalar.Volatile {
		return nil
	}
	if logical.IsNullEq(e) || !s.nullable(a) {
		return scalar.True
	}
	return nil
}

func (s simplifier) and(e *scalar.And) scalar.Expr {
	var args []scalar.Expr
	for _, a := range scalar.Conjuncts(e) {
		if d, ok := scalar.IsConst(a); ok && !d.IsNull() {
			return scalar.False // a false beats an error
		}
		if !contains(args, a) {
			args = append(args, a)
		}
	}
	if slices.Equal(args, e.Args) {
		return e
	}
	return scalar.AndOf(args...)
}

func (s simplifier) or(e *scalar.Or) scalar.Expr {
	var args []scalar.Expr
	for _, a := range flatOr(e.Args) {
		if logical.IsTrue(a) {
			return scalar.True
		}
		if d, ok := scalar.IsConst(a); ok && !d.IsNull() {
			continue
		}
		if !contains(args, a) {
			args = append(args, a)
		}
	}
	args = s.asIn(args)
	if shared := s.common(args); shared != nil {
		return shared
	}
	if slices.Equal(args, e.Args) {
		return e
	}
	return scalar.OrOf(args...)
}

// fewTerms is up to how many terms repetitions are looked for; long lists are written by programs, each term once.
const fewTerms = 64

func contains(es []scalar.Expr, e scalar.Expr) bool {
	return len(es) <= fewTerms && slices.ContainsFunc(es, func(f scalar.Expr) bool { return scalar.Equal(e, f) })
}

func flatOr(es []scalar.Expr) []scalar.Expr {
	var out []scalar.Expr
	for _, e := range es {
		if o, ok := e.(*scalar.Or); ok {
			out = append(out, flatOr(o.Args)...)
		} else {
			out = append(out, e)
		}
	}
	return out
}

// asIn makes one In of the alternatives that compare one expression with constants.
func (s simplifier) asIn(args []scalar.Expr) []scalar.Expr {
	var out []scalar.Expr
	var sets []*scalar.In
	for _, a := range args {
		arg, set, hasNull, ok := asSet(a)
		if !ok {
			out = append(out, a)
			continue
		}
		i := slices.IndexFunc(sets, func(in *scalar.In) bool { return scalar.Equal(in.Arg, arg) })
		if i < 0 {
			out = append(out, nil) // its place
			sets = append(sets, &scalar.In{Arg: arg, Set: set, HasNull: hasNull})
			continue
		}
		sets[i] = &scalar.In{Arg: arg, Set: append(slices.Clip(sets[i].Set), set...), HasNull: hasNull || sets[i].HasNull}
	}
	at := 0
	for i, e := range out {
		if e == nil {
			out[i] = s.sortedIn(sets[at], args)
			at++
		}
	}
	return out
}

// sortedIn is the In as it should be; a single value stays the equation it was.
func (s simplifier) sortedIn(in *scalar.In, args []scalar.Expr) scalar.Expr {
	slices.SortFunc(in.Set, vec.Datum.Compare)
	in.Set = slices.CompactFunc(in.Set, vec.Datum.Equal)
	for _, a := range args {
		if arg, set, hasNull, ok := asSet(a); ok && len(set) == len(in.Set) && hasNull == in.HasNull && scalar.Equal(arg, in.Arg) {
			return a
		}
	}
	return in
}

// asSet takes apart expression = constant and expression IN (constants).
func asSet(e scalar.Expr) (arg scalar.Expr, set []vec.Datum, hasNull, ok bool) {
	if in, ok := e.(*scalar.In); ok {
		return in.Arg, slices.Clone(in.Set), in.HasNull, true
	}
	a, b, ok := logical.Equation(e)
	if !ok || logical.IsNullEq(e) {
		return nil, nil, false, false
	}
	if _, isConst := a.(*scalar.Const); isConst {
		a, b = b, a
	}
	k, isConst := b.(*scalar.Const)
	if _, both := a.(*scalar.Const); !isConst || both || k.Value.IsNull() || a.Type().Kind() != k.T.Kind() {
		return nil, nil, false, false
	}
	return a, []vec.Datum{k.Value}, false, true
}

// common takes out of a disjunction the conditions that are in all of its alternatives; nil if there are none.
func (s simplifier) common(args []scalar.Expr) scalar.Expr {
	if len(args) < 2 || logical.AnyFails(args) {
		return nil
	}
	var shared []scalar.Expr
	for _, c := range scalar.Conjuncts(args[0]) {
		inAll := true
		for _, a := range args[1:] {
			inAll = inAll && slices.ContainsFunc(scalar.Conjuncts(a), func(e scalar.Expr) bool { return scalar.Equal(c, e) })
		}
		if inAll {
			shared = append(shared, c)
		}
	}
	if len(shared) == 0 {
		return nil
	}
	rest := make([]scalar.Expr, len(args))
	for i, a := range args {
		rest[i] = scalar.AndOf(slices.DeleteFunc(scalar.Conjuncts(a), func(e scalar.Expr) bool {
			return slices.ContainsFunc(shared, func(c scalar.Expr) bool { return scalar.Equal(c, e) })
		})...)
	}
	return scalar.AndOf(append(shared, s.step(&scalar.Or{Args: rest}))...)
}

func (s simplifier) cases(e *scalar.Case) scalar.Expr {
	c := &scalar.Case{Else: e.Else, T: e.T}
	for _, w := range e.Whens {
		cond := s.truth(w.Cond)
		if logical.NeverTrue(cond) {
			continue
		}
		if logical.IsTrue(cond) {
			c.Else = w.Then
			break
		}
		c.Whens = append(c.Whens, scalar.When{Cond: cond, Then: w.Then})
	}
	if len(c.Whens) == 0 {
		return c.Else
	}
	if slices.Equal(c.Whens, e.Whens) && c.Else == e.Else {
		return e
	}
	return c
}

func (s simplifier) coalesce(e *scalar.Coalesce) scalar.Expr {
	var args []scalar.Expr
	for _, a := range e.Args {
		if d, ok := scalar.IsConst(a); ok && d.IsNull() {
			continue
		}
		args = append(args, a)
		if !s.nullable(a) {
			break
		}
	}
	switch {
	case len(args) == 0:
		return logical.Null(e.T)
	case len(args) == 1 && args[0].Type().Equal(e.T):
		return args[0]
	case len(args) == len(e.Args):
		return e
	}
	return &scalar.Coalesce{Args: args, T: e.T}
}

// not pushes a negation inwards; nil if it has to stay.
func (s simplifier) not(e scalar.Expr) scalar.Expr {
	switch e := e.(type) {
	case *scalar.Const:
		if e.Value.IsNull() {
			return e
		}
		return &scalar.Const{Value: vec.BoolOf(!e.Value.Bool()), T: types.TBool}
	case *scalar.And:
		return s.step(&scalar.Or{Args: s.notAll(e.Args)})
	case *scalar.Or:
		return s.step(&scalar.And{Args: s.notAll(e.Args)})
	case *scalar.Call:
		if inner, ok := logical.Negated(e); ok {
			return inner
		}
		return logical.Opposite(e)
	case *scalar.Case:
		c := &scalar.Case{Else: s.negation(e.Else), T: e.T}
		for _, w := range e.Whens {
			c.Whens = append(c.Whens, scalar.When{Cond: w.Cond, Then: s.negation(w.Then)})
		}
		return c
	}
	return nil
}

func (s simplifier) notAll(es []scalar.Expr) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = s.negation(e)
	}
	return out
}

func (s simplifier) negation(e scalar.Expr) scalar.Expr {
	if r := s.not(e); r != nil {
		return r
	}
	return logical.Not(e)
}

// truth simplifies a condition of which only whether it is true matters.
func (s simplifier) truth(e scalar.Expr) scalar.Expr {
	switch e := e.(type) {
	case *scalar.Const:
		if e.Value.IsNull() {
			return scalar.False
		}
	case *scalar.And:
		if logical.AnyFails(e.Args) {
			return e // as in conditions
		}
		args := s.truths(e.Args)
		if slices.Equal(args, e.Args) {
			return e
		}
		return s.step(&scalar.And{Args: args})
	case *scalar.Or:
		args := s.truths(e.Args)
		if slices.Equal(args, e.Args) {
			return e
		}
		return s.step(&scalar.Or{Args: args})
	case *scalar.In:
		if e.HasNull {
			return &scalar.In{Arg: e.Arg, Set: e.Set}
		}
	case *scalar.Case:
		return s.caseTruth(e)
	case *scalar.Coalesce:
		return s.coalesceTruth(e)
	}
	return e
}

func (s simplifier) truths(es []scalar.Expr) []scalar.Expr {
	out := make([]scalar.Expr, len(es))
	for i, e := range es {
		out[i] = s.truth(e)
	}
	return out
}

// caseTruth: CASE WHEN a THEN true WHEN … THEN (not true) … is a; CASE WHEN a THEN (not true) ELSE b … is
// b, and a is not true.
func (s simplifier) caseTruth(e *scalar.Case) scalar.Expr {
	c := &scalar.Case{Else: s.truth(e.Else), T: e.T}
	for _, w := range e.Whens {
		c.Whens = append(c.Whens, scalar.When{Cond: w.Cond, Then: s.truth(w.Then)})
	}
	for len(c.Whens) > 0 && logical.NeverTrue(c.Else) && logical.NeverTrue(c.Whens[len(c.Whens)-1].Then) &&
		!scalar.CanFail(c.Whens[len(c.Whens)-1].Cond) {
		c.Whens = c.Whens[:len(c.Whens)-1]
	}
	if len(c.Whens) == 0 {
		return c.Else
	}
	first := c.Whens[0]
	if len(c.Whens) == 1 && logical.IsTrue(first.Then) && logical.NeverTrue(c.Else) {
		return first.Cond
	}
	if logical.NeverTrue(first.Then) && !s.nullable(first.Cond) && !scalar.CanFail(first.Cond) {
		rest := c.Else
		if len(c.Whens) > 1 {
			rest = s.caseTruth(&scalar.Case{Whens: c.Whens[1:], Else: c.Else, T: c.T})
		}
		return s.step(&scalar.And{Args: []scalar.Expr{s.negation(first.Cond), rest}})
	}
	if slices.Equal(c.Whens, e.Whens) && c.Else == e.Else {
		return e
	}
	return c
}

// coalesceTruth: COALESCE(a, false) is true where a is.
func (s simplifier) coalesceTruth(e *scalar.Coalesce) scalar.Expr {
	if len(e.Args) == 2 && logical.NeverTrue(e.Args[1]) {
		return s.truth(e.Args[0])
	}
	return e
}
