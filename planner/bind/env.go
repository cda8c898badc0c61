package bind

import (
	"errors"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Env is what a statement is bound in.
type Env struct {
	Catalog *catalog.Snapshot
	// Path is where names are looked up.
	Path catalog.Path
	// Scalar answers what literals and defaults may ask of the session; nil: they stay calls.
	Scalar scalar.Env
	// Params are the types of $1, $2, …: types.TUnknown where the client did not say. Binding grows the slice
	// to the highest parameter used and fills in what it infers.
	Params []types.T
	// NoParams says that there are no parameters: none may be named.
	NoParams bool
	// Stored says whether a view's rows are kept where the query runs, so that they are read as they are.
	// nil: no view's are.
	Stored func(*catalog.Item) bool
	// Rows says about how many rows a table or a view has that is read as it is; 0: unknown. nil: nothing is
	// known. Joins are ordered by it.
	Rows func(*catalog.Item) int64
	// Show gives the query that a SHOW in FROM stands for. nil: there is none.
	Show func(*ast.ShowObjects) (*ast.Query, error)
}

// maxDepth bounds how deep queries nest in one another, which the binder follows by recursion. The parser bounds
// what one text can do; this is for views on views.
const maxDepth = 2000

// binder binds one statement.
type binder struct {
	env *Env
	// path is where names are looked up: the session's, or none inside a view.
	path  catalog.Path
	depth int
	// lets counts the Lets made.
	lets int
	// views are the views bound so far, inlined how many nodes that took, and shared those that are named by a Let.
	views   map[tvc.ID]*inlinedView
	inlined int
	shared  []*inlinedView
	// pos has the places of columns in the text.
	pos map[scalar.Expr]ast.Pos
	// digits are those of numbers that numeric does not hold but a float may, and large the places of those that
	// are too large for numeric and that nothing has asked for as a float.
	digits map[scalar.Expr]string
	large  map[scalar.Expr]ast.Pos
	// noted has the table references and columns of a statement that is to be stored; nil: it is not.
	noted *notes
	// base is what the FROM being bound sees outside of its query.
	base *scope
	// ctes are the bindings of WITH that may be named.
	ctes *cte
}

func newBinder(env *Env) *binder {
	return &binder{env: env, path: env.Path, views: map[tvc.ID]*inlinedView{}, pos: map[scalar.Expr]ast.Pos{},
		digits: map[scalar.Expr]string{}, large: map[scalar.Expr]ast.Pos{}}
}

// at gives an error of the client's a position in his text, unless it has one.
func at(err error, pos ast.Pos) error {
	var e *pgerr.Error
	if errors.As(err, &e) {
		return e.At(pos.Position())
	}
	return err
}

// fail makes an error with a position.
func fail(pos ast.Pos, code pgerr.Code, format string, args ...any) *pgerr.Error {
	return pgerr.Newf(code, format, args...).At(pos.Position())
}

// unsupported names a feature that the surface does not have.
func unsupported(pos ast.Pos, format string, args ...any) *pgerr.Error {
	return pgerr.Unsupported(format, args...).At(pos.Position())
}

// posOf is where an expression begins: at the leftmost of its parts.
func posOf(e ast.Expr) ast.Pos { return leftmost(e, 0) }

// maxLeft bounds how many parts down the beginning of an expression is looked for, since that is done for every
// operator of a long chain. Past it an error points at an operator.
const maxLeft = 100

func leftmost(e ast.Expr, depth int) ast.Pos {
	if e == nil || depth > maxLeft {
		return 0
	}
	pos := ast.Pos(e.Position())
	var first ast.Expr
	switch e := e.(type) {
	case *ast.Binary:
		first = e.Left
	case *ast.And:
		first = e.Args[0]
	case *ast.Or:
		first = e.Args[0]
	case *ast.Is:
		first = e.Arg
	case *ast.IsDistinct:
		first = e.Left
	case *ast.Between:
		first = e.Arg
	case *ast.In:
		first = e.Arg
	case *ast.Like:
		first = e.Arg
	case *ast.Quantified:
		first = e.Left
	case *ast.Cast:
		first = e.Arg
	case *ast.Collate:
		first = e.Arg
	case *ast.Subscript:
		first = e.Arg
	case *ast.Field:
		first = e.Arg
	}
	if at := leftmost(first, depth+1); at != 0 && (pos == 0 || at < pos) {
		return at
	}
	return pos
}

// enter counts a level of nesting.
func (b *binder) enter() error {
	if b.depth++; b.depth > maxDepth {
		return pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return nil
}

func (b *binder) leave() { b.depth-- }

// newLet gives a fresh Let id.
func (b *binder) newLet() int {
	b.lets++
	return b.lets
}

// param gives parameter n, counted from 1, as far as its type is known.
func (b *binder) param(n int, pos ast.Pos) (scalar.Expr, error) {
	const most = 65535 // the protocol's own bound
	if n < 1 || n > most || b.env.NoParams {
		return nil, fail(pos, pgerr.UndefinedParameter, "there is no parameter $%d", n)
	}
	for len(b.env.Params) < n {
		b.env.Params = append(b.env.Params, types.TUnknown)
	}
	return &scalar.Param{Index: n - 1, T: b.env.Params[n-1]}, nil
}

// typed gives a parameter the type that its place asks for.
func (b *binder) typed(p *scalar.Param, t types.T, pos ast.Pos) (scalar.Expr, error) {
	have := &b.env.Params[p.Index]
	if have.OID == types.OIDUnknown {
		*have = types.Of(t.OID)
		have.Record = t.Record
	} else if have.OID != t.OID {
		return nil, fail(pos, pgerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", p.Index+1).
			WithDetail("%s versus %s", types.Of(have.OID), types.Of(t.OID))
	}
	return &scalar.Param{Index: p.Index, T: *have}, nil
}

// checkOpen refuses what nothing has settled: numbers that no type holds, and parameters without a type.
func (b *binder) checkOpen() error {
	if err := b.checkLarge(); err != nil {
		return err
	}
	for i, t := range b.env.Params {
		if t.OID == types.OIDUnknown {
			return pgerr.Newf(pgerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
		}
	}
	return nil
}

// checkLarge refuses the first number that is too large for what it is.
func (b *binder) checkLarge() error {
	var first scalar.Expr
	for e, pos := range b.large {
		if first == nil || pos < b.large[first] {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	_, err := fn.Literal(nil, types.TNumeric, b.digits[first])
	return at(err, b.large[first])
}

// Maintainable refuses a tree that cannot be kept up to date: what it computes depends on more than its
// inputs.
func Maintainable(n logical.Node) error {
	var err error
	logical.Walk(n, func(n logical.Node) bool {
		for _, e := range logical.Exprs(n) {
			scalar.Walk(e, func(e scalar.Expr) bool {
				if c, ok := e.(*scalar.Call); ok && err == nil && c.Func.Volatility != scalar.Immutable {
					err = pgerr.Newf(pgerr.FeatureNotSupported, "cannot materialize call to %s", c.Func.Name)
				}
				return err == nil
			})
		}
		return err == nil
	})
	return err
}
