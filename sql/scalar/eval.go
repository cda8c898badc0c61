package scalar

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Eval computes e for one row by walking the tree. It is for constants and single rows, and the reference that
// compiled programs are tested against. The result may borrow from the row.
func Eval(e Expr, row []vec.Datum, env Env) (vec.Datum, error) {
	switch e := e.(type) {
	case *Col:
		return row[e.Index], nil
	case *Outer:
		return vec.Null, pgerr.New(pgerr.InternalError, "evaluate: a column of an outer query is left")
	case *Param:
		return vec.Null, pgerr.Newf(pgerr.UndefinedParameter, "there is no parameter $%d", e.Index+1)
	case *Const:
		return e.Value, nil
	case *Call:
		return evalCall(e, row, env)
	case *And:
		return evalConnective(e.Args, row, env, false)
	case *Or:
		return evalConnective(e.Args, row, env, true)
	case *Case:
		for _, w := range e.Whens {
			c, err := Eval(w.Cond, row, env)
			if err != nil {
				return vec.Null, err
			}
			if !c.IsNull() && c.Bool() {
				return Eval(w.Then, row, env)
			}
		}
		return Eval(e.Else, row, env)
	case *Coalesce:
		for _, a := range e.Args {
			if v, err := Eval(a, row, env); err != nil || !v.IsNull() {
				return v, err
			}
		}
		return vec.Null, nil
	case *IsNull:
		v, err := Eval(e.Arg, row, env)
		return vec.BoolOf(v.IsNull()), err
	case *In:
		return evalIn(e, row, env)
	}
	panic(fmt.Sprintf("scalar: unknown expression %T", e))
}

func evalCall(e *Call, row []vec.Datum, env Env) (vec.Datum, error) {
	args := make([]vec.Datum, len(e.Args))
	for i, a := range e.Args {
		v, err := Eval(a, row, env)
		if err != nil {
			return vec.Null, err
		}
		args[i] = v
	}
	return e.Func.Apply(env, args, e.T.Kind())
}

// Apply calls f on one row's arguments; kind is that of the result.
func (f *Func) Apply(env Env, args []vec.Datum, kind types.Kind) (vec.Datum, error) {
	if f.Relabel {
		return args[0], nil
	}
	if f.Strict {
		for _, a := range args {
			if a.IsNull() {
				return vec.Null, nil
			}
		}
	}
	if f.Row != nil {
		v, err := f.Row(env, args)
		if err != nil {
			return vec.Null, pgerr.From(err)
		}
		return v, nil
	}
	vecs := make([]vec.Vec, len(args))
	b := Batch{Env: env, N: 1, Sel: everyRow[:1], Out: &vec.Vec{Kind: kind}}
	for i, a := range args {
		k := a.Kind()
		if a.IsNull() {
			k = f.Args[min(i, len(f.Args)-1)].Kind()
		}
		vecs[i] = vec.Repeat(a, k, 1)
		b.Args = append(b.Args, &vecs[i])
	}
	var failed error
	null := false
	b.Fail = func(_ int, err *pgerr.Error) { failed = err }
	b.Null = func(int) { null = true }
	size(b.Out, 1)
	f.Kernel(&b)
	if failed != nil || null {
		return vec.Null, failed
	}
	return b.Out.Datum(0), nil
}

func evalConnective(args []Expr, row []vec.Datum, env Env, decided bool) (vec.Datum, error) {
	var failed *pgerr.Error
	null := false
	for _, a := range args {
		v, err := Eval(a, row, env)
		switch {
		case err != nil:
			if err := pgerr.From(err); failed == nil || Less(err, failed) {
				failed = err
			}
		case v.IsNull():
			null = true
		case v.Bool() == decided:
			return v, nil
		}
	}
	switch {
	case failed != nil:
		return vec.Null, failed
	case null:
		return vec.Null, nil
	}
	return vec.BoolOf(!decided), nil
}

func evalIn(e *In, row []vec.Datum, env Env) (vec.Datum, error) {
	v, err := Eval(e.Arg, row, env)
	if err != nil || v.IsNull() {
		return vec.Null, err
	}
	for _, d := range e.Set {
		if d.Equal(v) {
			return vec.BoolOf(true), nil
		}
	}
	if e.HasNull {
		return vec.Null, nil
	}
	return vec.BoolOf(false), nil
}
