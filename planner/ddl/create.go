package ddl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// NameOf takes a name apart.
func NameOf(n ast.Name) (catalog.Name, error) {
	if len(n.Parts) > 3 {
		return catalog.Name{}, pgerr.Newf(pgerr.SyntaxError, "improper qualified name (too many dotted names): %s",
			strings.Join(n.Parts, ".")).
			At(n.Position())
	}
	return catalog.Name{Database: n.Database(), Schema: n.Schema(), Item: n.Object()}, nil
}

// place finds where a new item goes.
func (b *binding) place(n ast.Name) (*catalog.Schema, string, error) {
	name, err := NameOf(n)
	if err != nil {
		return nil, "", err
	}
	schema, err := b.Catalog.ResolveSchema(b.Path, name)
	if err != nil {
		return nil, "", pgerr.From(err).At(n.Position())
	}
	return schema, name.Item, nil
}

// skip says whether an item is there already and is to be left alone; it says so to the client.
func (b *binding) skip(ifNotExists bool, schema *catalog.Schema, name string) bool {
	if !ifNotExists || b.Catalog.ItemNamed(schema.ID, name) == nil {
		return false
	}
	b.notice(pgerr.Newf(pgerr.DuplicateTable, "relation %q already exists, skipping", name))
	return true
}

func (b *binding) createDatabase(st *ast.CreateDatabase) error {
	if st.IfNotExists && b.Catalog.DatabaseNamed(st.Name) != nil {
		b.notice(pgerr.Newf(pgerr.DuplicateDatabase, "database %q already exists, skipping", st.Name))
		return nil
	}
	b.Ops = append(b.Ops, &catalog.CreateDatabase{Name: st.Name, Owner: b.Owner})
	return nil
}

func (b *binding) createSchema(st *ast.CreateSchema) error {
	if len(st.Name.Parts) > 2 {
		return pgerr.Newf(pgerr.SyntaxError, "improper qualified name (too many dotted names): %s", strings.Join(st.Name.Parts, ".")).
			At(st.Name.Position())
	}
	database := b.Path.Database
	if len(st.Name.Parts) == 2 {
		database = st.Name.Parts[0]
	}
	d, err := b.Catalog.ResolveDatabase(database)
	if err != nil {
		return pgerr.From(err).At(st.Name.Position())
	}
	name := st.Name.Object()
	if st.IfNotExists && b.Catalog.SchemaNamed(d.ID, name) != nil {
		b.notice(pgerr.Newf(pgerr.DuplicateSchema, "schema %q already exists, skipping", name))
		return nil
	}
	b.Ops = append(b.Ops, &catalog.CreateSchema{Database: d.ID, Name: name, Owner: b.Owner})
	return nil
}

func (b *binding) createCluster(st *ast.CreateCluster) error {
	if st.Replicas != nil {
		return pgerr.Unsupported("CREATE CLUSTER with REPLICAS").WithHint("Use SIZE and REPLICATION FACTOR.").At(st.Position())
	}
	op := &catalog.CreateCluster{Name: st.Name, Owner: b.Owner, Replicas: 1}
	sized, err := clusterOptions(st.Options, &op.Size, &op.Replicas)
	if err != nil {
		return err
	}
	if !sized {
		return pgerr.Newf(pgerr.InvalidParameterValue, "SIZE must be specified for cluster %q", st.Name).At(st.Position())
	}
	b.Ops = append(b.Ops, op)
	return nil
}

// clusterOptions reads the options of a cluster into size and replicas; sized says whether SIZE was among them.
func clusterOptions(options []ast.Option, size *catalog.Size, replicas *int) (sized bool, err error) {
	for _, o := range options {
		switch o.Name {
		case "SIZE":
			text, err := optionWord(o)
			if err != nil {
				return false, err
			}
			if *size, err = catalog.ParseSize(text); err != nil {
				return false, pgerr.From(err).At(o.Position())
			}
			sized = true
		case "REPLICATION FACTOR":
			text, err := optionWord(o)
			if err != nil {
				return false, err
			}
			if *replicas, err = strconv.Atoi(text); err != nil {
				return false, pgerr.New(pgerr.InvalidParameterValue, "REPLICATION FACTOR must be a number").At(o.Position())
			}
		case "MANAGED":
			managed, err := optionBool(o)
			if err != nil {
				return false, err
			}
			if !managed {
				return false, pgerr.Unsupported("unmanaged clusters").At(o.Position())
			}
		case "INTROSPECTION INTERVAL", "INTROSPECTION DEBUGGING", "AVAILABILITY ZONES", "DISK", "WORKLOAD CLASS":
			// Tuning that has no meaning here; what was written for Materialize goes on working.
		default:
			return false, pgerr.Unsupported("cluster option %s", o.Name).At(o.Position())
		}
	}
	return sized, nil
}

func (b *binding) createTable(st *ast.CreateTable) error {
	schema, name, err := b.place(st.Name)
	if err != nil || b.skip(st.IfNotExists, schema, name) {
		return err
	}
	it, err := bind.CreateTable(b.Bind(), st)
	if err != nil {
		return err
	}
	if it.Retain, err = storedOptions(it.Kind, st.Options); err != nil {
		return err
	}
	return b.create(it)
}

func (b *binding) createView(st *ast.CreateView) error {
	schema, name, err := b.place(st.Name)
	if err != nil || b.skip(st.IfNotExists, schema, name) {
		return err
	}
	it, err := bind.CreateView(b.Bind(), st)
	if err != nil {
		return err
	}
	if st.OrReplace {
		if err := b.replace(it, ast.KindView); err != nil {
			return err
		}
	}
	return b.create(it)
}

func (b *binding) createMaterializedView(st *ast.CreateMaterializedView) error {
	schema, name, err := b.place(st.Name)
	if err != nil || b.skip(st.IfNotExists, schema, name) {
		return err
	}
	it, err := bind.CreateMaterializedView(b.Bind(), st)
	if err != nil {
		return err
	}
	if it.Retain, err = storedOptions(it.Kind, st.Options); err != nil {
		return err
	}
	if err := b.maintained(it); err != nil {
		return err
	}
	if st.OrReplace {
		if err := b.replace(it, ast.KindMaterializedView); err != nil {
			return err
		}
	}
	return b.create(it)
}

func (b *binding) createIndex(st *ast.CreateIndex) error {
	it, err := bind.CreateIndex(b.Bind(), st)
	if err != nil {
		return err
	}
	if b.skip(st.IfNotExists, b.Catalog.Schema(it.Schema), it.Name) {
		return nil
	}
	if err := b.maintained(it); err != nil {
		return err
	}
	return b.create(it)
}

// maintained makes a materialized view or an index belong to a cluster, and refuses what cannot be kept up to date.
func (b *binding) maintained(it *catalog.Item) error {
	if it.Cluster == (tvc.ID{}) {
		c, err := b.Catalog.ResolveCluster(b.Cluster)
		if err != nil {
			return err
		}
		it.Cluster = c.ID
	}
	for _, id := range append(slices.Clone(it.DependsOn), it.On) {
		if on := b.Catalog.Item(id); on != nil && b.onSystem(on) {
			return pgerr.Unsupported("a maintained %s over system relations", it.Kind)
		}
	}
	return nil
}

// onSystem says whether an item reads system relations, directly or through views.
func (b *binding) onSystem(it *catalog.Item) bool {
	if it.Kind.System() {
		return true
	}
	for _, id := range it.DependsOn {
		if b.onSystem(b.Catalog.Item(id)) {
			return true
		}
	}
	return false
}

// create adds the making of an item.
func (b *binding) create(it *catalog.Item) error {
	it.Owner = b.Owner
	b.Ops = append(b.Ops, &catalog.CreateItem{Item: *it})
	return nil
}

// replace adds the dropping of what OR REPLACE replaces. It is refused if something depends on it.
func (b *binding) replace(it *catalog.Item, kind ast.ObjectKind) error {
	old := b.Catalog.ItemNamed(it.Schema, it.Name)
	if old == nil {
		return nil
	}
	if old.Kind != it.Kind {
		return wrongKind(old, kind)
	}
	if slices.Contains(it.DependsOn, old.ID) {
		return pgerr.Newf(pgerr.InvalidObjectDefinition, "cannot replace %s: it depends on itself", b.Catalog.Describe(b.Path, old.ID))
	}
	b.Ops = append(b.Ops, &catalog.Drop{IDs: []tvc.ID{old.ID}, Path: b.Path})
	return nil
}
