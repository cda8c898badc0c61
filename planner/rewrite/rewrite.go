package rewrite

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/scalar"
)

// Rule names an optional rule.
type Rule string

// The optional rules, in the order in which a round applies them.
const (
	Fold      Rule = "fold"      // constants are computed, conditions made simpler
	Semi      Rule = "semi"      // a test for existence in a filter becomes a semi-join
	Pull      Rule = "pull"      // a correlated subquery is joined by its conditions
	Outer     Rule = "outer"     // an outer join whose NULLs are thrown away becomes an inner one
	Push      Rule = "push"      // conditions go as far down as they can
	Equate    Rule = "equate"    // what is known of a column is known of its equals
	Distinct  Rule = "distinct"  // grouping that changes nothing goes
	Union     Rule = "union"     // unions in unions become one; what cancels goes
	Empty     Rule = "empty"     // nothing is made of nothing
	Merge     Rule = "merge"     // joins in joins become one
	Inline    Rule = "inline"    // what is used once needs no name
	Demand    Rule = "demand"    // columns that nobody reads go
	Redundant Rule = "redundant" // joins that change nothing go
)

// Rules lists the optional rules.
func Rules() []Rule {
	return []Rule{Fold, Semi, Pull, Outer, Push, Equate, Distinct, Union, Empty, Merge, Inline, Demand, Redundant}
}

// Options say how to rewrite. The zero value is right for everything but tests.
type Options struct {
	// Env answers what constants ask; nil: nothing that asks is computed.
	Env scalar.Env
	// Off has the rules to leave out.
	Off map[Rule]bool
	// Trace, if set, is called after each rule that changed the tree.
	Trace func(rule Rule, n logical.Node)
}

// maxRounds bounds how often the rules are applied. Each round takes conditions and columns further down;
// real queries settle after two or three, and to stop early is safe.
const maxRounds = 8

// run is one rewriting.
type run struct{ opts Options }

// Tree rewrites a tree without Outer columns that reach out of it. The error is the client's: something that
// cannot be computed.
func Tree(n logical.Node, opts Options) (logical.Node, error) {
	r := &run{opts}
	n = r.apply(Fold, n, r.fold)
	n = r.apply(Semi, n, semi)
	n, err := decorrelate(n, opts.Off[Pull])
	if err != nil {
		return nil, err
	}
	n = r.rounds(n)
	n = expand(n)
	return r.rounds(n), nil
}

// rounds applies the rules until they change nothing.
func (r *run) rounds(n logical.Node) logical.Node {
	rules := []struct {
		rule Rule
		f    func(logical.Node) logical.Node
	}{
		{Inline, inline}, {Fold, r.fold}, {Empty, empty}, {Outer, outer}, {Push, push}, {Merge, merge},
		{Redundant, redundant}, {Equate, equate}, {Push, push}, {Distinct, distinct}, {Union, union}, {Demand, demand},
	}
	for range maxRounds {
		before := n
		for _, rule := range rules {
			n = r.apply(rule.rule, n, rule.f)
		}
		if n == before {
			return n
		}
	}
	return n
}

// apply applies one rule, unless it is off.
func (r *run) apply(rule Rule, n logical.Node, f func(logical.Node) logical.Node) logical.Node {
	if r.opts.Off[rule] {
		return n
	}
	m := f(n)
	if m != n && r.opts.Trace != nil {
		r.opts.Trace(rule, m)
	}
	return m
}
