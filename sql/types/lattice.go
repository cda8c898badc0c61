package types

import (
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// castRule says in what place values of a type are cast to others.
type castRule struct {
	from OID
	ctx  CastContext
	to   []OID
}

// regs are the types of numbers of objects that print as names.
var regs = []OID{OIDRegproc, OIDRegprocedure, OIDRegoper, OIDRegoperator, OIDRegclass, OIDRegtype, OIDRegconfig,
	OIDRegnamespace, OIDRegrole, OIDRegcollation}

// castRules is pg_cast, between different types that we know, and what mz_timestamp adds.
var castRules = append(regRules(), []castRule{
	{OIDBool, Explicit, []OID{OIDInt4}},
	{OIDBool, Assignment, []OID{OIDText, OIDBpchar, OIDVarchar}},
	{OIDChar, Implicit, []OID{OIDText}},
	{OIDChar, Assignment, []OID{OIDBpchar, OIDVarchar}},
	{OIDChar, Explicit, []OID{OIDInt4}},
	{OIDName, Implicit, []OID{OIDText}},
	{OIDName, Assignment, []OID{OIDBpchar, OIDVarchar}},
	{OIDInt2, Implicit, []OID{OIDInt8, OIDInt4, OIDFloat4, OIDFloat8, OIDNumeric}},
	{OIDInt4, Implicit, []OID{OIDInt8, OIDFloat4, OIDFloat8, OIDNumeric, OIDMzTimestamp}},
	{OIDInt4, Assignment, []OID{OIDInt2}},
	{OIDInt4, Explicit, []OID{OIDBool, OIDChar}},
	{OIDInt8, Implicit, []OID{OIDFloat4, OIDFloat8, OIDNumeric, OIDMzTimestamp}},
	{OIDInt8, Assignment, []OID{OIDInt2, OIDInt4}},
	{OIDText, Implicit, []OID{OIDName, OIDBpchar, OIDVarchar, OIDRegclass}},
	{OIDText, Assignment, []OID{OIDChar}},
	{OIDBpchar, Implicit, []OID{OIDName, OIDText, OIDVarchar}},
	{OIDBpchar, Assignment, []OID{OIDChar}},
	{OIDVarchar, Implicit, []OID{OIDName, OIDText, OIDBpchar, OIDRegclass}},
	{OIDVarchar, Assignment, []OID{OIDChar}},
	{OIDFloat4, Implicit, []OID{OIDFloat8}},
	{OIDFloat4, Assignment, []OID{OIDInt8, OIDInt2, OIDInt4, OIDNumeric}},
	{OIDFloat8, Assignment, []OID{OIDInt8, OIDInt2, OIDInt4, OIDFloat4, OIDNumeric}},
	{OIDNumeric, Implicit, []OID{OIDFloat4, OIDFloat8, OIDMzTimestamp}},
	{OIDNumeric, Assignment, []OID{OIDInt8, OIDInt2, OIDInt4}},
	{OIDDate, Implicit, []OID{OIDTimestamp, OIDTimestampTZ, OIDMzTimestamp}},
	{OIDTime, Implicit, []OID{OIDInterval}},
	{OIDTimestamp, Implicit, []OID{OIDTimestampTZ, OIDMzTimestamp}},
	{OIDTimestamp, Assignment, []OID{OIDDate, OIDTime}},
	{OIDTimestampTZ, Implicit, []OID{OIDMzTimestamp}},
	{OIDTimestampTZ, Assignment, []OID{OIDDate, OIDTime, OIDTimestamp}},
	{OIDInterval, Assignment, []OID{OIDTime}},
	{OIDJSON, Assignment, []OID{OIDJsonb}},
	{OIDJsonb, Assignment, []OID{OIDJSON}},
	{OIDJsonb, Explicit, []OID{OIDBool, OIDInt8, OIDInt2, OIDInt4, OIDFloat4, OIDFloat8, OIDNumeric}},
	{OIDMzTimestamp, Assignment, []OID{OIDTimestamp, OIDTimestampTZ}},
	{OIDMzTimestamp, Explicit, []OID{OIDInt8, OIDNumeric}},
	{OIDRegproc, Implicit, []OID{OIDRegprocedure}},
	{OIDRegprocedure, Implicit, []OID{OIDRegproc}},
	{OIDRegoper, Implicit, []OID{OIDRegoperator}},
	{OIDRegoperator, Implicit, []OID{OIDRegoper}},
}...)

// regRules are the casts between numbers, oid and the reg types, which are the same for all of these.
func regRules() []castRule {
	number := append([]OID{OIDOid}, regs...)
	rules := []castRule{
		{OIDInt2, Implicit, number}, {OIDInt4, Implicit, number}, {OIDInt8, Implicit, number},
		{OIDOid, Implicit, regs}, {OIDOid, Assignment, []OID{OIDInt8, OIDInt4}},
	}
	for _, r := range regs {
		rules = append(rules, castRule{r, Implicit, []OID{OIDOid}}, castRule{r, Assignment, []OID{OIDInt8, OIDInt4}})
	}
	return rules
}

type castPair struct{ from, to OID }

var casts = indexCasts()

func indexCasts() map[castPair]CastContext {
	m := map[castPair]CastContext{}
	for _, r := range castRules {
		for _, to := range r.to {
			m[castPair{r.from, to}] = r.ctx
		}
	}
	return m
}

// CanCast says whether values of one type can be cast to another, and gives the least explicit place in
// which they are, by PostgreSQL's rules: its table of casts; arrays element by element; printing to a string
// type on assignment and reading from one explicitly. A literal of unknown type becomes anything.
// Modifiers do not matter. Polymorphic types are no business of this function.
func CanCast(from, to T) (CastContext, bool) {
	if from.OID == to.OID {
		return castSame(from, to)
	}
	if from.OID == OIDUnknown {
		return Implicit, to.Category() != 'P'
	}
	if ctx, ok := casts[castPair{from.OID, to.OID}]; ok {
		return ctx, true
	}
	ctx, ok := castElems(from, to)
	viaText := CastContext(0)
	switch {
	case from.Category() == 'P' && !isRecords(from) || to.Category() == 'P':
		return ctx, ok
	case to.Category() == 'S':
		viaText = Assignment
	case from.Category() == 'S':
		viaText = Explicit
	default:
		return ctx, ok
	}
	if ok && ctx <= viaText {
		return ctx, true
	}
	return viaText, true
}

// isRecords says whether values are records or arrays of them: pseudo-types whose values can be printed.
func isRecords(t T) bool {
	if e, ok := t.Elem(); ok {
		t = e
	}
	return t.OID == OIDRecord
}

// castSame is about records, the one type whose values are of many shapes.
func castSame(from, to T) (CastContext, bool) {
	if from.Record == nil || to.Record == nil {
		return Implicit, true
	}
	if len(from.Record.Fields) != len(to.Record.Fields) {
		return 0, false
	}
	most := Implicit
	for i, f := range from.Record.Fields {
		ctx, ok := CanCast(f.Type, to.Record.Fields[i].Type)
		if !ok {
			return 0, false
		}
		most = max(most, ctx)
	}
	return most, true
}

// castElems is about arrays. Nothing is cast to the two vectors of the catalog in this way, since not every
// array is one.
func castElems(from, to T) (CastContext, bool) {
	f, ok := from.Elem()
	if !ok || to.OID == OIDInt2Vector || to.OID == OIDOidVector {
		return 0, false
	}
	t, ok := to.Elem()
	if !ok {
		return 0, false
	}
	return CanCast(f, t)
}

// CommonType finds the type that values of several types are cast to where they must be of one, such as the
// branches of a CASE or of a UNION, by PostgreSQL's rules: the first that is not unknown, unless a later one of
// its category can take it in without a word and not the other way round. If all are unknown it is text.
// context is for the message: "CASE types integer and boolean cannot be matched".
func CommonType(context string, ts ...T) (T, error) {
	if len(ts) == 0 {
		return TText, nil
	}
	common := ts[0]
	if common.OID != OIDUnknown && !slices.ContainsFunc(ts, func(t T) bool { return !t.Equal(common) }) {
		return common, nil
	}
	for _, t := range ts[1:] {
		switch {
		case t.OID == OIDUnknown || t.OID == common.OID:
		case common.OID == OIDUnknown:
			common = t
		case t.Category() != common.Category():
			return common, pgerr.Newf(pgerr.DatatypeMismatch, "%s types %s and %s cannot be matched",
				context, Of(common.OID), Of(t.OID))
		case !common.Preferred() && implicit(common, t) && !implicit(t, common):
			common = t
		}
	}
	if common.OID == OIDUnknown {
		return TText, nil
	}
	common.Mod = NoMod
	return common, nil
}

func implicit(from, to T) bool {
	ctx, ok := CanCast(from, to)
	return ok && ctx == Implicit
}
