package builtin

import (
	"cmp"
	"slices"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Set is all system relations.
type Set struct {
	byID      map[tvc.ID]relation
	items     []*catalog.Item
	functions []function
	operators []operator
	// functionAt and operatorAt find these by OID.
	functionAt, operatorAt map[uint32]int
}

// New makes the set.
func New() *Set {
	s := &Set{byID: map[tvc.ID]relation{}}
	s.functions, s.operators = functions()
	s.functionAt, s.operatorAt = map[uint32]int{}, map[uint32]int{}
	for i := range s.functions {
		s.functionAt[s.functions[i].oid] = i
	}
	for i := range s.operators {
		s.operatorAt[s.operators[i].oid] = i
	}
	for _, list := range [][]relation{pgCatalog(), s.functionRelations(), pgCatalogEmpty(), informationSchema(),
		mzCatalog(), mzInternal()} {
		for _, r := range list {
			if s.byID[r.item.ID].item != nil {
				invariants.Failf("builtin: %s and %s have one id", s.byID[r.item.ID].item.Name, r.item.Name)
			}
			s.byID[r.item.ID] = r
			s.items = append(s.items, r.item)
		}
	}
	slices.SortFunc(s.items, func(a, b *catalog.Item) int { return cmp.Compare(a.OID, b.OID) })
	return s
}

// System is what the catalog must be told of.
func (s *Set) System() catalog.System { return catalog.System{Items: s.items} }

// Rows makes the rows of the relation with the id; each row once.
func (s *Set) Rows(id tvc.ID, in *Input) *vec.Block {
	r, ok := s.byID[id]
	if !ok {
		invariants.Failf("builtin: rows of %v, which is no system relation", id)
	}
	out := vec.NewBlock(r.item.Rel.Kinds(), 0)
	r.rows(&input{Input: *in, database: in.Catalog.DatabaseNamed(in.Database)}, out)
	return out
}

// Inline gives a dataflow in which the rows of system relations stand instead of the reading of them. If it
// reads none it is the same one.
func (s *Set) Inline(d *plan.Dataflow, in *Input) *plan.Dataflow {
	out := d
	for i, n := range d.Nodes {
		get, ok := n.Op.(*plan.Get)
		if !ok || get.ID.Class != 's' {
			continue
		}
		if out == d {
			out = &plan.Dataflow{Name: d.Name, Nodes: slices.Clone(d.Nodes)}
		}
		out.Nodes[i].Op = &plan.Constant{Rows: s.Rows(get.ID, in)}
	}
	return out
}
