package fn

import (
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// cast is one way from a type to another.
type cast struct {
	from, to types.T
	// ctx is the least explicit place in which it is done.
	ctx types.CastContext
	oid uint32
	at  attr
	// One of these: the value is the same; a loop; a function of one row.
	relabel bool
	kernel  kernel
	row     rowFunc
	// sized, if set, makes the loop for a target with a modifier; else the modifier is applied afterwards.
	sized func(mod int32) kernel
}

type castKey struct{ from, to types.OID }

var castIndex = indexCasts()

func indexCasts() map[castKey]*cast {
	index := map[castKey]*cast{}
	for _, family := range [][]cast{numberCasts(), stringCasts, regCasts, datetimeCasts, jsonbCasts} {
		for i := range family {
			c := &family[i]
			key := castKey{c.from.OID, c.to.OID}
			if index[key] != nil {
				panic("fn: two casts " + scalar.CastName(c.from, c.to))
			}
			index[key] = c
		}
	}
	return index
}

// castable says whether Cast would find something.
func castable(from, to types.T, ctx types.CastContext) bool {
	if from.OID == to.OID || from.OID == types.OIDUnknown {
		return true
	}
	if c := castIndex[castKey{from.OID, to.OID}]; c != nil {
		return c.ctx <= ctx
	}
	if viaText(from, to, ctx) {
		return true
	}
	if to.OID == types.OIDRecord && from.Record != nil {
		return true
	}
	x, xok := from.Elem()
	y, yok := to.Elem()
	return xok && yok && !isVector(to.OID) && !isVector(from.OID) && castable(x, y, ctx)
}

// isVector says whether a type is one of the two fixed array types of the catalog, whose elements are not cast.
func isVector(oid types.OID) bool { return oid == types.OIDInt2Vector || oid == types.OIDOidVector }

// viaText says whether a cast goes by printing or reading: to a string in an assignment, from one when told to.
func viaText(from, to types.T, ctx types.CastContext) bool {
	if pseudo(from) && from.OID != types.OIDRecord || pseudo(to) {
		return false
	}
	return to.Category() == 'S' && ctx >= types.Assignment || from.Category() == 'S' && ctx == types.Explicit
}

func pseudo(t types.T) bool { return t.Category() == 'P' }

// Cast gives the Func that casts between two types in a place of the given sort, the target's modifier included;
// false if there is none. A cast that leaves the value as it is has Relabel set. From unknown it reads a literal.
func Cast(from, to types.T, ctx types.CastContext) (*scalar.Func, bool) {
	f := baseCast(from, to, ctx)
	if f == nil {
		return nil, false
	}
	return f, true
}

// CannotCast is the error for a cast that does not exist.
func CannotCast(from, to types.T) error {
	return pgerr.Newf(pgerr.CannotCoerce, "cannot cast type %s to %s", types.Of(from.OID), types.Of(to.OID))
}

func baseCast(from, to types.T, ctx types.CastContext) *scalar.Func {
	c := castIndex[castKey{from.OID, to.OID}]
	switch {
	case from.OID == to.OID && from.Record != nil && to.Record != nil && !from.Equal(to):
		return castRecord(from, to, ctx)
	case from.OID == to.OID && from.IsArray() && to.Mod != types.NoMod && to.Mod != from.Mod:
		return castArray(from, to, ctx)
	case from.OID == to.OID:
		return withMod(newCast(from, to, 0, strict).relabelled(), from, to, ctx)
	case from.OID == types.OIDUnknown && to.OID == types.OIDText:
		return (*scalar.Func)(newCast(from, to, 0, strict).relabelled())
	case from.OID == types.OIDUnknown && to.Category() == 'S':
		return castIndex[castKey{types.OIDText, to.OID}].bind(from, to, ctx)
	case from.OID == types.OIDUnknown:
		return readCast(from, to, ctx)
	case c != nil && c.ctx > ctx:
		return nil
	case c != nil:
		return c.bind(from, to, ctx)
	case viaText(from, to, ctx):
		if to.Category() == 'S' {
			return withMod(printCast(from, to), from, to, ctx)
		}
		return readCast(from, to, ctx)
	case to.OID == types.OIDRecord && from.Record != nil:
		return (*scalar.Func)(newCast(from, to, 0, strict).relabelled())
	}
	return castArray(from, to, ctx)
}

// bind makes the Func of a cast in the table.
func (c *cast) bind(from, to types.T, ctx types.CastContext) *scalar.Func {
	f := newCast(from, to, c.oid, c.at|strict)
	f.Kernel, f.Row, f.Relabel = c.kernel, c.row, c.relabel
	if c.sized != nil {
		if f.Kernel = c.sized(to.Mod); to.Mod != types.NoMod {
			f.CanFail = true
		}
		return (*scalar.Func)(f)
	}
	return withMod(f, from, to, ctx)
}

// castFunc is a Func in the making.
type castFunc scalar.Func

func newCast(from, to types.T, oid uint32, at attr) *castFunc {
	f := entry(scalar.CastName(from, to), oid, at, sig(from), to, "casts "+from.String()+" to "+to.String())
	return (*castFunc)(&f)
}

func (f *castFunc) relabelled() *castFunc {
	f.Relabel = true
	return f
}

// withMod adds the length or precision that the target's modifier asks for.
func withMod(f *castFunc, from, to types.T, ctx types.CastContext) *scalar.Func {
	if to.Mod == types.NoMod || from.OID == to.OID && from.Mod == to.Mod {
		return (*scalar.Func)(f)
	}
	m := coercion(to, ctx)
	if m == nil {
		return (*scalar.Func)(f)
	}
	f.CanFail = f.CanFail || m.fails
	f.OID = m.oid
	if f.Relabel {
		f.Relabel, f.Kernel = false, m.kernel
		return (*scalar.Func)(f)
	}
	second := kern(f.Name, m.oid, strict, sig(types.Of(to.OID)), to, m.kernel, "")
	return f.then(&second)
}

// then makes f do another cast with what it gives.
func (f *castFunc) then(second *scalar.Func) *scalar.Func {
	first := (scalar.Func)(*f)
	f.Kernel, f.OID, f.Ret = nil, second.OID, second.Ret
	f.CanFail = f.CanFail || second.CanFail
	f.Row = func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		v, err := first.Apply(env, a, second.Ret.Kind())
		if err != nil {
			return v, err
		}
		return applyCast(second, env, v)
	}
	return (*scalar.Func)(f)
}

// modifier is what applies a type's modifier to its values.
type modifier struct {
	oid    uint32
	fails  bool
	kernel kernel
}

// coercion gives what applies the modifier of t; nil where modifiers mean nothing.
func coercion(t types.T, ctx types.CastContext) *modifier {
	mod := t.Mod
	switch t.OID {
	case types.OIDVarchar, types.OIDBpchar:
		return stringLength(t, ctx)
	case types.OIDNumeric:
		return &modifier{oid: 1703, fails: true, kernel: numericFit(mod)}
	case types.OIDTime:
		return &modifier{oid: 1968, kernel: func(b *scalar.Batch) { roundTime(b, mod) }}
	case types.OIDTimestamp:
		return &modifier{oid: 1961, fails: true, kernel: roundTimestamp(mod)}
	case types.OIDTimestampTZ:
		return &modifier{oid: 1967, fails: true, kernel: roundTimestamp(mod)}
	case types.OIDInterval:
		return &modifier{oid: 1200, fails: true, kernel: intervalFields(mod)}
	}
	return nil
}

// castCall is the cast that a call of a type's name means, such as int4('5').
func castCall(name string, arg types.T) (*scalar.Func, bool) {
	to, ok := types.ByName(name)
	if !ok || pseudo(to) || to.OID == types.OIDUnknown {
		return nil, false
	}
	return Cast(arg, to, types.Explicit)
}
