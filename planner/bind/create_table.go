package bind

import (
	"slices"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// PostgreSQL's bounds: for the columns of a table or a view, and for those of a result. The protocol has two bytes for them.
const (
	maxColumns = 1600
	maxResults = 1664
)

func checkColumns(n int, pos ast.Pos) error {
	if n > maxColumns {
		return fail(pos, pgerr.TooManyColumns, "tables can have at most %d columns", maxColumns)
	}
	return nil
}

func checkResults(n int, pos ast.Pos) error {
	if n > maxResults {
		return fail(pos, pgerr.TooManyColumns, "target lists can have at most %d entries", maxResults)
	}
	return nil
}

// CreateTable binds CREATE TABLE but for its options. The item has no ID, OID, Owner and Shard yet.
func CreateTable(env *Env, e *ast.CreateTable) (*catalog.Item, error) {
	own := *env
	own.NoParams = true
	b := newBinder(&own)
	switch {
	case e.Temporary:
		return nil, unsupported(e.Pos, "CREATE TEMPORARY TABLE")
	case len(e.Constraints) > 0:
		return nil, unsupportedConstraint(e.Constraints[0])
	}
	if err := checkColumns(len(e.Columns), e.Pos); err != nil {
		return nil, err
	}
	it, err := b.newItem(catalog.Table, e.Name)
	if err != nil {
		return nil, err
	}
	for i := range e.Columns {
		if err := b.tableColumn(it, &e.Columns[i]); err != nil {
			return nil, err
		}
	}
	return it, nil
}

// newItem starts an item in the schema that its name means.
func (b *binder) newItem(kind catalog.Kind, n ast.Name) (*catalog.Item, error) {
	schema, err := b.env.Catalog.ResolveSchema(b.env.Path, catalogName(n))
	if err != nil {
		return nil, at(err, n.Pos)
	}
	if schema.System() {
		return nil, fail(n.Pos, pgerr.InsufficientPrivilege, "permission denied for schema %s", schema.Name)
	}
	return &catalog.Item{Kind: kind, Schema: schema.ID, Name: n.Object()}, nil
}

func unsupportedConstraint(c ast.Constraint) error {
	what := map[ast.ConstraintKind]string{
		ast.PrimaryKey: "PRIMARY KEY", ast.Unique: "UNIQUE", ast.Check: "CHECK",
	}[c.Kind]
	return unsupported(c.Pos, "a %s constraint", what)
}

func (b *binder) tableColumn(it *catalog.Item, d *ast.ColumnDef) error {
	if columnAt(it, d.Name) >= 0 {
		return fail(d.Pos, pgerr.DuplicateColumn, "column \"%s\" specified more than once", d.Name)
	}
	t, err := typeOf(d.Type)
	if err != nil {
		return err
	}
	if err := storable(t, d.Name, d.Pos); err != nil {
		return err
	}
	if d.Type.Fields != "" {
		return unsupported(d.Type.Pos, "type interval %s", d.Type.Fields)
	}
	col := types.Column{Name: d.Name, Type: t, Nullable: true}
	text := ""
	for _, c := range d.Constraints {
		switch c.Kind {
		case ast.NotNull:
			col.Nullable = false
		case ast.Nullable:
		case ast.DefaultValue:
			if text != "" {
				return fail(c.Pos, pgerr.SyntaxError, "multiple default values specified for column \"%s\" of table \"%s\"",
					d.Name, it.Name)
			}
			if text, err = b.defaultText(c.Expr, col); err != nil {
				return err
			}
		default:
			return unsupportedConstraint(c)
		}
	}
	it.Rel.Cols = append(it.Rel.Cols, col)
	if text != "" || it.Defaults != nil {
		it.Defaults = append(it.Defaults, make([]string, len(it.Rel.Cols)-len(it.Defaults))...)
		it.Defaults[len(it.Rel.Cols)-1] = text
	}
	return nil
}

// storable refuses columns of types that no row can hold.
func storable(t types.T, name string, pos ast.Pos) error {
	if t.Category() == 'P' || t.OID == types.OIDUnknown {
		return fail(pos, pgerr.InvalidTableDefinition, "column \"%s\" has pseudo-type %s", name, t)
	}
	return nil
}

// defaultText is a DEFAULT as the catalog keeps it, with its literals read: 'now' is the time of the CREATE. A plain NULL
// is no default.
func (b *binder) defaultText(e ast.Expr, col types.Column) (string, error) {
	b.noted = newNotes(1)
	defer func() { b.noted = nil }()
	x, err := b.newQuery(nil, nil).in(inDefault, e)
	if err != nil {
		if pgerr.Is(err, pgerr.UndefinedColumn) || pgerr.Is(err, pgerr.UndefinedTable) {
			return "", fail(posOf(e), pgerr.FeatureNotSupported, "cannot use column reference in DEFAULT expression")
		}
		return "", err
	}
	r, err := b.coerce(x, col.Type, types.Assignment, posOf(e))
	if err == nil && r == nil {
		return "", fail(posOf(e), pgerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s",
			col.Name, types.Of(col.Type.OID), types.Of(x.Type().OID)).
			WithHint("You will need to rewrite or cast the expression.")
	}
	if err != nil {
		return "", err
	}
	if err := b.checkLarge(); err != nil {
		return "", err
	}
	if isNullLiteral(x) && col.Type.Mod == types.NoMod && (isUnknown(x) || x.Type().OID == col.Type.OID) {
		return "", nil
	}
	return ast.FormatAs(e, &b.noted.spelling), nil
}

// distinctNames refuses two columns of one name.
func distinctNames(cols []types.Column, pos ast.Pos) error {
	for i, c := range cols {
		if slices.ContainsFunc(cols[:i], func(o types.Column) bool { return o.Name == c.Name }) {
			return fail(pos, pgerr.DuplicateColumn, "column \"%s\" specified more than once", c.Name)
		}
	}
	return nil
}

// relOf is a query's description as that of a stored relation: what is known of keys is kept.
func relOf(n logical.Node, cols []relCol) types.Rel {
	r := types.Rel{Keys: n.Rel().Keys}
	for i, c := range cols {
		r.Cols = append(r.Cols, types.Column{Name: c.name, Type: c.t, Nullable: n.Rel().Cols[i].Nullable})
	}
	return r
}
