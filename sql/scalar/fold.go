package scalar

import "github.com/tributary-db/tributary/sql/vec"

// Fold evaluates what is constant in e, and drops what can never matter: branches not taken, conjuncts that are
// true. What fails is kept as it is, so that it fails for each row for which it counts, and for no other. A
// function that depends on more than its arguments is folded only if it is at most as dependent as upTo says
// (env answers it then).
func Fold(e Expr, upTo Volatility, env Env) Expr {
	return Rewrite(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *Call:
			return foldCall(e, upTo, env)
		case *And:
			return foldConnective(e, e.Args, false)
		case *Or:
			return foldConnective(e, e.Args, true)
		case *Case:
			return foldCase(e)
		case *Coalesce:
			return foldCoalesce(e)
		case *IsNull, *In:
			if _, ok := IsConst(Children(e)[0]); ok {
				return evaluated(e, env)
			}
		}
		return e
	})
}

// evaluated is e's value; e itself if it fails.
func evaluated(e Expr, env Env) Expr {
	v, err := Eval(e, nil, env)
	if err != nil {
		return e
	}
	return &Const{Value: v.Clone(), T: e.Type()}
}

func foldCall(e *Call, upTo Volatility, env Env) Expr {
	constant, null, fails := true, false, false
	for _, a := range e.Args {
		v, ok := IsConst(a)
		constant = constant && ok
		null = null || ok && v.IsNull()
		fails = fails || CanFail(a)
	}
	switch {
	case e.Func.Strict && null && !fails:
		return &Const{Value: vec.Null, T: e.T}
	case constant && e.Func.Volatility <= upTo:
		return evaluated(e, env)
	}
	return e
}

// foldConnective folds an And, which false decides, or an Or.
func foldConnective(e Expr, args []Expr, decided bool) Expr {
	var left []Expr
	null := false
	for _, a := range args {
		v, ok := IsConst(a)
		switch {
		case !ok:
			left = append(left, a)
		case v.IsNull():
			null = true
		case v.Bool() == decided:
			return a
		}
	}
	if null {
		// NULL is decided by any other argument or beaten by its error, so one is kept.
		left = append(left, &Const{Value: vec.Null, T: e.Type()})
	}
	switch {
	case len(left) == 0:
		return &Const{Value: vec.BoolOf(!decided), T: e.Type()}
	case len(left) == 1:
		return left[0]
	case len(left) == len(args):
		return e
	}
	return WithChildren(e, left)
}

func foldCase(e *Case) Expr {
	var whens []When
	for _, w := range e.Whens {
		v, ok := IsConst(w.Cond)
		switch {
		case !ok:
			whens = append(whens, w)
			continue
		case v.IsNull() || !v.Bool():
			continue
		case len(whens) == 0:
			return w.Then
		}
		return &Case{Whens: whens, Else: w.Then, T: e.T}
	}
	switch len(whens) {
	case 0:
		return e.Else
	case len(e.Whens):
		return e
	}
	return &Case{Whens: whens, Else: e.Else, T: e.T}
}

func foldCoalesce(e *Coalesce) Expr {
	var left []Expr
	for _, a := range e.Args {
		v, ok := IsConst(a)
		if ok && v.IsNull() {
			continue
		}
		left = append(left, a)
		if ok {
			break
		}
	}
	switch len(left) {
	case 0:
		return &Const{Value: vec.Null, T: e.T}
	case 1:
		return left[0]
	case len(e.Args):
		return e
	}
	return &Coalesce{Args: left, T: e.T}
}
