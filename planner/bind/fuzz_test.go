package bind_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/bind/bindtest"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// FuzzStatements plans whatever parses: what a client can say makes nothing panic, and every refusal is an error for
// him, never an internal one.
func FuzzStatements(f *testing.F) {
	for _, file := range append(corpora(f, "queries"), "errors.sql", "writes.sql", "params.sql", "names.sql") {
		for _, s := range corpus(f, file) {
			f.Add(s.sql)
		}
	}
	w, _ := filled(f, "setup.sql")
	f.Fuzz(func(t *testing.T, sql string) { planAll(t, w, sql) })
}

// TestSplicedStatements plans what comes of putting parts of some statements into others: more of it gets through
// the parser than of what a fuzzer makes up.
func TestSplicedStatements(t *testing.T) {
	w, _ := filled(t, "setup.sql")
	var all, groups, words []string
	for _, file := range append(corpora(t, "queries"), "errors.sql", "writes.sql", "params.sql", "names.sql") {
		for _, s := range corpus(t, file) {
			all = append(all, s.sql)
			groups = append(groups, parenthesized(s.sql)...)
			words = append(words, strings.Fields(s.sql)...)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	one := func(of []string) string { return of[r.IntN(len(of))] }
	for range 20000 {
		sql := one(all)
		for range 1 + r.IntN(3) {
			if own := parenthesized(sql); own != nil && r.IntN(3) > 0 {
				sql = strings.Replace(sql, one(own), one(groups), 1)
			} else {
				sql = strings.Replace(sql, one(strings.Fields(sql)), one(words), 1)
			}
		}
		planAll(t, w, sql)
	}
}

// parenthesized gives every part of a text that is in parentheses, with them.
func parenthesized(s string) []string {
	var out []string
	var open []int
	for i, c := range s {
		switch {
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			out = append(out, s[open[len(open)-1]:i+1])
			open = open[:len(open)-1]
		}
	}
	return out
}

// planAll plans the statements of a text, if it is one.
func planAll(t *testing.T, w *bindtest.World, sql string) {
	list, err := parser.Parse(sql)
	if err != nil {
		return
	}
	for _, s := range list {
		n, err := bindAny(w, s.AST)
		if err == nil && n != nil {
			logical.Format(n)
			if n, err = rewrite.Tree(n, rewrite.Options{Env: bindtest.Session{}}); err == nil {
				_, err = lower.Dataflow("fuzz", n, bindtest.Session{})
			}
		}
		var e *pgerr.Error
		if err != nil && (!errors.As(err, &e) || e.Code == pgerr.InternalError) {
			t.Errorf("%s: %v", s.Text, err)
		}
	}
}

func bindAny(w *bindtest.World, s ast.Statement) (logical.Node, error) {
	env := w.Env()
	switch s := s.(type) {
	case *ast.Query:
		q, err := bind.Select(env, s)
		if err != nil || len(env.Params) > 0 {
			return nil, err
		}
		return q.Root, nil
	case *ast.Insert:
		b, err := bind.Insert(env, s)
		return writeRoot(b, env, err)
	case *ast.Update:
		b, err := bind.Update(env, s)
		return writeRoot(b, env, err)
	case *ast.Delete:
		b, err := bind.Delete(env, s)
		return writeRoot(b, env, err)
	case *ast.CreateTable:
		_, err := bind.CreateTable(env, s)
		return nil, err
	case *ast.CreateView:
		_, err := bind.CreateView(env, s)
		return nil, err
	case *ast.CreateMaterializedView:
		_, err := bind.CreateMaterializedView(env, s)
		return nil, err
	case *ast.CreateIndex:
		_, err := bind.CreateIndex(env, s)
		return nil, err
	case *ast.Subscribe:
		_, err := bind.Subscribe(env, s)
		return nil, err
	}
	return nil, nil
}

func writeRoot(b *bind.Write, env *bind.Env, err error) (logical.Node, error) {
	if err != nil || len(env.Params) > 0 {
		return nil, err
	}
	return b.Root, nil
}
