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
	if has(n, applies) {
		n = r.apply(Fold, n, r.fold)
		n = r.apply(Semi, n, semi)
	}
	n, err := decorrelate(n, opts.Off[Pull])
	if err != nil {
		return nil, err
	}
	n = r.rounds(n)
	if has(n, joinsOfTwo) {
		n = r.rounds(expand(n))
	}
	return n, nil
}

// kinds is a set of kinds of nodes.
type kinds uint16

const (
	joins      kinds = 1 << iota // Join
	joinsOfTwo                   // OuterJoin, SemiJoin
	applies                      // Apply
	lets                         // Let
	groups                       // Reduce, TopK, Guard
	unions                       // Union, Negate
	constant                     // Constant
	conditions                   // what has a condition
	anything                     // any node
)

// kindsOf gives the kinds of nodes that a tree has.
func kindsOf(n logical.Node) kinds {
	k := anything
	logical.Walk(n, func(n logical.Node) bool {
		switch n.(type) {
		case *logical.Join:
			k |= joins | conditions
		case *logical.OuterJoin, *logical.SemiJoin:
			k |= joinsOfTwo | conditions
		case *logical.Filter:
			k |= conditions
		case *logical.Apply:
			k |= applies
		case *logical.Let:
			k |= lets
		case *logical.Reduce, *logical.TopK, *logical.Guard:
			k |= groups
		case *logical.Union, *logical.Negate:
			k |= unions
		case *logical.Constant:
			k |= constant
		}
		return true
	})
	return k
}

func has(n logical.Node, k kinds) bool { return kindsOf(n)&k != 0 }

// round is the order of the rules, and which kinds of nodes each is about: without any there is nothing to do.
func (r *run) round() []step {
	return []step{
		{Inline, lets, inline}, {Fold, anything, r.fold}, {Empty, constant | conditions, empty}, {Outer, joinsOfTwo, outer},
		{Push, conditions, push}, {Merge, joins, merge}, {Redundant, joins, redundant}, {Equate, joins | joinsOfTwo, equate},
		{Push, joins | joinsOfTwo, push}, {Distinct, groups | joinsOfTwo, distinct}, {Union, unions, union}, {Demand, anything, demand},
	}
}

type step struct {
	rule  Rule
	about kinds
	f     func(logical.Node) logical.Node
}

// rounds applies the rules until they change nothing.
func (r *run) rounds(n logical.Node) logical.Node {
	steps := r.round()
	for range maxRounds {
		before := n
		k := kindsOf(n)
		for _, s := range steps {
			if k&s.about == 0 {
				continue
			}
			if m := r.apply(s.rule, n, s.f); m != n {
				n, k = m, kindsOf(m)
			}
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
