package ddl

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

func (b *binding) drop(st *ast.Drop) error {
	op := &catalog.Drop{Cascade: st.Cascade, Path: b.Path}
	for _, n := range st.Names {
		id, err := b.object(st.Kind, n)
		switch {
		case err != nil && st.IfExists && isMissing(err):
			b.notice(pgerr.New("00000", err.Message+", skipping"))
		case err != nil:
			return err
		default:
			op.IDs = append(op.IDs, id)
		}
	}
	// A database goes with all that is in it unless the client says otherwise, as in PostgreSQL.
	if st.Kind == ast.KindDatabase && !st.Restrict {
		op.Cascade = true
		for _, id := range op.IDs {
			if b.Catalog.Database(id).Name == b.Path.Database {
				return pgerr.New(pgerr.ObjectInUse, "cannot drop the currently open database")
			}
		}
	}
	if len(op.IDs) > 0 {
		b.Ops = append(b.Ops, op)
	}
	return nil
}

// isMissing says whether an error is that there is no such object.
func isMissing(e *pgerr.Error) bool {
	switch e.Code {
	case pgerr.UndefinedTable, pgerr.UndefinedObject, pgerr.InvalidSchemaName, pgerr.InvalidCatalogName:
		return true
	}
	return false
}

// object finds the object of a kind that a name means.
func (b *binding) object(kind ast.ObjectKind, n ast.Name) (tvc.ID, *pgerr.Error) {
	switch kind {
	case ast.KindDatabase:
		d, err := b.Catalog.ResolveDatabase(n.Object())
		if err != nil {
			return tvc.ID{}, pgerr.From(err)
		}
		return d.ID, nil
	case ast.KindSchema:
		c, err := b.Catalog.ResolveSchema(b.Path, catalog.Name{Database: n.Schema(), Schema: n.Object()})
		if err != nil {
			return tvc.ID{}, pgerr.From(err)
		}
		return c.ID, nil
	case ast.KindCluster:
		c := b.Catalog.ClusterNamed(n.Object())
		if c == nil {
			return tvc.ID{}, pgerr.Newf(pgerr.UndefinedObject, "cluster %q does not exist", n.Object())
		}
		return c.ID, nil
	case ast.KindRole:
		r := b.Catalog.RoleNamed(n.Object())
		if r == nil {
			return tvc.ID{}, pgerr.Newf(pgerr.UndefinedObject, "role %q does not exist", n.Object())
		}
		return r.ID, nil
	case ast.KindTable, ast.KindView, ast.KindMaterializedView, ast.KindIndex:
		it, err := b.item(kind, n)
		if err != nil {
			return tvc.ID{}, err
		}
		return it.ID, nil
	}
	return tvc.ID{}, pgerr.Unsupported("%s", kind.String())
}

// item finds the item of a kind that a name means, for DROP; other statements use relation.
func (b *binding) item(kind ast.ObjectKind, n ast.Name) (*catalog.Item, *pgerr.Error) {
	name, err := NameOf(n)
	if err != nil {
		return nil, pgerr.From(err)
	}
	it := b.Catalog.Resolve(b.Path, name)
	if it == nil {
		if name.Schema != "" {
			// PostgreSQL says which part of the name is wrong.
			if _, err := b.Catalog.ResolveSchema(b.Path, name); err != nil {
				return nil, pgerr.From(err)
			}
		}
		code := pgerr.UndefinedTable
		if kind == ast.KindIndex {
			code = pgerr.UndefinedObject
		}
		return nil, pgerr.Newf(code, "%s %q does not exist", kind.Lower(), name.Item)
	}
	if it.Kind.String() == kind.Lower() {
		return it, nil
	}
	return nil, wrongKind(it, kind).WithHint("Use DROP %s to remove %s.", strings.ToUpper(it.Kind.String()),
		withArticle(it.Kind.String()))
}

// Relation finds the item of a kind that a name means.
func Relation(s *catalog.Snapshot, p catalog.Path, kind ast.ObjectKind, n ast.Name) (*catalog.Item, *pgerr.Error) {
	return relation(s, p, kind, n, false)
}

// relation is Relation, also for ALTER TABLE, which does for all kinds.
func relation(s *catalog.Snapshot, p catalog.Path, kind ast.ObjectKind, n ast.Name, alter bool) (*catalog.Item, *pgerr.Error) {
	name, err := NameOf(n)
	if err != nil {
		return nil, pgerr.From(err)
	}
	it := s.Resolve(p, name)
	switch {
	case it == nil:
		return nil, pgerr.Newf(pgerr.UndefinedTable, "relation %q does not exist", name.String())
	case it.Kind.String() == kind.Lower() || alter && kind == ast.KindTable:
		return it, nil
	}
	return nil, wrongKind(it, kind)
}

func wrongKind(it *catalog.Item, kind ast.ObjectKind) *pgerr.Error {
	return pgerr.Newf(pgerr.WrongObjectType, "%q is not %s", it.Name, withArticle(kind.Lower()))
}

func withArticle(noun string) string {
	if noun == "index" {
		return "an " + noun
	}
	return "a " + noun
}

// altered finds the object that an ALTER or COMMENT names.
func (b *binding) altered(kind ast.ObjectKind, n ast.Name, alter bool) (tvc.ID, *pgerr.Error) {
	switch kind {
	case ast.KindTable, ast.KindView, ast.KindMaterializedView, ast.KindIndex:
		it, err := relation(b.Catalog, b.Path, kind, n, alter)
		if err != nil {
			return tvc.ID{}, err
		}
		return it.ID, nil
	}
	return b.object(kind, n)
}

// skipMissing is what becomes of a statement about something that is not there: a notice, with IF EXISTS.
func (b *binding) skipMissing(err *pgerr.Error, ifExists bool) error {
	if ifExists && isMissing(err) {
		b.notice(pgerr.New("00000", err.Message+", skipping"))
		return nil
	}
	return err
}

func (b *binding) rename(st *ast.Rename) error {
	if st.Column != "" {
		return pgerr.Unsupported("ALTER TABLE … RENAME COLUMN").At(st.Position())
	}
	id, err := b.altered(st.Kind, st.Name, true)
	if err != nil {
		return b.skipMissing(err, st.IfExists)
	}
	b.Ops = append(b.Ops, &catalog.Rename{ID: id, Name: st.To.Name})
	return nil
}

func (b *binding) alterOptions(st *ast.AlterOptions) error {
	switch st.Kind {
	case ast.KindCluster:
	case ast.KindTable, ast.KindMaterializedView:
		return b.alterStored(st)
	default:
		return pgerr.Unsupported("ALTER %s … SET", st.Kind).At(st.Position())
	}
	id, missing := b.altered(st.Kind, st.Name, true)
	if missing != nil {
		return b.skipMissing(missing, st.IfExists)
	}
	if len(st.With) > 0 {
		return pgerr.Unsupported("ALTER CLUSTER … WITH").At(st.Position())
	}
	c := b.Catalog.Cluster(id)
	op := &catalog.AlterCluster{ID: id, Size: c.Size, Replicas: len(c.Replicas)}
	if _, err := clusterOptions(st.Set, &op.Size, &op.Replicas); err != nil {
		return err
	}
	for _, name := range st.Reset {
		if name.Name != "replication factor" && name.Name != "REPLICATION FACTOR" {
			return pgerr.Unsupported("ALTER CLUSTER … RESET (%s)", name.Name).At(name.Position())
		}
		op.Replicas = 1
	}
	b.Ops = append(b.Ops, op)
	return nil
}

// alterStored is ALTER TABLE or MATERIALIZED VIEW … SET or RESET (RETAIN HISTORY).
func (b *binding) alterStored(st *ast.AlterOptions) error {
	it, missing := relation(b.Catalog, b.Path, st.Kind, st.Name, false)
	switch {
	case missing != nil:
		return b.skipMissing(missing, st.IfExists)
	case it.Kind.System():
		return pgerr.Newf(pgerr.InsufficientPrivilege, "permission denied: %q is a system catalog", it.Name).At(st.Name.Position())
	case len(st.With) > 0:
		return pgerr.Unsupported("ALTER %s … WITH", st.Kind).At(st.Position())
	}
	retain, err := storedOptions(it.Kind, st.Set)
	if err != nil {
		return err
	}
	for _, name := range st.Reset {
		if name.Name != retainHistory {
			return pgerr.Unsupported("ALTER %s … RESET (%s)", st.Kind, name.Name).At(name.Position())
		}
	}
	b.Ops = append(b.Ops, &catalog.Retain{ID: it.ID, For: retain})
	return nil
}

func (b *binding) comment(st *ast.Comment) error {
	op := &catalog.Comment{Column: -1}
	if st.Text != nil {
		op.Text = *st.Text
	}
	kind, name := st.Kind, st.Name
	if kind == ast.KindColumn {
		n := len(name.Parts)
		if n < 2 {
			return pgerr.New(pgerr.SyntaxError, "column name must be qualified").At(name.Position())
		}
		of, err := NameOf(ast.Name{Pos: name.Pos, Parts: name.Parts[:n-1]})
		if err != nil {
			return err
		}
		it, err := b.Catalog.Relation(b.Path, of)
		if err != nil {
			return err
		}
		for i, c := range it.Rel.Cols {
			if c.Name == name.Parts[n-1] {
				op.Column = i
			}
		}
		if op.Column < 0 {
			return pgerr.Newf(pgerr.UndefinedColumn, "column %q of relation %q does not exist", name.Parts[n-1], it.Name)
		}
		op.ID = it.ID
	} else {
		id, err := b.altered(kind, name, false)
		if err != nil {
			return err
		}
		op.ID = id
	}
	b.Ops = append(b.Ops, op)
	return nil
}
