package rewrite

import (
	"fmt"

	"github.com/tributary-db/tributary/planner/logical"
)

// program is a tree with its Lets in a list: each value may use those before it, body may use all.
type program struct {
	lets []binding
	body logical.Node
}

// hoist takes the Lets out of n. Values have no Outer columns, so it does not matter where they are computed.
func hoist(n logical.Node) program {
	p := program{}
	p.body = p.take(n)
	return p
}

func (p *program) take(n logical.Node) logical.Node {
	if l, ok := n.(*logical.Let); ok {
		p.lets = append(p.lets, binding{l.ID, p.take(l.Value())})
		return p.take(l.Body())
	}
	return logical.MapInputs(n, p.take)
}

// tree puts the Lets back, at the top.
func (p program) tree() logical.Node {
	n := p.body
	for i := len(p.lets) - 1; i >= 0; i-- {
		n = logical.NewLet(p.lets[i].id, p.lets[i].value, n)
	}
	return n
}

// inline puts the value of a Let where it is used, if it is used once or is cheap, and drops what is not used.
// It also brings what is known of a value's rows to where they are used.
func inline(n logical.Node) logical.Node {
	p := hoist(n)
	if len(p.lets) == 0 {
		return n
	}
	uses := map[int]int{}
	count(p.body, uses)
	for i := len(p.lets) - 1; i >= 0; i-- {
		if uses[p.lets[i].id] > 0 {
			count(p.lets[i].value, uses)
		}
	}
	values := map[int]logical.Node{}
	var kept []binding
	for _, l := range p.lets {
		value := substitute(l.value, values)
		if uses[l.id] > 1 && !cheap(value) {
			kept = append(kept, binding{l.id, value})
			value = logical.NewLetRef(l.id, value)
		}
		values[l.id] = value
	}
	p = program{kept, substitute(p.body, values)}
	if t := p.tree(); !logical.EqualNodes(t, n) {
		return t
	}
	return n
}

func count(n logical.Node, uses map[int]int) {
	logical.Walk(n, func(n logical.Node) bool {
		if r, ok := n.(*logical.LetRef); ok {
			uses[r.ID]++
		}
		return true
	})
}

// substitute puts values in the place of references.
func substitute(n logical.Node, values map[int]logical.Node) logical.Node {
	if r, ok := n.(*logical.LetRef); ok {
		v, ok := values[r.ID]
		if !ok {
			panic(fmt.Sprintf("rewrite: no let l%d", r.ID))
		}
		if ref, ok := v.(*logical.LetRef); ok && ref.ID == r.ID && logical.SameRel(ref.Rel(), r.Rel()) {
			return r
		}
		return v
	}
	return logical.MapInputs(n, func(in logical.Node) logical.Node { return substitute(in, values) })
}
