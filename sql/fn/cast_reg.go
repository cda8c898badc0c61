package fn

import (
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	rows "github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// reg describes a type of OIDs that print as names.
type reg struct {
	oid            types.OID
	byName, byOID  scalar.Question
	code           pgerr.Code
	missing        string // the message about a name that nothing has, with %s
	toReg          string // the function that gives NULL instead
	toRegOID, text uint32
}

var regs = []reg{
	{types.OIDRegclass, scalar.AskRelOID, scalar.AskRelName, pgerr.UndefinedTable, `relation "%s" does not exist`,
		"to_regclass", 3495, 1079},
	{types.OIDRegtype, scalar.AskTypeOID, scalar.AskTypeName, pgerr.UndefinedObject, `type "%s" does not exist`, "to_regtype", 3493, 0},
	{types.OIDRegproc, scalar.AskProcOID, scalar.AskProcName, pgerr.UndefinedFunction, `function "%s" does not exist`,
		"to_regproc", 3494, 0},
	{types.OIDRegprocedure, scalar.AskProcedureOID, scalar.AskProcedureName, pgerr.UndefinedFunction,
		`function "%s" does not exist`, "to_regprocedure", 3479, 0},
	{types.OIDRegoper, scalar.AskOperOID, scalar.AskOperName, pgerr.UndefinedFunction, "operator does not exist: %s",
		"to_regoper", 3492, 0},
	{types.OIDRegoperator, scalar.AskOperatorOID, scalar.AskOperatorName, pgerr.UndefinedFunction,
		"operator does not exist: %s", "to_regoperator", 3476, 0},
	{types.OIDRegnamespace, scalar.AskSchemaOID, scalar.AskSchemaName, pgerr.InvalidSchemaName,
		`schema "%s" does not exist`, "to_regnamespace", 4086, 0},
	{types.OIDRegrole, scalar.AskRoleOID, scalar.AskRoleName, pgerr.UndefinedObject, `role "%s" does not exist`, "to_regrole", 4093, 0},
	{types.OIDRegcollation, scalar.AskCollationOID, scalar.AskCollationName, pgerr.UndefinedObject,
		`collation "%s" for encoding "UTF8" does not exist`, "to_regcollation", 4195, 0},
	{types.OIDRegconfig, 0, 0, pgerr.UndefinedObject, `text search configuration "%s" does not exist`, "", 0, 0},
}

func regInfo(oid types.OID) *reg {
	for i := range regs {
		if regs[i].oid == oid {
			return &regs[i]
		}
	}
	return nil
}

// regCasts are those that are done without being written: a string where a relation is wanted.
var regCasts = []cast{
	{from: tText, to: tRegclass, oid: 1079, at: fails | stable, row: textToRegclass},
	{from: tVarchar, to: tRegclass, oid: 1079, at: fails | stable, row: textToRegclass},
}

func textToRegclass(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return readNamed(env, tRegclass, a[0].Str())
}

// toRegFuncs look names up and give NULL where there is no such thing.
func toRegFuncs() []scalar.Func {
	var fs []scalar.Func
	for i := range regs {
		r := &regs[i]
		if r.toReg == "" {
			continue
		}
		fs = append(fs, row(r.toReg, r.toRegOID, strict|stable|fails|nulls, sig(tText), types.Of(r.oid),
			func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
				d, err := r.lookup(env, a[0].Str())
				if pgerr.Is(err, pgerr.InvalidName) {
					return vec.Null, nil
				}
				return d, err
			}, "the thing of this name; NULL if there is none"))
	}
	return fs
}

// lookup finds a name; NULL if nothing has it.
func (r *reg) lookup(env scalar.Env, name string) (vec.Datum, error) {
	if r.oid == types.OIDRegtype {
		if t, ok := TypeNamed(name); ok {
			return vec.IntOf(int64(t.OID)), nil
		}
	}
	if r.byName == 0 {
		return vec.Null, nil
	}
	return ask(env, r.byName, vec.StrOf(name))
}

// read reads a number or a name.
func (r *reg) read(env scalar.Env, s string) (vec.Datum, error) {
	if s == "-" {
		return vec.IntOf(0), nil
	}
	if strings.Trim(s, "0123456789") == "" && s != "" {
		oid, err := adt.ParseOID(s)
		return vec.IntOf(oid), err
	}
	d, err := r.lookup(env, s)
	if err == nil && d.IsNull() {
		err = pgerr.Newf(r.code, r.missing, s)
	}
	return d, err
}

// regName is how a value of one of the types prints.
func regName(env scalar.Env, t types.T, d vec.Datum) (string, error) {
	oid := d.Int()
	if oid == 0 {
		return "-", nil
	}
	r := regInfo(t.OID)
	if r.oid == types.OIDRegtype && types.Known(types.OID(oid)) {
		return types.Of(types.OID(oid)).String(), nil
	}
	if r.byOID != 0 {
		name, err := ask(env, r.byOID, d)
		if err != nil || !name.IsNull() {
			return name.Str(), err
		}
	}
	return strconv.FormatInt(oid, 10), nil
}

// readNamed reads a value of such a type, or an array of them.
func readNamed(env scalar.Env, t types.T, s string) (vec.Datum, error) {
	if r := regInfo(t.OID); r != nil {
		return r.read(env, s)
	}
	if elem, ok := t.Elem(); ok {
		var b adt.ElemBuilder
		data, err := b.ParseArray(nil, s, func(b *adt.ElemBuilder, text string) error {
			d, err := readNamed(env, elem, text)
			if err == nil {
				addElem(b, d)
			}
			return err
		})
		return vec.BytesOf(data), err
	}
	if t.Record == nil {
		v := vec.New(t.Kind(), 1)
		err := rows.ParseTextAt(t, s, adt.Clock{}, &v)
		if err != nil {
			return vec.Null, err
		}
		return v.Datum(0), nil
	}
	var b adt.ElemBuilder
	data, err := b.ParseRecord(nil, s, len(t.Record.Fields), func(b *adt.ElemBuilder, i int, text string) error {
		d, err := readNamed(env, t.Record.Fields[i].Type, text)
		if err == nil {
			addElem(b, d)
		}
		return err
	})
	return vec.BytesOf(data), err
}

// typeAliases are names of types that neither pg_type nor format_type has.
var typeAliases = map[string]types.OID{
	"int": types.OIDInt4, "decimal": types.OIDNumeric, "dec": types.OIDNumeric, "float": types.OIDFloat8, "string": types.OIDText,
	"time": types.OIDTime, "timestamp": types.OIDTimestamp, "json": types.OIDJSON, "char": types.OIDBpchar,
	"bool": types.OIDBool,
}

// TypeNamed finds a built-in type by any of its names, as a client would write them in a string.
func TypeNamed(name string) (types.T, bool) {
	s := strings.Join(strings.Fields(name), " ")
	base, array := s, false
	for strings.HasSuffix(base, "[]") {
		base, array = strings.TrimSpace(strings.TrimSuffix(base, "[]")), true
	}
	base = strings.TrimPrefix(base, "pg_catalog.")
	if before, rest, ok := strings.Cut(base, "("); ok {
		if _, after, ok := strings.Cut(rest, ")"); ok {
			base = strings.TrimSpace(before) + after
		}
	}
	t, ok := plainTypeNamed(base)
	if ok && array {
		return t.Array()
	}
	return t, ok
}

func plainTypeNamed(name string) (types.T, bool) {
	if quoted, ok := strings.CutPrefix(name, `"`); ok {
		quoted, ok = strings.CutSuffix(quoted, `"`)
		if !ok {
			return types.T{}, false
		}
		return types.ByName(quoted)
	}
	name = strings.ToLower(name)
	if oid, ok := typeAliases[name]; ok {
		return types.Of(oid), true
	}
	for _, oid := range types.All() {
		if t := types.Of(oid); t.String() == name {
			return t, true
		}
	}
	return types.ByName(name)
}
