package session

import (
	"strings"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/ddl"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// explainColumns describes what EXPLAIN gives: one text, under the name of the stage.
func explainColumns(st *ast.Explain) []Column {
	return []Column{{stageName(st.Stage), types.TText}}
}

func stageName(stage string) string {
	switch stage {
	case "RAW":
		return "Raw Plan"
	case "DECORRELATED":
		return "Decorrelated Plan"
	case "LOCALLY OPTIMIZED":
		return "Locally Optimized Plan"
	case "OPTIMIZED":
		return "Optimized Plan"
	}
	return "Physical Plan"
}

// explain is EXPLAIN.
func (s *Session) explain(stmt *statement, st *ast.Explain, args *arguments) (*Result, error) {
	switch {
	case st.Kind != ast.ExplainPlan:
		return nil, pgerr.Unsupported("this form of EXPLAIN").At(st.Position())
	case st.Format != "" && !strings.HasSuffix(st.Format, "TEXT"):
		return nil, pgerr.Unsupported("EXPLAIN AS %s", st.Format).At(st.Position())
	}
	for _, o := range st.Options {
		if o.Name == "ANALYZE" {
			return nil, pgerr.Unsupported("EXPLAIN ANALYZE").At(o.Position())
		}
	}
	p := s.newPlanner(stmt, args.inner())
	text, err := p.explain(st)
	if err != nil {
		return nil, err
	}
	return &Result{Columns: explainColumns(st), rows: &blockReader{rows: textRows([]string{text})},
		tag: func(int64) string { return "EXPLAIN" }}, nil
}

func (p *planner) explain(st *ast.Explain) (string, error) {
	name, q, err := p.explained(st)
	if err != nil {
		return "", err
	}
	if st.Stage == "RAW" {
		return logical.Format(q.Tree()), nil
	}
	if st.Stage == "" || st.Stage == "PHYSICAL" {
		if sel, ok := st.Statement.(*ast.Query); ok {
			return p.explainQuery(sel)
		}
	}
	root, err := rewrite.Tree(q.Tree(), rewrite.Options{Env: p.env})
	if err != nil {
		return "", err
	}
	if st.Stage != "" && st.Stage != "PHYSICAL" {
		return logical.Format(root), nil
	}
	df, err := lower.Dataflow(name, root, p.env)
	if err != nil {
		return "", err
	}
	return df.String(), nil
}

// explained binds what is to be explained, and names it.
func (p *planner) explained(st *ast.Explain) (string, *bind.Query, error) {
	if st.Statement == nil {
		it, missing := ddl.Relation(p.snapshot, p.env.answers.Path, st.Object, st.Name)
		if missing != nil {
			return "", nil, missing.At(st.Name.Position())
		}
		if it.Kind == catalog.Index {
			it = p.snapshot.Item(it.On)
		}
		if it.Query.IsEmpty() {
			return "", nil, pgerr.Unsupported("EXPLAIN of a %s", it.Kind).At(st.Position())
		}
		q, err := bind.View(p.bindEnv(), it)
		return p.snapshot.FullName(it), q, err
	}
	var q *ast.Query
	switch in := st.Statement.(type) {
	case *ast.Query:
		q = in
	case *ast.CreateView:
		q = in.Query
	case *ast.CreateMaterializedView:
		q = in.Query
	case *ast.Subscribe:
		sub, err := bind.Subscribe(p.bindEnv(), in)
		if err != nil {
			return "", nil, err
		}
		return "subscribe", sub.Query, nil
	default:
		return "", nil, pgerr.Unsupported("EXPLAIN of this statement").At(st.Statement.Position())
	}
	bound, err := bind.Select(p.bindEnv(), q)
	if err == nil {
		bound, err = bound.WithParams(p.values())
	}
	return "query", bound, err
}

// explainQuery shows the plan that a query would run with, whether it is a dataflow, a lookup, or known rows.
func (p *planner) explainQuery(q *ast.Query) (string, error) {
	pl, bound, err := p.query(func(e *bind.Env) (*bind.Query, error) { return bind.Select(e, q) })
	if err != nil {
		return "", err
	}
	var text string
	switch {
	case pl.rows != nil:
		root, err := p.rewritten(bound.Root)
		if err != nil {
			return "", err
		}
		return logical.Format(root), nil
	case pl.lookup != nil:
		name := p.snapshot.FullName(p.snapshot.Item(pl.lookup.Index))
		_, how, _ := strings.Cut(pl.lookup.String(), pl.lookup.Index.String())
		text = "Lookup " + name + how + "\nUsed indexes: " + name + " (lookup)\n"
	default:
		text = pl.dataflow.String()
	}
	if f := pl.finishing.String(); f != "" {
		text += f
	}
	return text, nil
}
