package session

import (
	"strings"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// planner plans one statement against one snapshot.
type planner struct {
	s        *Session
	snapshot *catalog.Snapshot
	env      *env
	args     *arguments
	// params are the types of the parameters, as far as they are known.
	params []types.T
	// open: the statement is only described yet, so it may name parameters that have no values.
	open bool
}

// newPlanner makes a planner for a statement with arguments, or without any.
func (s *Session) newPlanner(stmt *statement, args *arguments) *planner {
	snapshot := s.catalog()
	p := &planner{s: s, snapshot: snapshot, env: s.newEnv(stmt, snapshot), args: args}
	if args != nil {
		p.params = args.types
	}
	return p
}

// bindEnv is what the binder needs.
func (p *planner) bindEnv() *bind.Env {
	// The binder may write to the list of parameters.
	params := append([]types.T(nil), p.params...)
	return &bind.Env{Catalog: p.snapshot, Path: p.env.answers.Path, Scalar: p.env, Params: params,
		NoParams: p.args == nil && !p.open, Show: p.showQuery}
}

// values are the arguments' values.
func (p *planner) values() []vec.Datum {
	if p.args == nil {
		return nil
	}
	return p.args.values
}

// cluster is where the statement runs.
func (p *planner) cluster() (*catalog.Cluster, error) { return p.s.cluster(p.snapshot, "") }

// planned is a query that is ready to run: one of rows, lookup and dataflow is set.
type planned struct {
	cols      []Column
	rows      *vec.Block
	lookup    *plan.Lookup
	dataflow  *plan.Dataflow
	finishing plan.Finishing
	// ids are the collections to be held while it is read; cluster where it runs.
	ids     []tvc.ID
	cluster tvc.ID
}

// columnsOf describes a result.
func columnsOf(r types.Rel) []Column {
	cols := make([]Column, len(r.Cols))
	for i, c := range r.Cols {
		cols[i] = Column{c.Name, c.Type}
	}
	return cols
}

// query plans a query that bindQuery binds.
func (p *planner) query(bindQuery func(e *bind.Env) (*bind.Query, error)) (*planned, *bind.Query, error) {
	cluster, clusterErr := p.cluster()
	e := p.bindEnv()
	indexed := cluster
	if clusterErr != nil || p.s.tx.kind == txnWriting {
		indexed = nil // what is indexed lacks what the transaction has written itself
	}
	if indexed != nil {
		// A view with an index in this cluster may be answered from it.
		e.Stored = func(it *catalog.Item) bool { return len(p.indexes(it.ID, indexed)) > 0 }
	}
	bound, err := bindQuery(e)
	if err != nil {
		return nil, nil, err
	}
	if bound, err = bound.WithParams(p.values()); err != nil {
		return nil, nil, err
	}
	if p.args != nil && p.args.said && !sameColumns(columnsOf(bound.Rel), p.args.cols) {
		return nil, nil, pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
	}
	r, err := p.bound(bound, indexed)
	if err != nil {
		return nil, nil, err
	}
	if r == nil {
		// No index answers it by itself: views are what they are defined as.
		e.Stored = nil
		if bound, err = bindQuery(e); err != nil {
			return nil, nil, err
		}
		if bound, err = bound.WithParams(p.values()); err != nil {
			return nil, nil, err
		}
		if r, err = p.bound(bound, nil); err != nil {
			return nil, nil, err
		}
	}
	if len(r.ids) > 0 {
		if clusterErr != nil {
			return nil, nil, clusterErr
		}
		r.cluster = cluster.ID
	}
	return r, bound, nil
}

func sameColumns(a, b []Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !a[i].Type.Equal(b[i].Type) {
			return false
		}
	}
	return true
}

// bound plans a bound query. With a cluster it is tried whether one of its indexes answers it; nil then means that
// the query reads a view as if it were stored, and no index does.
func (p *planner) bound(q *bind.Query, cluster *catalog.Cluster) (*planned, error) {
	root, err := p.rewritten(q.Root)
	if err != nil {
		return nil, err
	}
	r := &planned{cols: columnsOf(q.Rel)}
	if r.finishing, err = q.Finishing(p.env); err != nil {
		return nil, err
	}
	if c, ok := root.(*logical.Constant); ok && len(q.Order) == 0 && q.Limit == nil && q.Offset == nil {
		r.rows = projected(c.Rows, r.finishing.Project)
		return r, nil
	}
	if cluster != nil {
		lk, ok := lower.Lookup(root, func(id tvc.ID) []lower.Index { return p.indexes(id, cluster) })
		if ok {
			r.lookup, r.ids = lk, []tvc.ID{lk.Index}
			return r, nil
		}
		if p.readsView(root) {
			return nil, nil
		}
	}
	df, err := lower.Dataflow("query", root, p.env)
	if err != nil {
		return nil, err
	}
	r.dataflow = p.inline(df)
	r.ids = r.dataflow.Imports()
	return r, nil
}

// rewritten makes a tree better, and the env ready for what it asks.
func (p *planner) rewritten(root logical.Node) (logical.Node, error) {
	root, err := rewrite.Tree(root, rewrite.Options{Env: p.env})
	if err == nil && asksSettings(root) {
		p.s.needSettings(p.env)
	}
	return root, err
}

// asksSettings says whether a tree calls current_setting, which takes more of the session than other functions do.
func asksSettings(root logical.Node) bool {
	found := false
	logical.Walk(root, func(n logical.Node) bool {
		for _, e := range logical.Exprs(n) {
			scalar.Walk(e, func(e scalar.Expr) bool {
				if c, ok := e.(*scalar.Call); ok && c.Func.Name == "current_setting" {
					found = true
				}
				return !found
			})
		}
		return !found
	})
	return found
}

// readsView says whether a tree reads a view as if it were stored.
func (p *planner) readsView(root logical.Node) bool {
	found := false
	logical.Walk(root, func(n logical.Node) bool {
		if get, ok := n.(*logical.Get); ok {
			if it := p.snapshot.Item(get.ID); it != nil && it.Kind == catalog.View {
				found = true
			}
		}
		return !found
	})
	return found
}

// indexes lists the indexes on a relation that a cluster has. One whose key cannot be bound is left out: it is only
// an index.
func (p *planner) indexes(id tvc.ID, cluster *catalog.Cluster) []lower.Index {
	var list []lower.Index
	for it := range p.snapshot.IndexesOn(id) {
		if it.Cluster != cluster.ID {
			continue
		}
		if ix, _, err := bind.Index(&bind.Env{Catalog: p.snapshot}, it); err == nil {
			list = append(list, ix)
		}
	}
	return list
}

// projected picks columns of a block.
func projected(b *vec.Block, cols []int) *vec.Block {
	out := &vec.Block{Len: b.Len, Cols: make([]vec.Vec, len(cols)), Diffs: b.Diffs}
	for i, c := range cols {
		out.Cols[i] = b.Cols[c]
	}
	return out
}

// inline puts the rows of system relations into a dataflow.
func (p *planner) inline(df *plan.Dataflow) *plan.Dataflow {
	return p.s.m.System.Inline(df, &builtin.Input{Catalog: p.snapshot, Database: p.env.answers.Path.Database,
		Settings: p.s.allSettings, Sessions: p.s.m.activity, Prepared: p.s.preparedList, Cursors: p.s.cursorList,
		Sink: p.s.m.Coord.SinkStatistics})
}

// dataflow plans a tree that is no query of its own.
func (p *planner) dataflow(name string, root logical.Node) (*plan.Dataflow, error) {
	df, err := p.uninlined(name, root)
	if err != nil {
		return nil, err
	}
	return p.inline(df), nil
}

// uninlined plans a dataflow that still reads system relations as if they were stored.
func (p *planner) uninlined(name string, root logical.Node) (*plan.Dataflow, error) {
	root, err := p.rewritten(root)
	if err != nil {
		return nil, err
	}
	return lower.Dataflow(name, root, p.env)
}

// describe says what a statement takes and gives. params are the types that the client gave for its parameters.
func (s *Session) describe(st ast.Statement, params []types.T) ([]types.T, []Column, error) {
	p := s.newPlanner(&statement{at: s.m.Now(), ast: st}, nil)
	p.params, p.open = params, true
	e := p.bindEnv()
	cols, err := p.describe(e, st)
	return e.Params, cols, err
}

func (p *planner) describe(e *bind.Env, st ast.Statement) ([]Column, error) {
	switch st := st.(type) {
	case *ast.Query:
		q, err := bind.Select(e, st)
		if err != nil {
			return nil, err
		}
		return columnsOf(q.Rel), nil
	case *ast.Insert, *ast.Update, *ast.Delete:
		w, err := bindWrite(e, st)
		if err != nil || w.Returning == nil {
			return nil, err
		}
		return columnsOf(*w.Returning), nil
	case *ast.Subscribe:
		sub, err := bind.Subscribe(e, st)
		if err != nil {
			return nil, err
		}
		return subscriptionColumns(sub), nil
	case *ast.ShowObjects:
		q, err := p.showQuery(st)
		if err != nil {
			return nil, err
		}
		return p.describe(e, q)
	case *ast.ShowVar:
		return p.s.showColumns(st)
	case *ast.ShowCreate:
		return showCreateColumns(), nil
	case *ast.Explain:
		return explainColumns(st), nil
	case *ast.Fetch:
		if c := p.s.cursors[st.Name]; c != nil {
			return c.cols, nil
		}
		return nil, noCursor(st.Name)
	case *ast.Execute:
		of, err := p.s.statement(st.Name)
		if err != nil {
			return nil, err
		}
		return of.cols, nil
	}
	return nil, nil
}

// resolveType gives a type by its name.
func (s *Session) resolveType(t *ast.TypeName) (types.T, error) {
	return bind.TypeOf(&bind.Env{Catalog: s.catalog(), Path: s.path()}, t)
}

// constant computes an expression without columns.
func (s *Session) constant(stmt *statement, e ast.Expr, want types.T) (vec.Datum, error) {
	p := s.newPlanner(stmt, nil)
	s.needSettings(p.env)
	return bind.Constant(p.bindEnv(), e, want)
}

// lowered is a name as it is compared regardless of case.
func lowered(name string) string { return strings.ToLower(name) }
