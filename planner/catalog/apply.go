package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// MaxNameBytes bounds the names of objects.
const MaxNameBytes = 255

// MaxReplicas bounds the replicas of a cluster: each does all of its work again.
const MaxReplicas = 16

// Apply does the operations one after the other and gives the snapshot after them, with what has changed
// between the two. An error is the client's, and then nothing was done.
func (s *Snapshot) Apply(ops []Op) (*Snapshot, *Changes, error) {
	// A shallow copy is a snapshot of its own: the trees it is made of never change.
	c := *s
	next := &c
	var cascaded []string
	for _, op := range ops {
		more, err := next.apply(op)
		if err != nil {
			return nil, nil, err
		}
		cascaded = append(cascaded, more...)
	}
	changes := Diff(s, next)
	changes.Cascaded = cascaded
	return next, changes, nil
}

func (s *Snapshot) apply(op Op) (cascaded []string, err error) {
	switch op := op.(type) {
	case *CreateDatabase:
		return nil, s.createDatabase(op)
	case *CreateSchema:
		return nil, s.createSchema(op)
	case *CreateItem:
		return nil, s.createItem(op)
	case *CreateCluster:
		return nil, s.createCluster(op)
	case *Drop:
		return s.drop(op)
	case *Rename:
		return nil, s.rename(op)
	case *AlterCluster:
		return nil, s.alterCluster(op)
	case *Retain:
		old := s.Item(op.ID)
		it := *old
		it.Retain = op.For
		s.putItem(old, &it)
		return nil, nil
	case *Comment:
		return nil, s.comment(op)
	case *SetSystem:
		s.settings = s.settings.set(op.Name, op.Value)
		return nil, nil
	case *ResetSystem:
		if op.Name == "" {
			s.settings.root = nil
		} else {
			s.settings = s.settings.remove(op.Name)
		}
		return nil, nil
	case *ForgetShard:
		s.garbage = s.garbage.remove(op.Shard)
		return nil, nil
	}
	panic(fmt.Sprintf("catalog: unknown operation %T", op))
}

func (s *Snapshot) newID() tvc.ID {
	id := tvc.ID{Class: 'u', N: s.next.ID}
	s.next.ID++
	return id
}

func (s *Snapshot) newOID() uint32 {
	oid := s.next.OID
	s.next.OID++
	return oid
}

func (s *Snapshot) createDatabase(op *CreateDatabase) error {
	if err := checkName(op.Name); err != nil {
		return err
	}
	if s.DatabaseNamed(op.Name) != nil {
		return duplicateDatabase(op.Name)
	}
	d := &Database{ID: s.newID(), OID: s.newOID(), Name: op.Name, Owner: op.Owner}
	s.putDatabase(nil, d)
	s.putSchema(nil, &Schema{ID: s.newID(), OID: s.newOID(), Database: d.ID, Name: "public", Owner: op.Owner})
	return nil
}

func (s *Snapshot) createSchema(op *CreateSchema) error {
	if err := checkUserName("schema", op.Name); err != nil {
		return err
	}
	if s.SchemaNamed(op.Database, op.Name) != nil {
		return duplicateSchema(op.Name)
	}
	s.putSchema(nil, &Schema{ID: s.newID(), OID: s.newOID(), Database: op.Database, Name: op.Name, Owner: op.Owner})
	return nil
}

func (s *Snapshot) createItem(op *CreateItem) error {
	it := op.Item
	if err := checkName(it.Name); err != nil {
		return err
	}
	schema := s.Schema(it.Schema)
	if schema.System() {
		return pgerr.Newf(pgerr.InsufficientPrivilege, "permission denied for schema %s", schema.Name).
			WithDetail("The system's schemas are read-only.")
	}
	if s.ItemNamed(it.Schema, it.Name) != nil {
		return duplicateItem(it.Name)
	}
	it.ID, it.OID, it.Version = s.newID(), s.newOID(), 1
	if it.Kind.Stored() {
		// An id is never given twice, so it serves as the shard's name too.
		it.Shard = it.ID.String()
	}
	slices.SortFunc(it.DependsOn, tvc.ID.Compare)
	it.DependsOn = slices.Compact(it.DependsOn)
	s.putItem(nil, &it)
	return nil
}

func (s *Snapshot) createCluster(op *CreateCluster) error {
	if err := checkUserName("cluster", op.Name); err != nil {
		return err
	}
	if s.ClusterNamed(op.Name) != nil {
		return duplicateCluster(op.Name)
	}
	if err := checkReplicas(op.Replicas); err != nil {
		return err
	}
	c := &Cluster{ID: s.newID(), Name: op.Name, Owner: op.Owner, Size: op.Size}
	s.setReplicas(c, op.Replicas)
	s.putCluster(nil, c)
	return nil
}

func checkReplicas(n int) error {
	if n < 0 || n > MaxReplicas {
		return pgerr.Newf(pgerr.InvalidParameterValue, "replication factor %d is outside the valid range (0 .. %d)", n, MaxReplicas)
	}
	return nil
}

// setReplicas gives c, not yet published, n replicas of its size. Those that had that size stay.
func (s *Snapshot) setReplicas(c *Cluster, n int) {
	replicas := make([]Replica, n)
	for i := range replicas {
		if i < len(c.Replicas) && c.Replicas[i].Size == c.Size {
			replicas[i] = c.Replicas[i]
			continue
		}
		replicas[i] = Replica{ID: s.newID(), Name: fmt.Sprintf("r%d", i+1), Size: c.Size}
	}
	c.Replicas = replicas
}

func (s *Snapshot) alterCluster(op *AlterCluster) error {
	old := s.Cluster(op.ID)
	if old.ID.Class != 'u' {
		return systemObject("cluster", old.Name)
	}
	if err := checkReplicas(op.Replicas); err != nil {
		return err
	}
	c := *old
	c.Size = op.Size
	s.setReplicas(&c, op.Replicas)
	s.putCluster(old, &c)
	return nil
}

func (s *Snapshot) comment(op *Comment) error {
	switch {
	case s.Item(op.ID) != nil:
		old := s.Item(op.ID)
		if old.Kind.System() {
			return systemObject(old.Kind.String(), old.Name)
		}
		it := *old
		if op.Column < 0 {
			it.Comment = op.Text
		} else {
			it.ColumnComments = make([]string, len(it.Rel.Cols))
			copy(it.ColumnComments, old.ColumnComments)
			it.ColumnComments[op.Column] = op.Text
			if !slices.ContainsFunc(it.ColumnComments, func(c string) bool { return c != "" }) {
				it.ColumnComments = nil
			}
		}
		s.putItem(old, &it)
	case s.Schema(op.ID) != nil:
		c := *s.Schema(op.ID)
		c.Comment = op.Text
		s.putSchema(s.Schema(op.ID), &c)
	case s.Database(op.ID) != nil:
		d := *s.Database(op.ID)
		d.Comment = op.Text
		s.putDatabase(s.Database(op.ID), &d)
	case s.Cluster(op.ID) != nil:
		c := *s.Cluster(op.ID)
		c.Comment = op.Text
		s.putCluster(s.Cluster(op.ID), &c)
	case s.Role(op.ID) != nil:
		r := *s.Role(op.ID)
		r.Comment = op.Text
		s.putRole(s.Role(op.ID), &r)
	}
	return nil
}

func (s *Snapshot) rename(op *Rename) error {
	if err := checkName(op.Name); err != nil {
		return err
	}
	switch {
	case s.Item(op.ID) != nil:
		return s.renameItem(s.Item(op.ID), op.Name)
	case s.Schema(op.ID) != nil:
		return s.renameSchema(s.Schema(op.ID), op.Name)
	case s.Database(op.ID) != nil:
		old := s.Database(op.ID)
		if s.DatabaseNamed(op.Name) != nil {
			return duplicateDatabase(op.Name)
		}
		d := *old
		d.Name = op.Name
		s.putDatabase(old, &d)
		return nil
	}
	old := s.Cluster(op.ID)
	if old.ID.Class != 'u' {
		return systemObject("cluster", old.Name)
	}
	if err := checkUserName("cluster", op.Name); err != nil {
		return err
	}
	if s.ClusterNamed(op.Name) != nil {
		return duplicateCluster(op.Name)
	}
	c := *old
	c.Name = op.Name
	s.putCluster(old, &c)
	return nil
}

func (s *Snapshot) renameItem(old *Item, name string) error {
	if old.Kind.System() {
		return systemObject(old.Kind.String(), old.Name)
	}
	if s.ItemNamed(old.Schema, name) != nil {
		return duplicateItem(name)
	}
	it := *old
	it.Name = name
	it.Version++
	s.putItem(old, &it)
	return nil
}

func (s *Snapshot) renameSchema(old *Schema, name string) error {
	if old.System() {
		return systemObject("schema", old.Name)
	}
	if err := checkUserName("schema", name); err != nil {
		return err
	}
	if s.SchemaNamed(old.Database, name) != nil {
		return duplicateSchema(name)
	}
	c := *old
	c.Name = name
	s.putSchema(old, &c)
	return nil
}

// checkName refuses names that could not be stored or written back.
func checkName(name string) error {
	switch {
	case len(name) > MaxNameBytes:
		return pgerr.Newf(pgerr.NameTooLong, "identifier too long: %d bytes", len(name)).
			WithDetail("Identifiers have at most %d bytes.", MaxNameBytes)
	case name == "" || name == "." || name == "..":
		return pgerr.Newf(pgerr.InvalidName, "invalid name %q", name)
	}
	return nil
}

// checkUserName also refuses the names kept for the system.
func checkUserName(what, name string) error {
	for _, prefix := range [...]string{"pg_", "mz_"} {
		if strings.HasPrefix(name, prefix) {
			return pgerr.Newf(pgerr.ReservedName, "unacceptable %s name %q", what, name).
				WithDetail("The prefix %q is reserved for system %ss.", prefix, what)
		}
	}
	return checkName(name)
}

func duplicateDatabase(name string) error {
	return pgerr.Newf(pgerr.DuplicateDatabase, "database %q already exists", name)
}

func duplicateSchema(name string) error {
	return pgerr.Newf(pgerr.DuplicateSchema, "schema %q already exists", name)
}

func duplicateItem(name string) error {
	return pgerr.Newf(pgerr.DuplicateTable, "relation %q already exists", name)
}

func duplicateCluster(name string) error {
	return pgerr.Newf(pgerr.DuplicateObject, "cluster %q already exists", name)
}

func systemObject(what, name string) error {
	return pgerr.Newf(pgerr.InsufficientPrivilege, "permission denied: %s %q belongs to the system", what, name)
}
