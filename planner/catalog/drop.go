package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// victim is an object on its way out.
type victim struct {
	id tvc.ID
	// because is what it needs, by which it was found; none for what the client named.
	because tvc.ID
	// silent: it goes along without being asked for, as an index does.
	silent bool
}

// drop removes what op names with all that needs it, and gives descriptions of what went along.
func (s *Snapshot) drop(op *Drop) ([]string, error) {
	for _, id := range op.IDs {
		if id.Class != 'u' {
			what, name := s.describeParts(op.Path, id)
			return nil, systemObject(what, name)
		}
	}
	// What the client named and what goes silently is not reported, even if something else needs it too.
	d := dropping{s: s, seen: map[tvc.ID]bool{}}
	var named []tvc.ID
	for _, id := range op.IDs {
		if !d.seen[id] {
			d.seen[id] = true
			named = append(named, id)
		}
	}
	for _, id := range named {
		d.find(victim{id: id})
	}
	slices.Reverse(d.found)

	var lines, cascaded []string
	for _, v := range d.found {
		if v.because.Class == 0 || v.silent {
			continue
		}
		lines = append(lines, s.Describe(op.Path, v.id)+" depends on "+s.Describe(op.Path, v.because))
		cascaded = append(cascaded, "drop cascades to "+s.Describe(op.Path, v.id))
	}
	if len(lines) > 0 && !op.Cascade {
		err := pgerr.New(pgerr.DependentObjectsStillExist, "cannot drop desired object(s) because other objects depend on them")
		if len(named) == 1 {
			err = pgerr.Newf(pgerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it",
				s.Describe(op.Path, named[0]))
		}
		return nil, err.WithDetail("%s", strings.Join(lines, "\n")).
			WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
	}
	for _, v := range slices.Backward(d.found) {
		s.remove(v.id)
	}
	return cascaded, nil
}

// dropping gathers all that goes when something goes: dependents before what they need, the newest
// first. Read backwards that is PostgreSQL's order of reporting them.
type dropping struct {
	s     *Snapshot
	seen  map[tvc.ID]bool
	found []victim
}

func (d *dropping) find(v victim) {
	next := d.s.needing(v.id)
	slices.SortStableFunc(next, func(a, b victim) int { return b.id.Compare(a.id) })
	for _, n := range next {
		if !d.seen[n.id] {
			d.seen[n.id] = true
			d.find(n)
		}
	}
	d.found = append(d.found, v)
}

// needing lists what cannot be without the object with the id.
func (s *Snapshot) needing(id tvc.ID) []victim {
	var list []victim
	switch {
	case s.Database(id) != nil:
		for c := range s.SchemasIn(id) {
			// A schema says nothing by itself: what is in it does.
			list = append(list, victim{c.ID, id, true})
		}
	case s.Schema(id) != nil:
		for it := range s.ItemsIn(id) {
			// An index is in its relation's schema, and goes with it.
			if it.Kind != Index {
				list = append(list, victim{it.ID, id, false})
			}
		}
	default:
		for it := range s.Dependents(id) {
			list = append(list, victim{it.ID, id, it.Kind == Index && it.On == id})
		}
	}
	return list
}

func (s *Snapshot) remove(id tvc.ID) {
	switch {
	case s.Item(id) != nil:
		it := s.Item(id)
		if it.Shard != "" {
			s.garbage = s.garbage.set(it.Shard, struct{}{})
		}
		s.putItem(it, nil)
	case s.Schema(id) != nil:
		s.putSchema(s.Schema(id), nil)
	case s.Database(id) != nil:
		s.putDatabase(s.Database(id), nil)
	case s.Cluster(id) != nil:
		s.putCluster(s.Cluster(id), nil)
	default:
		panic(fmt.Sprintf("catalog: drop of %v, which is not there", id))
	}
}

// Describe says what an object is and how a session calls it, such as: view v.
func (s *Snapshot) Describe(p Path, id tvc.ID) string {
	what, name := s.describeParts(p, id)
	return what + " " + name
}

func (s *Snapshot) describeParts(p Path, id tvc.ID) (what, name string) {
	switch {
	case s.Item(id) != nil:
		it := s.Item(id)
		return it.Kind.String(), s.ShownName(p, it)
	case s.Schema(id) != nil:
		return "schema", ast.QuoteIdent(s.Schema(id).Name)
	case s.Database(id) != nil:
		return "database", ast.QuoteIdent(s.Database(id).Name)
	case s.Cluster(id) != nil:
		return "cluster", ast.QuoteIdent(s.Cluster(id).Name)
	case s.Role(id) != nil:
		return "role", ast.QuoteIdent(s.Role(id).Name)
	}
	panic(fmt.Sprintf("catalog: no object %v", id))
}
