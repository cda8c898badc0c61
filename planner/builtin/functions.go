package builtin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// function is a function of any sort, as the catalogs show it.
type function struct {
	oid          uint32
	name, schema string
	args         []types.T
	ret          types.T
	variadic     bool
	strict, set  bool
	kind         byte // as pg_proc.prokind: f or a
	volatility   byte
	doc          string
}

// operator is an operator as the catalogs show it.
type operator struct {
	oid         uint32
	name        string
	left, right types.OID // left is 0 for a prefix operator
	ret         types.T
	doc         string
}

// functions lists all functions by name, then number; operators likewise.
func functions() (list []function, ops []operator) {
	all := fn.All()
	for _, f := range all.Scalars {
		list = append(list, function{f.OID, f.Name, f.Schema, f.Args, f.Ret, f.Variadic, f.Strict, false, 'f',
			volatility(f.Volatility), f.Doc})
	}
	for _, f := range all.Aggregates {
		list = append(list, function{f.OID, f.Name, f.Schema, f.Args, f.Ret, false, false, false, 'a', 'i', f.Doc})
	}
	for _, f := range all.Tables {
		ret := types.Of(types.OIDRecord)
		if len(f.Cols) == 1 {
			ret = f.Cols[0].Type
		}
		list = append(list, function{f.OID, f.Name, f.Schema, f.Args, ret, f.Variadic, f.Strict, true, 'f', 'i', f.Doc})
	}
	slices.SortStableFunc(list, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.oid, b.oid))
	})
	for _, f := range all.Operators {
		o := operator{oid: f.OID, name: f.Name, right: f.Args[0].OID, ret: f.Ret, doc: f.Doc}
		if len(f.Args) == 2 {
			o.left, o.right = f.Args[0].OID, f.Args[1].OID
		}
		ops = append(ops, o)
	}
	return list, ops
}

// cast is a way from one type to another, other than by printing and reading.
type cast struct {
	from, to types.OID
	fn       uint32
	context  byte // as pg_cast.castcontext
	method   byte // as pg_cast.castmethod
}

// casts lists the casts between base types.
func casts() []cast {
	var list []cast
	for _, from := range types.All() {
		for _, to := range types.All() {
			a, b := types.Of(from), types.Of(to)
			strings := a.Category() == 'S' && b.Category() == 'S'
			if from == to || !castable(a) || !castable(b) || !strings && (a.Category() == 'S' || b.Category() == 'S') {
				continue
			}
			for _, ctx := range []types.CastContext{types.Implicit, types.Assignment, types.Explicit} {
				f, ok := fn.Cast(a, b, ctx)
				if !ok {
					continue
				}
				c := cast{from, to, f.OID, "iae"[ctx], 'f'}
				if f.Relabel {
					c.fn, c.method = 0, 'b'
				}
				list = append(list, c)
				break
			}
		}
	}
	return list
}

// castable says whether a type is one that casts are listed of: strings are read and printed as all types are.
func castable(t types.T) bool {
	return t.Category() != 'P' && t.Category() != 'X' && t.Category() != 'A'
}

func volatility(v scalar.Volatility) byte {
	switch v {
	case scalar.Immutable:
		return 'i'
	case scalar.Stable:
		return 's'
	}
	return 'v'
}

// schemaID is the id of one of the system's schemas.
func schemaID(name string) tvc.ID {
	switch name {
	case "mz_catalog":
		return catalog.SchemaMzCatalog
	case "mz_internal":
		return catalog.SchemaMzInternal
	case "mz_unsafe":
		return catalog.SchemaMzUnsafe
	}
	return catalog.SchemaPgCatalog
}

// argTypes are the OIDs of a function's parameters; a variadic one is an array in PostgreSQL's catalogs.
func (f *function) argTypes() []int64 {
	oids := make([]int64, len(f.args))
	for i, t := range f.args {
		oids[i] = int64(t.OID)
	}
	if a, ok := f.variadicType(); ok {
		oids[len(oids)-1] = int64(a.OID)
	}
	return oids
}

// variadicType is the type of a variadic function's last parameter, an array.
func (f *function) variadicType() (types.T, bool) {
	if !f.variadic || len(f.args) == 0 {
		return types.T{}, false
	}
	last := f.args[len(f.args)-1]
	if a, ok := last.Array(); ok {
		return a, true
	}
	return last, true
}

// arguments is a function's parameters as pg_get_function_arguments shows them.
func (f *function) arguments() string {
	parts := make([]string, len(f.args))
	for i, t := range f.args {
		parts[i] = types.Of(t.OID).String()
	}
	if a, ok := f.variadicType(); ok {
		parts[len(parts)-1] = "VARIADIC " + types.Of(a.OID).String()
	}
	return strings.Join(parts, ", ")
}

// result is a function's result as pg_get_function_result shows it.
func (f *function) result() string {
	if f.set {
		return "SETOF " + types.Of(f.ret.OID).String()
	}
	return types.Of(f.ret.OID).String()
}

// call is a function with its parameters, as regprocedure shows it.
func (f *function) call() string {
	parts := make([]string, len(f.args))
	for i, t := range f.args {
		parts[i] = types.Of(t.OID).String()
	}
	return ast.QuoteIdent(f.name) + "(" + strings.Join(parts, ",") + ")"
}

// call is an operator with its operands, as regoperator shows it.
func (o *operator) call() string {
	left := "NONE"
	if o.left != 0 {
		left = types.Of(o.left).String()
	}
	return o.name + "(" + left + "," + types.Of(o.right).String() + ")"
}

func (s *Set) functionRelations() []relation {
	p := catalog.SchemaPgCatalog
	m := catalog.SchemaMzCatalog
	return []relation{
		define(p, oidPgProc, "pg_proc", "oid oid!, proname name!, pronamespace oid!, proowner oid!, prolang oid!, procost float4!, "+
			"prorows float4!, provariadic oid!, prosupport regproc!, prokind char!, prosecdef bool!, proleakproof bool!, "+
			"proisstrict bool!, proretset bool!, provolatile char!, proparallel char!, pronargs int2!, pronargdefaults int2!, "+
			"prorettype oid!, proargtypes oidvector!, proallargtypes _oid, proargmodes _char, proargnames _text, "+
			"proargdefaults text, protrftypes _oid, prosrc text!, probin text, prosqlbody text, proconfig _text, "+
			"proacl _aclitem", s.pgProc),
		define(p, 2600, "pg_aggregate", "aggfnoid regproc!, aggkind char!, aggnumdirectargs int2!", s.pgAggregate),
		define(p, 2617, "pg_operator", "oid oid!, oprname name!, oprnamespace oid!, oprowner oid!, oprkind char!, oprcanmerge bool!, "+
			"oprcanhash bool!, oprleft oid!, oprright oid!, oprresult oid!, oprcom oid!, oprnegate oid!, oprcode regproc!, "+
			"oprrest regproc!, oprjoin regproc!", s.pgOperator),
		define(p, 2605, "pg_cast",
			"oid oid!, castsource oid!, casttarget oid!, castfunc oid!, castcontext char!, castmethod char!", pgCast),
		define(m, 16628, "mz_functions", "id text!, oid oid!, schema_id text!, name text!, argument_type_ids _text!, "+
			"variadic_argument_type_id text, return_type_id text, returns_set bool!, owner_id text!", s.mzFunctions),
		define(m, 16629, "mz_operators", "oid oid!, name text!, argument_type_ids _text!, return_type_id text", s.mzOperators),
	}
}

func (s *Set) pgProc(in *input, out *vec.Block) {
	no := boolean(false)
	for i := range s.functions {
		f := &s.functions[i]
		var variadic uint32
		if a, ok := f.variadicType(); ok {
			variadic = uint32(a.OID)
			if e, ok := a.Elem(); ok {
				variadic = uint32(e.OID)
			}
		}
		rows := 0.0
		if f.set {
			rows = 1000
		}
		out.AppendRow(1, oid(f.oid), str(f.name), oid(in.Catalog.Schema(schemaID(f.schema)).OID), oid(10),
			oid(oidLanguageInternal), vec.FloatOf(1),
			vec.FloatOf(rows), oid(variadic), oid(0), char(f.kind), no, no,
			boolean(f.strict), boolean(f.set), char(f.volatility), char('s'), num(len(f.args)), num(0),
			oid(uint32(f.ret.OID)), oidVector(f.argTypes()), null, null, null,
			null, null, str(f.name), null, null, null, null)
	}
}

func (s *Set) pgAggregate(_ *input, out *vec.Block) {
	for i := range s.functions {
		if f := &s.functions[i]; f.kind == 'a' {
			out.AppendRow(1, oid(f.oid), char('n'), num(0))
		}
	}
}

func (s *Set) pgOperator(_ *input, out *vec.Block) {
	no, none := boolean(false), oid(0)
	for _, o := range s.operators {
		kind := byte('b')
		if o.left == 0 {
			kind = 'l'
		}
		out.AppendRow(1, oid(o.oid), str(o.name), oid(11), oid(10), char(kind), no,
			no, oid(uint32(o.left)), oid(uint32(o.right)), oid(uint32(o.ret.OID)), none, none, none,
			none, none)
	}
}

// pgCast numbers the casts by their types, whose numbers have fifteen bits.
func pgCast(_ *input, out *vec.Block) {
	for _, c := range casts() {
		out.AppendRow(1, oid(uint32(c.from)<<15|uint32(c.to)), oid(uint32(c.from)), oid(uint32(c.to)), oid(c.fn),
			char(c.context), char(c.method))
	}
}

// functionID is a function's id, as those of relations.
func functionID(oid uint32) tvc.ID { return tvc.ID{Class: 's', N: uint64(oid)} }

func typeIDs(ts []types.T) []string {
	ids := make([]string, len(ts))
	for i, t := range ts {
		ids[i] = typeID(t).String()
	}
	return ids
}

func (s *Set) mzFunctions(_ *input, out *vec.Block) {
	for i := range s.functions {
		f := &s.functions[i]
		args, variadic := f.args, null
		if f.variadic && len(args) > 0 {
			variadic = id(typeID(args[len(args)-1]))
			args = args[:len(args)-1]
		}
		out.AppendRow(1, id(functionID(f.oid)), oid(f.oid), id(schemaID(f.schema)), str(f.name), TextArray(typeIDs(args)),
			variadic, id(typeID(f.ret)), boolean(f.set), id(catalog.RoleSystem))
	}
}

func (s *Set) mzOperators(_ *input, out *vec.Block) {
	for _, o := range s.operators {
		args := []types.T{types.Of(o.right)}
		if o.left != 0 {
			args = []types.T{types.Of(o.left), types.Of(o.right)}
		}
		out.AppendRow(1, oid(o.oid), str(o.name), TextArray(typeIDs(args)), id(typeID(o.ret)))
	}
}
