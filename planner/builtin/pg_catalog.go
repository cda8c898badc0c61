package builtin

import (
	"iter"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// OIDs of PostgreSQL's catalogs, which are also the class of an object in pg_description and pg_depend.
const (
	oidPgType      = 1247
	oidPgAttribute = 1249
	oidPgProc      = 1255
	oidPgClass     = 1259
	oidPgAuthid    = 1260
	oidPgDatabase  = 1262
	oidPgNamespace = 2615
	oidPgOperator  = 2617
)

// The access method of our indexes.
const (
	oidArrangement  = 16503
	nameArrangement = "arrangement"
)

// items goes through what the session's database holds, and the system's.
func (in *input) items() iter.Seq[*catalog.Item] {
	return func(yield func(*catalog.Item) bool) {
		for it := range in.Catalog.Items() {
			c := in.Catalog.Schema(it.Schema)
			if (c.System() || in.database != nil && c.Database == in.database.ID) && !yield(it) {
				return
			}
		}
	}
}

// schemas goes through the schemas of the session's database, and the system's.
func (in *input) schemas() iter.Seq[*catalog.Schema] {
	return func(yield func(*catalog.Schema) bool) {
		for c := range in.Catalog.Schemas() {
			if (c.System() || in.database != nil && c.Database == in.database.ID) && !yield(c) {
				return
			}
		}
	}
}

func (in *input) roleOID(id tvc.ID) uint32 {
	if r := in.Catalog.Role(id); r != nil {
		return r.OID
	}
	return 0
}

func (in *input) roleName(id tvc.ID) string {
	if r := in.Catalog.Role(id); r != nil {
		return r.Name
	}
	return ""
}

func (in *input) schemaName(it *catalog.Item) string { return in.Catalog.Schema(it.Schema).Name }

func (in *input) schemaOID(it *catalog.Item) uint32 { return in.Catalog.Schema(it.Schema).OID }

func (in *input) hasIndexes(it *catalog.Item) bool {
	for range in.Catalog.IndexesOn(it.ID) {
		return true
	}
	return false
}

// relkind is pg_class.relkind.
func relkind(k catalog.Kind) byte {
	switch k {
	case catalog.Table, catalog.SystemTable:
		return 'r'
	case catalog.View, catalog.SystemView:
		return 'v'
	case catalog.MaterializedView:
		return 'm'
	}
	return 'i'
}

// pgCatalog are pg_catalog's relations that have rows; those about types and functions, and about the server,
// are in files of their own.
func pgCatalog() []relation {
	p := catalog.SchemaPgCatalog
	list := []relation{
		define(p, oidPgClass, "pg_class", "oid oid!, relname name!, relnamespace oid!, reltype oid!, reloftype oid!, relowner oid!, "+
			"relam oid!, relfilenode oid!, reltablespace oid!, relpages int4!, reltuples float4!, relallvisible int4!, "+
			"reltoastrelid oid!, relhasindex bool!, relisshared bool!, relpersistence char!, relkind char!, relnatts int2!, "+
			"relchecks int2!, relhasrules bool!, relhastriggers bool!, relhassubclass bool!, relrowsecurity bool!, "+
			"relforcerowsecurity bool!, relispopulated bool!, relreplident char!, relispartition bool!, relrewrite oid!, "+
			"relfrozenxid xid!, relminmxid xid!, relacl _aclitem, reloptions _text, relpartbound text", pgClass),
		define(p, oidPgNamespace, "pg_namespace", "oid oid!, nspname name!, nspowner oid!, nspacl _aclitem", pgNamespace),
		define(p, oidPgAttribute, "pg_attribute", "attrelid oid!, attname name!, atttypid oid!, attstattarget int4!, attlen int2!, "+
			"attnum int2!, attndims int4!, attcacheoff int4!, atttypmod int4!, attbyval bool!, attalign char!, attstorage char!, "+
			"attcompression char!, attnotnull bool!, atthasdef bool!, atthasmissing bool!, attidentity char!, attgenerated char!, "+
			"attisdropped bool!, attislocal bool!, attinhcount int4!, attcollation oid!, attacl _aclitem, attoptions _text, "+
			"attfdwoptions _text, attmissingval _text", pgAttribute),
		define(p, 2604, "pg_attrdef", "oid oid!, adrelid oid!, adnum int2!, adbin text!", pgAttrdef),
		define(p, 2610, "pg_index", "indexrelid oid!, indrelid oid!, indnatts int2!, indnkeyatts int2!, indisunique bool!, "+
			"indnullsnotdistinct bool!, indisprimary bool!, indisexclusion bool!, indimmediate bool!, indisclustered bool!, "+
			"indisvalid bool!, indcheckxmin bool!, indisready bool!, indislive bool!, indisreplident bool!, indkey int2vector!, "+
			"indcollation oidvector!, indclass oidvector!, indoption int2vector!, indexprs text, indpred text", pgIndex),
		define(p, 2618, "pg_rewrite", "oid oid!, rulename name!, ev_class oid!, ev_type char!, ev_enabled char!, is_instead bool!, "+
			"ev_qual text!, ev_action text!", pgRewrite),
		define(p, 2608, "pg_depend", "classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, refobjsubid int4!, "+
			"deptype char!", pgDepend),
		define(p, 2609, "pg_description", "objoid oid!, classoid oid!, objsubid int4!, description text!", pgDescription),
		define(p, 12033, "pg_tables", "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, "+
			"hasrules bool, hastriggers bool, rowsecurity bool", pgTables),
		define(p, 12028, "pg_views", "schemaname name, viewname name, viewowner name, definition text", pgViews),
		define(p, 12038, "pg_matviews", "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, "+
			"ispopulated bool, definition text", pgMatviews),
		define(p, 12043, "pg_indexes", "schemaname name, tablename name, indexname name, tablespace name, indexdef text", pgIndexes),
	}
	return append(append(list, pgCatalogTypes()...), pgCatalogServer()...)
}

func pgClass(in *input, out *vec.Block) {
	no := boolean(false)
	for it := range in.items() {
		var am uint32
		if it.Kind == catalog.Index {
			am = oidArrangement
		}
		out.AppendRow(1, oid(it.OID), str(it.Name), oid(in.schemaOID(it)), oid(0), oid(0), oid(in.roleOID(it.Owner)),
			oid(am), oid(0), oid(0), num(0), vec.FloatOf(-1), num(0),
			oid(0), boolean(in.hasIndexes(it)), no, char('p'), char(relkind(it.Kind)), num(len(it.Rel.Cols)),
			num(0), boolean(it.Kind.IsView()), no, no, no,
			no, boolean(true), char('d'), no, oid(0),
			num(0), num(0), null, null, null)
	}
}

func pgNamespace(in *input, out *vec.Block) {
	for c := range in.schemas() {
		out.AppendRow(1, oid(c.OID), str(c.Name), oid(in.roleOID(c.Owner)), null)
	}
}

func pgAttribute(in *input, out *vec.Block) {
	no, none := boolean(false), char(0)
	for it := range in.items() {
		for i, c := range it.Rel.Cols {
			t := layoutOf(c.Type)
			dims := 0
			if c.Type.IsArray() {
				dims = 1
			}
			notNull := !c.Nullable && (it.Kind == catalog.Table || it.Kind == catalog.SystemTable)
			out.AppendRow(1, oid(it.OID), str(c.Name), oid(uint32(c.Type.OID)), num(-1), num(c.Type.Len()),
				num(i+1), num(dims), num(-1), num(int64(c.Type.Mod)), boolean(t.byVal), char(t.align), char(t.storage),
				none, boolean(notNull), boolean(it.Default(i) != ""), no, none, none,
				no, boolean(true), num(0), oid(collationOf(c.Type)), null, null,
				null, null)
		}
	}
}

// attrdefOID numbers the defaults of a table's columns: unique among all defaults while OIDs of relations
// are below 2^21, and a table has at most 1600 columns.
func attrdefOID(it *catalog.Item, column int) uint32 { return it.OID<<11 | uint32(column+1) }

func pgAttrdef(in *input, out *vec.Block) {
	for it := range in.items() {
		for i := range it.Defaults {
			if d := it.Default(i); d != "" {
				out.AppendRow(1, oid(attrdefOID(it, i)), oid(it.OID), num(i+1), str(d))
			}
		}
	}
}

func pgIndex(in *input, out *vec.Block) {
	yes, no := boolean(true), boolean(false)
	for it := range in.items() {
		if it.Kind != catalog.Index {
			continue
		}
		n := len(it.Key)
		key, options := make([]int64, n), make([]int64, n)
		collations, classes := make([]int64, n), make([]int64, n)
		exprs := null
		for i, k := range it.Key {
			key[i] = int64(k.Column + 1)
			collations[i] = int64(collationOf(k.Type))
			if k.Column < 0 {
				exprs = str(in.Catalog.KeySQL(it))
			}
		}
		out.AppendRow(1, oid(it.OID), oid(in.Catalog.Item(it.On).OID), num(n), num(n), no,
			no, no, no, yes, no,
			yes, no, yes, yes, no, int2Vector(key),
			oidVector(collations), oidVector(classes), int2Vector(options), exprs, null)
	}
}

// pgRewrite has the one rule of each view that PostgreSQL would have. Its OID is the view's: OIDs need to be
// unique in one relation only.
func pgRewrite(in *input, out *vec.Block) {
	for it := range in.items() {
		if it.Kind.IsView() || it.Kind == catalog.MaterializedView {
			out.AppendRow(1, oid(it.OID), str("_RETURN"), oid(it.OID), char('1'), char('O'), boolean(true), str("<>"), str("<>"))
		}
	}
}

func pgDepend(in *input, out *vec.Block) {
	class := oid(oidPgClass)
	for it := range in.items() {
		if it.Kind == catalog.Index {
			out.AppendRow(1, class, oid(it.OID), num(0), class, oid(in.Catalog.Item(it.On).OID), num(0), char('a'))
			continue
		}
		for _, on := range it.DependsOn {
			out.AppendRow(1, class, oid(it.OID), num(0), class, oid(in.Catalog.Item(on).OID), num(0), char('n'))
		}
	}
}

func pgDescription(in *input, out *vec.Block) {
	add := func(object, class uint32, sub int, text string) {
		if text != "" {
			out.AppendRow(1, oid(object), oid(class), num(sub), str(text))
		}
	}
	for c := range in.schemas() {
		add(c.OID, oidPgNamespace, 0, c.Comment)
	}
	for it := range in.items() {
		add(it.OID, oidPgClass, 0, it.Comment)
		for i := range it.ColumnComments {
			add(it.OID, oidPgClass, i+1, it.ColumnComment(i))
		}
	}
	describeTypes(add)
}

func pgTables(in *input, out *vec.Block) {
	no := boolean(false)
	for it := range in.items() {
		if relkind(it.Kind) == 'r' {
			out.AppendRow(1, str(in.schemaName(it)), str(it.Name), str(in.roleName(it.Owner)), null,
				boolean(in.hasIndexes(it)), no, no, no)
		}
	}
}

func pgViews(in *input, out *vec.Block) {
	for it := range in.items() {
		if relkind(it.Kind) == 'v' {
			out.AppendRow(1, str(in.schemaName(it)), str(it.Name), str(in.roleName(it.Owner)), str(viewDefinition(in.Catalog, it)))
		}
	}
}

func pgMatviews(in *input, out *vec.Block) {
	for it := range in.items() {
		if it.Kind == catalog.MaterializedView {
			out.AppendRow(1, str(in.schemaName(it)), str(it.Name), str(in.roleName(it.Owner)), null,
				boolean(in.hasIndexes(it)), boolean(true), str(viewDefinition(in.Catalog, it)))
		}
	}
}

func pgIndexes(in *input, out *vec.Block) {
	for it := range in.items() {
		if it.Kind == catalog.Index {
			out.AppendRow(1, str(in.schemaName(it)), str(in.Catalog.Item(it.On).Name), str(it.Name), null,
				str(in.Catalog.CreateSQL(it)))
		}
	}
}

// viewDefinition is a view's query as pg_get_viewdef gives it: with a semicolon.
func viewDefinition(s *catalog.Snapshot, it *catalog.Item) string { return s.SQL(it.Query) + ";" }

// collationOf is the OID of a type's collation.
func collationOf(t types.T) uint32 {
	if e, ok := t.Elem(); ok {
		t = e
	}
	switch t.OID {
	case types.OIDText, types.OIDVarchar, types.OIDBpchar:
		return oidCollationDefault
	case types.OIDName:
		return oidCollationC
	}
	return 0
}
