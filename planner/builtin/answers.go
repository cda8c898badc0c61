package builtin

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Answers answers what expressions ask about the catalog. It is immutable, so safe for concurrent use.
type Answers struct {
	Set     *Set
	Catalog *catalog.Snapshot
	Path    catalog.Path
}

// Ask answers a question about the catalog; known is false for all others.
func (a *Answers) Ask(q scalar.Question, arg vec.Datum) (answer vec.Datum, known bool, err error) {
	if answer, known, err = a.askName(q, arg); known {
		return answer, true, err
	}
	switch q {
	case scalar.AskRelVisible:
		it := a.Catalog.ItemByOID(uint32(arg.Int()))
		if it == nil {
			return null, true, nil
		}
		// A bare name finds mz_catalog's relations as it finds pg_catalog's. But psql knows to leave only the latter out
		// of its lists, so unless the client has put mz_catalog into its path they are said not to be visible.
		hidden := it.Schema == catalog.SchemaMzCatalog && !slices.Contains(a.Path.Search, "mz_catalog")
		return boolean(!hidden && a.Catalog.Visible(a.Path, it)), true, nil
	case scalar.AskTypeVisible:
		return boolOrNull(types.Known(types.OID(arg.Int()))), true, nil
	case scalar.AskProcVisible:
		f := a.Set.function(uint32(arg.Int()))
		if f == nil {
			return null, true, nil
		}
		return boolean(a.inPath(schemaID(f.schema))), true, nil
	case scalar.AskOperVisible:
		return boolOrNull(a.Set.operator(uint32(arg.Int())) != nil), true, nil
	case scalar.AskViewDef:
		if it := a.Catalog.ItemByOID(uint32(arg.Int())); it != nil && !it.Query.IsEmpty() {
			return str(viewDefinition(a.Catalog, it)), true, nil
		}
		return null, true, nil
	case scalar.AskIndexDef:
		if it := a.Catalog.ItemByOID(uint32(arg.Int())); it != nil && it.Kind == catalog.Index {
			return str(a.Catalog.CreateSQL(it)), true, nil
		}
		return null, true, nil
	case scalar.AskIndexColumn:
		return a.indexColumn(arg), true, nil
	case scalar.AskConstraintDef:
		return null, true, nil // there are no constraints with OIDs
	case scalar.AskProcResult:
		if f := a.Set.function(uint32(arg.Int())); f != nil {
			return str(f.result()), true, nil
		}
		return null, true, nil
	case scalar.AskProcArguments:
		if f := a.Set.function(uint32(arg.Int())); f != nil {
			return str(f.arguments()), true, nil
		}
		return null, true, nil
	case scalar.AskComment:
		object, class := scalar.Asked2(arg)
		if slices.Contains(commentClasses(), object) && !slices.Contains(commentClasses(), class) {
			object, class = class, object
		}
		return orNull(a.comment(class, object)), true, nil
	case scalar.AskAnyComment:
		for _, class := range commentClasses() {
			if text := a.comment(class, uint32(arg.Int())); text != "" {
				return str(text), true, nil
			}
		}
		return null, true, nil
	case scalar.AskColumnComment:
		rel, column := scalar.Asked2(arg)
		if it := a.Catalog.ItemByOID(rel); it != nil && column >= 1 && int(column) <= len(it.Rel.Cols) {
			return orNull(it.ColumnComment(int(column) - 1)), true, nil
		}
		return null, true, nil
	}
	return null, false, nil
}

// askName answers questions from names to numbers and back. It is long because it is a switch over a closed set.
func (a *Answers) askName(q scalar.Question, arg vec.Datum) (answer vec.Datum, known bool, err error) {
	switch q {
	case scalar.AskRelOID:
		answer, err = a.relationOID(arg.Str())
	case scalar.AskRelName:
		if it := a.Catalog.ItemByOID(uint32(arg.Int())); it != nil {
			answer = str(a.Catalog.ShownName(a.Path, it))
		}
	case scalar.AskTypeOID, scalar.AskTypeName:
		// All types are built in.
	case scalar.AskProcOID, scalar.AskProcedureOID:
		answer, err = a.functionOID(arg.Str(), q == scalar.AskProcedureOID)
	case scalar.AskProcName:
		if f := a.Set.function(uint32(arg.Int())); f != nil {
			answer = str(ast.QuoteIdent(f.name))
		}
	case scalar.AskProcedureName:
		if f := a.Set.function(uint32(arg.Int())); f != nil {
			answer = str(f.call())
		}
	case scalar.AskOperOID, scalar.AskOperatorOID:
		answer, err = a.operatorOID(arg.Str(), q == scalar.AskOperatorOID)
	case scalar.AskOperName:
		if o := a.Set.operator(uint32(arg.Int())); o != nil {
			answer = str(o.name)
		}
	case scalar.AskOperatorName:
		if o := a.Set.operator(uint32(arg.Int())); o != nil {
			answer = str(o.call())
		}
	case scalar.AskSchemaOID:
		if d := a.Catalog.DatabaseNamed(a.Path.Database); d != nil {
			answer = schemaOIDOrNull(a.Catalog.SchemaNamed(d.ID, unquoted(arg.Str())))
		} else {
			answer = schemaOIDOrNull(a.Catalog.SchemaNamed(tvc.ID{}, unquoted(arg.Str())))
		}
	case scalar.AskSchemaName:
		for c := range a.Catalog.Schemas() {
			if c.OID == uint32(arg.Int()) {
				answer = str(ast.QuoteIdent(c.Name))
			}
		}
	case scalar.AskRoleOID:
		if r := a.Catalog.RoleNamed(unquoted(arg.Str())); r != nil {
			answer = oid(r.OID)
		}
	case scalar.AskRoleName:
		for r := range a.Catalog.Roles() {
			if r.OID == uint32(arg.Int()) {
				answer = str(ast.QuoteIdent(r.Name))
			}
		}
	case scalar.AskCollationOID:
		for _, c := range collations() {
			if c.name == unquoted(lastPart(arg.Str())) {
				answer = oid(c.oid)
			}
		}
	case scalar.AskCollationName:
		for _, c := range collations() {
			if c.oid == uint32(arg.Int()) {
				answer = str(ast.QuoteIdent(c.name))
			}
		}
	case scalar.AskDatabaseOID:
		if d := a.Catalog.DatabaseNamed(unquoted(arg.Str())); d != nil {
			answer = oid(d.OID)
		}
	default:
		return null, false, nil
	}
	return answer, true, err
}

func boolOrNull(x bool) vec.Datum {
	if x {
		return boolean(true)
	}
	return null
}

func schemaOIDOrNull(c *catalog.Schema) vec.Datum {
	if c == nil {
		return null
	}
	return oid(c.OID)
}

// inPath says whether a schema is one of those that bare names are looked up in.
func (a *Answers) inPath(schema tvc.ID) bool {
	return slices.ContainsFunc(a.Catalog.SearchPath(a.Path, true), func(c *catalog.Schema) bool { return c.ID == schema })
}

func (s *Set) function(oid uint32) *function {
	if i, ok := s.functionAt[oid]; ok {
		return &s.functions[i]
	}
	return nil
}

func (s *Set) operator(oid uint32) *operator {
	if i, ok := s.operatorAt[oid]; ok {
		return &s.operators[i]
	}
	return nil
}

// relationOID finds a relation by its name in a string.
func (a *Answers) relationOID(text string) (vec.Datum, error) {
	parts, err := splitName(text)
	if err != nil {
		return null, err
	}
	n := catalog.Name{Item: parts[len(parts)-1]}
	switch len(parts) {
	case 1:
	case 2:
		n.Schema = parts[0]
	case 3:
		n.Database, n.Schema = parts[0], parts[1]
	default:
		return null, pgerr.Newf(pgerr.SyntaxError, "improper relation name (too many dotted names): %s", text)
	}
	if it := a.Catalog.Resolve(a.Path, n); it != nil {
		return oid(it.OID), nil
	}
	return null, nil
}

// functionOID finds a function by name, or by name and the types of its parameters.
func (a *Answers) functionOID(text string, withArgs bool) (vec.Datum, error) {
	name, args, ok := cutArgs(text, withArgs)
	if !ok {
		return null, pgerr.New(pgerr.InvalidTextRepresentation, "expected a left parenthesis")
	}
	found := null
	count := 0
	for i := range a.Set.functions {
		f := &a.Set.functions[i]
		if f.name != unquoted(lastPart(name)) || withArgs && !sameTypes(args, f.args) {
			continue
		}
		found, count = oid(f.oid), count+1
	}
	if count > 1 {
		return null, pgerr.Newf(pgerr.AmbiguousFunction, "more than one function named %q", name)
	}
	return found, nil
}

func (a *Answers) operatorOID(text string, withArgs bool) (vec.Datum, error) {
	name, args, ok := cutArgs(text, withArgs)
	if !ok {
		return null, pgerr.New(pgerr.InvalidTextRepresentation, "expected a left parenthesis")
	}
	found := null
	count := 0
	for _, o := range a.Set.operators {
		operands := []types.T{types.Of(o.left), types.Of(o.right)}
		if o.name != lastPart(name) || withArgs && !sameTypes(args, operands) {
			continue
		}
		found, count = oid(o.oid), count+1
	}
	if count > 1 {
		return null, pgerr.Newf(pgerr.AmbiguousFunction, "more than one operator named %s", name)
	}
	return found, nil
}

// cutArgs takes name(type, type) apart.
func cutArgs(text string, withArgs bool) (name string, args []string, ok bool) {
	if !withArgs {
		return text, nil, true
	}
	name, rest, ok := strings.Cut(text, "(")
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if !ok || !closed {
		return "", nil, false
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		args = strings.Split(rest, ",")
	}
	return strings.TrimSpace(name), args, true
}

// sameTypes compares types by name with types; NONE is no type.
func sameTypes(names []string, ts []types.T) bool {
	if len(names) != len(ts) {
		return false
	}
	for i, n := range names {
		n = strings.TrimSpace(n)
		if strings.EqualFold(n, "none") && ts[i].OID == 0 {
			continue
		}
		if t, ok := fn.TypeNamed(n); (!ok || t.OID != ts[i].OID) && n != types.Of(ts[i].OID).String() {
			return false
		}
	}
	return true
}

// indexColumn is the text of a column of an index, or of all its key for column 0.
func (a *Answers) indexColumn(arg vec.Datum) vec.Datum {
	rel, column := scalar.Asked2(arg)
	it := a.Catalog.ItemByOID(rel)
	switch {
	case it == nil || it.Kind != catalog.Index || int(column) > len(it.Key):
		return null
	case column == 0:
		return str(a.Catalog.CreateSQL(it))
	}
	return str(a.Catalog.KeyPartSQL(it, int(column)-1))
}

// commentClasses lists the catalogs whose objects have comments.
func commentClasses() []uint32 {
	return []uint32{oidPgClass, oidPgNamespace, oidPgDatabase, oidPgAuthid, oidPgType, oidPgProc, oidPgOperator}
}

// comment is the comment on an object of a catalog, "" without one.
func (a *Answers) comment(class, object uint32) string {
	switch class {
	case oidPgClass:
		if it := a.Catalog.ItemByOID(object); it != nil {
			return it.Comment
		}
	case oidPgNamespace:
		for c := range a.Catalog.Schemas() {
			if c.OID == object {
				return c.Comment
			}
		}
	case oidPgDatabase:
		for d := range a.Catalog.Databases() {
			if d.OID == object {
				return d.Comment
			}
		}
	case oidPgAuthid:
		for r := range a.Catalog.Roles() {
			if r.OID == object {
				return r.Comment
			}
		}
	case oidPgProc:
		if f := a.Set.function(object); f != nil {
			return f.doc
		}
	case oidPgOperator:
		if o := a.Set.operator(object); o != nil {
			return o.doc
		}
	}
	return ""
}

// splitName takes a name in a string apart: parts with dots between, folded unless quoted. A number in the place of a
// name is the caller's business.
func splitName(text string) ([]string, error) {
	var parts []string
	rest := strings.TrimSpace(text)
	for {
		var part string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			for {
				piece, after, closed := strings.Cut(quoted, `"`)
				if !closed {
					return nil, invalidName(text)
				}
				part += piece
				if quoted, ok = strings.CutPrefix(after, `"`); !ok {
					rest = after
					break
				}
				part += `"`
			}
		} else {
			end := strings.IndexByte(rest, '.')
			if end < 0 {
				end = len(rest)
			}
			part, rest = strings.ToLower(strings.TrimSpace(rest[:end])), rest[end:]
		}
		if part == "" {
			return nil, invalidName(text)
		}
		parts = append(parts, part)
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return parts, nil
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "."); !ok {
			return nil, invalidName(text)
		}
		rest = strings.TrimSpace(rest)
	}
}

func invalidName(text string) error {
	return pgerr.New(pgerr.InvalidName, "invalid name syntax").WithDetail("The name is %s.", strconv.Quote(text))
}

// unquoted is a name of one part as it is meant; a text that is no name means itself.
func unquoted(text string) string {
	if parts, err := splitName(text); err == nil && len(parts) == 1 {
		return parts[0]
	}
	return text
}

// lastPart is what stands behind the schema, as it is written.
func lastPart(text string) string {
	for _, schema := range []string{"pg_catalog.", "mz_catalog.", "mz_internal.", "mz_unsafe."} {
		if rest, ok := strings.CutPrefix(text, schema); ok {
			return rest
		}
	}
	return text
}
