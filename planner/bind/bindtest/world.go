// Package bindtest is a catalog with contents, on which statements are bound, rewritten, lowered and evaluated
// dumbly. It is for the tests of the planner's rooms.
package bindtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/logical/logicaltest"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// World is a catalog with contents, on which statements are run by the dumb evaluators.
type World struct {
	t testing.TB
	// Snapshot is the catalog, and Contents what its tables hold.
	Snapshot *catalog.Snapshot
	Contents map[tvc.ID]plantest.Rows
	// Sizes are how many rows relations are said to have, by name.
	Sizes map[string]int64
}

// New is an empty world.
func New(t testing.TB) *World {
	snap, _ := catalog.New(builtin.New().System(), 1)
	return &World{t: t, Snapshot: snap, Contents: map[tvc.ID]plantest.Rows{}, Sizes: map[string]int64{}}
}

// Env is what a session has.
func (w *World) Env() *bind.Env {
	return &bind.Env{
		Catalog: w.Snapshot, Path: catalog.Path{Database: "materialize", Search: []string{"public"}}, Scalar: Session{},
		Rows: func(it *catalog.Item) int64 { return w.Sizes[it.Name] },
	}
}

// Session answers what a statement asks, the same every time.
type Session struct{}

func (Session) Ask(q scalar.Question, arg vec.Datum) (vec.Datum, error) {
	switch q {
	case scalar.AskNow, scalar.AskStatementTime, scalar.AskClock:
		return vec.IntOf(700000000000000), nil
	case scalar.AskCurrentUser, scalar.AskSessionUser:
		return vec.StrOf("someone"), nil
	case scalar.AskCurrentDatabase:
		return vec.StrOf("materialize"), nil
	case scalar.AskCurrentSchema:
		return vec.StrOf("public"), nil
	case scalar.AskRelVisible, scalar.AskTypeVisible, scalar.AskProcVisible, scalar.AskOperVisible:
		return vec.BoolOf(true), nil
	}
	return vec.Null, nil
}

// Exec runs statements that make or fill things.
func (w *World) Exec(sql string) {
	w.t.Helper()
	list, err := parser.Parse(sql)
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	for _, s := range list {
		if err := w.run(s.AST); err != nil {
			w.t.Fatalf("%s: %v", s.Text, err)
		}
	}
}

// Try runs one statement of any kind, a query only as far as to bind it, and gives its error.
func (w *World) Try(sql string) error {
	w.t.Helper()
	list, err := parser.Parse(sql)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		w.t.Fatalf("%d statements: %s", len(list), sql)
	}
	if _, ok := list[0].AST.(*ast.Query); ok {
		_, err := w.Query(sql)
		return err
	}
	return w.run(list[0].AST)
}

func (w *World) run(s ast.Statement) error {
	switch s := s.(type) {
	case *ast.CreateSchema:
		db, err := w.Snapshot.ResolveDatabase("materialize")
		if err == nil {
			w.apply(&catalog.CreateSchema{Database: db.ID, Name: s.Name.Object()})
		}
		return err
	case *ast.Insert, *ast.Update, *ast.Delete:
		if a := w.Write(s); a.Err != nil {
			return a.Err
		}
		return nil
	}
	it, err := w.item(s)
	if err != nil {
		return err
	}
	return w.add(it)
}

// item binds a CREATE.
func (w *World) item(s ast.Statement) (*catalog.Item, error) {
	switch s := s.(type) {
	case *ast.CreateTable:
		return bind.CreateTable(w.Env(), s)
	case *ast.CreateView:
		return bind.CreateView(w.Env(), s)
	case *ast.CreateMaterializedView:
		return bind.CreateMaterializedView(w.Env(), s)
	case *ast.CreateIndex:
		return bind.CreateIndex(w.Env(), s)
	}
	return nil, fmt.Errorf("no way to run a %T", s)
}

// add makes an item.
func (w *World) add(it *catalog.Item) error {
	if (it.Kind == catalog.Index || it.Kind == catalog.MaterializedView) && it.Cluster == (tvc.ID{}) {
		it.Cluster = w.Snapshot.ClusterNamed("quickstart").ID
	}
	id := w.Snapshot.NextID(0)
	next, _, err := w.Snapshot.Apply([]catalog.Op{&catalog.CreateItem{Item: *it}})
	if err != nil {
		return err
	}
	w.Snapshot = next
	w.Contents[id] = plantest.Rows{}
	return nil
}

func (w *World) apply(op catalog.Op) {
	w.t.Helper()
	next, _, err := w.Snapshot.Apply([]catalog.Op{op})
	if err != nil {
		w.t.Fatalf("%#v: %v", op, err)
	}
	w.Snapshot = next
}

// Write runs an INSERT, UPDATE or DELETE. The answer is what it returns; a row "n rows" is last.
func (w *World) Write(s ast.Statement) Answer {
	b, err := bindWrite(w.Env(), s)
	if err != nil {
		return Failed(err)
	}
	table := w.Contents[b.Table.ID]
	if b.Root == nil {
		table.AddBlock(b.Rows)
		return Answer{Rows: []string{fmt.Sprintf("%d rows", b.Rows.Len)}}
	}
	rows, err := logicaltest.Eval(b.Root, w.Contents, Session{})
	if err != nil {
		return Failed(err)
	}
	var out Answer
	m := len(b.Table.Rel.Cols)
	n := int64(0)
	changed := plantest.Rows{}
	for _, r := range rows.Sorted() {
		n += r.Count
		rest := r.Data
		if b.Kind != bind.InsertRows {
			changed.Add(rest[:m], -r.Count)
			rest = rest[m:]
		}
		if b.Kind == bind.UpdateRows || b.Kind == bind.InsertRows {
			if err := bind.NotNull(b.Table, blockOf(b.Table.Rel, rest[:m]), 0); err != nil {
				return Failed(err)
			}
			changed.Add(rest[:m], r.Count)
			rest = rest[m:]
		} else {
			rest = r.Data[m:]
		}
		if b.Returning == nil {
			continue
		}
		parts := make([]string, len(rest))
		for i, d := range rest {
			parts[i] = show(d, b.Returning.Cols[i].Type)
		}
		for range r.Count {
			out.Rows = append(out.Rows, strings.Join(parts, "|"))
		}
	}
	for _, r := range changed {
		table.Add(r.Data, r.Count)
	}
	out.Rows = append(out.Rows, fmt.Sprintf("%d rows", n))
	return out
}

func blockOf(r types.Rel, row []vec.Datum) *vec.Block {
	b := vec.NewBlock(r.Kinds(), 1)
	b.AppendRow(1, row...)
	return b
}

func bindWrite(env *bind.Env, s ast.Statement) (*bind.Write, error) {
	switch s := s.(type) {
	case *ast.Insert:
		return bind.Insert(env, s)
	case *ast.Update:
		return bind.Update(env, s)
	case *ast.Delete:
		return bind.Delete(env, s)
	}
	return nil, fmt.Errorf("%T does not write", s)
}

// Query binds a query.
func (w *World) Query(sql string, params ...types.T) (*bind.Query, error) {
	list, err := parser.Parse(sql)
	if err != nil {
		return nil, err
	}
	q, ok := list[0].AST.(*ast.Query)
	if !ok {
		return nil, fmt.Errorf("%T is no query", list[0].AST)
	}
	env := w.Env()
	env.Params = params
	return bind.Select(env, q)
}

// Answer is a query's result: rows as text, in order, or an error.
type Answer struct {
	Rows []string
	Err  *pgerr.Error
}

func (a Answer) String() string {
	if a.Err != nil {
		return "ERROR " + string(a.Err.Code) + " " + a.Err.Message
	}
	return strings.Join(a.Rows, "\n")
}

// Failed is an error as an answer.
func Failed(err error) Answer { return Answer{Err: pgerr.From(err)} }

// Reference evaluates the bound tree as it is.
func (w *World) Reference(q *bind.Query) Answer {
	rows, err := logicaltest.Eval(q.Root, w.Contents, Session{})
	if err != nil {
		return Failed(err)
	}
	return w.finish(q, rows)
}

// Planned rewrites, lowers and evaluates the plan.
func (w *World) Planned(q *bind.Query, opts rewrite.Options) Answer {
	opts.Env = Session{}
	n, err := rewrite.Tree(q.Root, opts)
	if err != nil {
		return Failed(err)
	}
	df, err := lower.Dataflow("query", n, Session{})
	if err != nil {
		return Failed(err)
	}
	if err := checkPlan(df); err != nil {
		return Failed(fmt.Errorf("%w in\n%s\nof\n%s", err, df, logical.Format(n)))
	}
	r := plantest.Eval(df, w.Contents, Session{})
	if len(r.Errs) > 0 {
		return Failed(pgerr.Decode([]byte(r.Errs[0])))
	}
	return w.finish(q, r.Rows)
}

// CheckRels says whether what the operators of a query say of NULLs and keys is true, as it is bound and as it is
// rewritten.
func (w *World) CheckRels(q *bind.Query) error {
	if err := logicaltest.Check(q.Root, w.Contents, Session{}); err != nil {
		return err
	}
	n, err := rewrite.Tree(q.Root, rewrite.Options{Env: Session{}})
	if err != nil {
		return nil // a query that cannot be rewritten says so when it is run
	}
	return logicaltest.Check(n, w.Contents, Session{})
}

// finish sorts, cuts and prints.
func (w *World) finish(q *bind.Query, rows plantest.Rows) Answer {
	f, err := q.Finishing(Session{})
	if err != nil {
		return Failed(err)
	}
	var all [][]vec.Datum
	for _, r := range rows.Sorted() {
		if r.Count < 0 {
			return Failed(fmt.Errorf("a row counts %d times", r.Count))
		}
		for range r.Count {
			all = append(all, r.Data)
		}
	}
	slices.SortStableFunc(all, func(a, b []vec.Datum) int {
		for _, o := range f.Order {
			if c := compareBy(a[o.Col], b[o.Col], o); c != 0 {
				return c
			}
		}
		return 0
	})
	if f.Offset > 0 {
		all = all[min(int(f.Offset), len(all)):]
	}
	if f.Limit >= 0 {
		all = all[:min(int(f.Limit), len(all))]
	}
	var out Answer
	for _, r := range all {
		parts := make([]string, len(f.Project))
		for i, c := range f.Project {
			parts[i] = show(r[c], q.Rel.Cols[i].Type)
		}
		out.Rows = append(out.Rows, strings.Join(parts, "|"))
	}
	return out
}

func compareBy(a, b vec.Datum, o plan.Order) int {
	if a.IsNull() || b.IsNull() {
		switch {
		case a.IsNull() && b.IsNull():
			return 0
		case a.IsNull() == o.NullsFirst:
			return -1
		}
		return 1
	}
	if o.Desc {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// show prints a value as a client sees it.
func show(d vec.Datum, t types.T) string {
	if d.IsNull() {
		return "NULL"
	}
	if t.OID == types.OIDBool {
		return map[bool]string{true: "t", false: "f"}[d.Bool()]
	}
	if t.OID == types.OIDRegtype {
		return types.Of(types.OID(d.Int())).String()
	}
	return string(row.AppendTextDatum(nil, t, d))
}

// checkPlan holds a plan against what package plan asks of its maker.
func checkPlan(df *plan.Dataflow) error {
	for id, n := range df.Nodes {
		for _, in := range n.Inputs {
			if int(in) >= id {
				return fmt.Errorf("node %d reads node %d", id, in)
			}
		}
		kinds := func(i int) []types.Kind { return df.Nodes[n.Inputs[i]].Kinds() }
		switch op := n.Op.(type) {
		case *plan.Join:
			var all []types.Kind
			all = append(all, kinds(0)...)
			for i, s := range op.Stages {
				right := kinds(i + 1)
				for k := range s.Left {
					if s.Left[k] >= len(all) || all[s.Left[k]] != right[s.Right[k]] {
						return fmt.Errorf("node %d, stage %d: key %d joins different kinds", id, i, k)
					}
				}
				all = append(all, right...)
			}
			for i, o := range op.Out {
				if all[o] != n.Cols[i].Kind() {
					return fmt.Errorf("node %d: column %d has another kind", id, i)
				}
			}
		case *plan.Union:
			for i := range n.Inputs {
				if !slices.Equal(kinds(i), n.Kinds()) {
					return fmt.Errorf("node %d: branch %d has other kinds", id, i)
				}
			}
		case *plan.MFP:
			if op.Arity != len(kinds(0)) {
				return fmt.Errorf("node %d: MFP of %d columns on %d", id, op.Arity, len(kinds(0)))
			}
			cols := make([]types.T, op.Arity)
			copy(cols, df.Nodes[n.Inputs[0]].Cols)
			if _, err := scalar.Compile(op.MFP, cols, Session{}); err != nil {
				return fmt.Errorf("node %d: %w", id, err)
			}
		}
	}
	return nil
}

// Sorted is rows in one order.
func Sorted(rows []string) []string {
	out := slices.Clone(rows)
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
