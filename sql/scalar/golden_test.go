package scalar

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// goldenCols are the columns of the expressions in testdata: a, b and c are int8, s and u text, f float8, p bool.
var goldenCols = []struct {
	name     string
	t        types.T
	nullable bool
}{
	{"a", types.TInt8, false}, {"b", types.TInt8, true}, {"s", types.TText, false}, {"u", types.TText, true}, {"f", types.TFloat8, false},
	{"p", types.TBool, true},
}

// reader reads expressions: column names, numbers, 'texts', true, false, null (of type int8), $1, and
// (function argument …), where and, or, case, coalesce, isnull and in are what they say.
type reader struct{ rest string }

func (r *reader) next() string {
	r.rest = strings.TrimLeft(r.rest, " \n")
	if r.rest == "" {
		return ""
	}
	end := 1
	switch {
	case r.rest[0] == '\'':
		end = strings.IndexByte(r.rest[1:], '\'') + 2
	case r.rest[0] != '(' && r.rest[0] != ')':
		if end = strings.IndexAny(r.rest, " ()\n"); end < 0 {
			end = len(r.rest)
		}
	}
	word := r.rest[:end]
	r.rest = r.rest[end:]
	return word
}

func (r *reader) expr() Expr {
	word := r.next()
	if word != "(" {
		return atom(word)
	}
	name := r.next()
	var args []Expr
	for strings.TrimLeft(r.rest, " \n")[0] != ')' {
		args = append(args, r.expr())
	}
	r.next()
	return compound(name, args)
}

func atom(word string) Expr {
	for i, c := range goldenCols {
		if c.name == word {
			return &Col{Index: i, T: c.t}
		}
	}
	switch {
	case word == "true":
		return True
	case word == "false":
		return False
	case word == "null":
		return &Const{T: types.TInt8}
	case word[0] == '\'':
		return &Const{Value: vec.StrOf(word[1 : len(word)-1]), T: types.TText}
	case word[0] == '$':
		return &Param{Index: int(word[1] - '1'), T: types.TInt8}
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		panic(err)
	}
	return num(n)
}

func compound(name string, args []Expr) Expr {
	switch name {
	case "and":
		return &And{args}
	case "or":
		return &Or{args}
	case "case":
		c := &Case{Else: args[len(args)-1], T: args[1].Type()}
		for i := 0; i+1 < len(args); i += 2 {
			c.Whens = append(c.Whens, When{args[i], args[i+1]})
		}
		return c
	case "coalesce":
		return &Coalesce{Args: args, T: args[0].Type()}
	case "isnull":
		return &IsNull{args[0]}
	case "in":
		var values []vec.Datum
		for _, a := range args[1:] {
			d, _ := IsConst(a)
			values = append(values, d)
		}
		return InOf(args[0], values...)
	}
	for _, f := range testFuncs {
		if f.Name == name && f.Args[0].OID == args[0].Type().OID {
			return &Call{Func: f, Args: args, T: f.Ret}
		}
	}
	panic("no function " + name)
}

func TestGolden(t *testing.T) {
	names := make([]string, len(goldenCols))
	for i, c := range goldenCols {
		names[i] = c.name
	}
	nullable := func(c int) bool { return goldenCols[c].nullable }
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				e := (&reader{line}).expr()
				switch d.Cmd {
				case "print":
					fmt.Fprintf(&out, "%s | %s\n", String(e), Format(e, names))
				case "fold":
					fmt.Fprintln(&out, Format(Fold(e, Immutable, nil), names))
				case "infer":
					fmt.Fprintf(&out, "%s: nullable %v, can fail %v, columns %v\n", Format(e, names), Nullable(e, nullable), CanFail(e),
						Columns(e))
				case "eval":
					v, err := Eval(e, nil, nil)
					if err != nil {
						fmt.Fprintln(&out, err)
					} else {
						fmt.Fprintln(&out, v.GoString())
					}
				default:
					t.Fatalf("unknown command %s", d.Cmd)
				}
			}
			return out.String()
		})
	})
}

func TestSubstituteParams(t *testing.T) {
	e := compound("+", []Expr{atom("a"), &Param{Index: 1, T: types.TInt8}})
	got, err := SubstParams(e, []vec.Datum{vec.Null, vec.IntOf(7)})
	if err != nil || String(got) != "(#0 + 7)" {
		t.Errorf("%s, %v", String(got), err)
	}
	if _, err := SubstParams(e, nil); err == nil {
		t.Error("a parameter without a value is no error")
	}
}

func TestEqualIsStructural(t *testing.T) {
	m := &maker{in: []types.T{types.TInt8, types.TText, types.TBool}}
	var exprs []Expr
	for seed := range 300 {
		m.Rand = rand.New(rand.NewPCG(uint64(seed), 1))
		e := m.expr(testTypes[seed%4], 3)
		copied := Rewrite(e, func(e Expr) Expr {
			if c, ok := e.(*Col); ok {
				return &Col{Index: c.Index, T: c.T}
			}
			return e
		})
		if !Equal(e, copied) {
			t.Errorf("%s is not equal to its copy", String(e))
		}
		exprs = append(exprs, e)
	}
	for i, a := range exprs {
		for _, b := range exprs[:i] {
			same := String(a) == String(b) && a.Type().Equal(b.Type())
			if Equal(a, b) && !same {
				t.Errorf("%s equals %s", String(a), String(b))
			}
		}
	}
}
