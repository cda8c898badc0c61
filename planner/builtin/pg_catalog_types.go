package builtin

import (
	"iter"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// The collations: PostgreSQL's OIDs. Ours is "C" in all but name.
const (
	oidCollationDefault = 100
	oidCollationC       = 950
	oidCollationPosix   = 951
)

// The languages that functions are said to be written in.
const (
	oidLanguageInternal = 12
	oidLanguageSQL      = 14
)

// layout is what pg_type says of how values lie on PostgreSQL's pages; drivers look at it, nothing else does.
type layout struct {
	byVal          bool
	align, storage byte
}

func layoutOf(t types.T) layout {
	switch n := t.Len(); {
	case t.OID == types.OIDName || t.OID == types.OIDChar || t.OID == types.OIDUUID:
		return layout{t.OID == types.OIDChar, 'c', 'p'}
	case t.OID == types.OIDInterval:
		return layout{false, 'd', 'p'}
	case n == 1:
		return layout{true, 'c', 'p'}
	case n == 2:
		return layout{true, 's', 'p'}
	case n == 4:
		return layout{true, 'i', 'p'}
	case n == 8:
		return layout{true, 'd', 'p'}
	case n == -2:
		return layout{false, 'c', 'p'}
	case t.OID == types.OIDInt2Vector || t.OID == types.OIDOidVector:
		return layout{false, 'i', 'p'}
	case t.OID == types.OIDNumeric:
		return layout{false, 'i', 'm'}
	case n > 0:
		return layout{false, 'i', 'p'}
	case t.Category() == 'P' || t.Category() == 'A' && wideElem(t):
		return layout{false, 'd', 'x'}
	}
	return layout{false, 'i', 'x'}
}

func wideElem(t types.T) bool { e, ok := t.Elem(); return ok && layoutOf(e).align == 'd' }

func pgCatalogTypes() []relation {
	p := catalog.SchemaPgCatalog
	return []relation{
		define(p, oidPgType, "pg_type", "oid oid!, typname name!, typnamespace oid!, typowner oid!, typlen int2!, typbyval bool!, "+
			"typtype char!, typcategory char!, typispreferred bool!, typisdefined bool!, typdelim char!, typrelid oid!, "+
			"typsubscript regproc!, typelem oid!, typarray oid!, typinput regproc!, typoutput regproc!, typreceive regproc!, "+
			"typsend regproc!, typmodin regproc!, typmodout regproc!, typanalyze regproc!, typalign char!, typstorage char!, "+
			"typnotnull bool!, typbasetype oid!, typtypmod int4!, typndims int4!, typcollation oid!, typdefaultbin text, "+
			"typdefault text, typacl _aclitem", pgType),
		define(p, 2601, "pg_am", "oid oid!, amname name!, amhandler regproc!, amtype char!", pgAm),
		define(p, 3456, "pg_collation", "oid oid!, collname name!, collnamespace oid!, collowner oid!, collprovider char!, "+
			"collisdeterministic bool!, collencoding int4!, collcollate text, collctype text, colliculocale text, "+
			"collversion text", pgCollation),
		define(p, 2612, "pg_language", "oid oid!, lanname name!, lanowner oid!, lanispl bool!, lanpltrusted bool!, "+
			"lanplcallfoid oid!, laninline oid!, lanvalidator oid!, lanacl _aclitem", pgLanguage),
	}
}

// allTypes goes through all types, those of arrays among them, in ascending order of declaration, each array
// after its element.
func allTypes() iter.Seq[types.T] {
	return func(yield func(types.T) bool) {
		for _, o := range types.All() {
			t := types.Of(o)
			if !yield(t) {
				return
			}
			if a, ok := t.Array(); ok && !yield(a) {
				return
			}
		}
	}
}

// typeSchema is the id of the schema a type is in.
func typeSchema(t types.T) tvc.ID {
	if e, ok := t.Elem(); ok {
		t = e
	}
	if t.OID == types.OIDMzTimestamp {
		return catalog.SchemaMzCatalog
	}
	return catalog.SchemaPgCatalog
}

func pgType(in *input, out *vec.Block) {
	for t := range allTypes() {
		kind := byte('b')
		if t.Category() == 'P' || t.Category() == 'X' {
			kind = 'p'
		}
		var elem, array uint32
		if e, ok := t.Elem(); ok {
			elem = uint32(e.OID)
		}
		if a, ok := t.Array(); ok {
			array = uint32(a.OID)
		}
		l := layoutOf(t)
		none := oid(0)
		out.AppendRow(1, oid(uint32(t.OID)), str(t.Name()), oid(in.Catalog.Schema(typeSchema(t)).OID), oid(10),
			num(t.Len()), boolean(l.byVal),
			char(kind), char(t.Category()), boolean(t.Preferred()), boolean(true), char(','), none,
			none, oid(elem), oid(array), none, none, none,
			none, none, none, none, char(l.align), char(l.storage),
			boolean(false), none, num(-1), num(0), oid(collationOf(t)), null,
			null, null)
	}
}

func pgAm(_ *input, out *vec.Block) {
	out.AppendRow(1, oid(oidArrangement), str(nameArrangement), oid(0), char('i'))
}

type collation struct {
	oid      uint32
	name     string
	provider byte
	collate  string
}

func collations() []collation {
	return []collation{{oidCollationDefault, "default", 'd', ""}, {oidCollationC, "C", 'c', "C"}, {oidCollationPosix,
		"POSIX", 'c', "POSIX"}}
}

func pgCollation(_ *input, out *vec.Block) {
	for _, c := range collations() {
		out.AppendRow(1, oid(c.oid), str(c.name), oid(11), oid(10), char(c.provider), boolean(true), num(-1),
			orNull(c.collate), orNull(c.collate), null, null)
	}
}

func pgLanguage(_ *input, out *vec.Block) {
	no, none := boolean(false), oid(0)
	out.AppendRow(1, oid(oidLanguageInternal), str("internal"), oid(10), no, no, none, none, none, null)
	out.AppendRow(1, oid(oidLanguageSQL), str("sql"), oid(10), no, boolean(true), none, none, none, null)
}

// describeTypes hands the comments of types to add.
func describeTypes(add func(object, class uint32, sub int, text string)) {
	add(uint32(types.OIDMzTimestamp), oidPgType, 0, "logical time: milliseconds since 1970")
}
