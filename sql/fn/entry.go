package fn

import (
	"math"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Short names of the types, for the tables.
var (
	tBool        = types.TBool
	tInt2        = types.TInt2
	tInt4        = types.TInt4
	tInt8        = types.TInt8
	tFloat4      = types.TFloat4
	tFloat8      = types.TFloat8
	tNumeric     = types.TNumeric
	tText        = types.TText
	tVarchar     = types.TVarchar
	tBpchar      = types.TBpchar
	tName        = types.TName
	tChar        = types.TChar
	tBytea       = types.TBytea
	tDate        = types.TDate
	tTime        = types.TTime
	tTimestamp   = types.TTimestamp
	tTimestampTZ = types.TTimestampTZ
	tInterval    = types.TInterval
	tUUID        = types.TUUID
	tJsonb       = types.TJsonb
	tOid         = types.TOid
	tUnknown     = types.TUnknown
	tMzTimestamp = types.TMzTimestamp
	tXid         = types.Of(types.OIDXid)
	tRecord      = types.Of(types.OIDRecord)
	tVoid        = types.Of(types.OIDVoid)
	tInt2Vector  = types.Of(types.OIDInt2Vector)
	tOidVector   = types.Of(types.OIDOidVector)
	tRegclass    = types.Of(types.OIDRegclass)
	tRegtype     = types.Of(types.OIDRegtype)
	tAny         = types.Of(types.OIDAny)
	tAnyArray    = types.Of(types.OIDAnyArray)
	tAnyElement  = types.Of(types.OIDAnyElement)
	tAnyNonArray = types.Of(types.OIDAnyNonArray)
)

// attr is what is known of a function beside its signature.
type attr uint16

const (
	strict   attr = 1 << iota // NULL for NULL
	fails                     // some arguments give an error
	nulls                     // can be NULL though no argument is
	stable                    // depends on the statement, the session or the catalog
	volatile                  // depends on each call
	variadic                  // the last parameter may come any number of times
	inMz                      // lives in mz_catalog
)

// rowFunc computes one value.
type rowFunc = func(env scalar.Env, a []vec.Datum) (vec.Datum, error)

// kernel computes a vector.
type kernel = func(b *scalar.Batch)

// sig is a list of parameter types.
func sig(ts ...types.T) []types.T { return ts }

// entry is a Func without its implementation.
func entry(name string, oid uint32, at attr, args []types.T, ret types.T, doc string) scalar.Func {
	f := scalar.Func{Name: name, Schema: schemaOf(at), OID: oid, Args: args, Ret: ret, Doc: doc,
		Variadic: at&variadic != 0, Strict: at&strict != 0, CanFail: at&fails != 0, CanNull: at&nulls != 0}
	switch {
	case at&volatile != 0:
		f.Volatility = scalar.Volatile
	case at&stable != 0:
		f.Volatility = scalar.Stable
	}
	return f
}

func schemaOf(at attr) string {
	if at&inMz != 0 {
		return "mz_catalog"
	}
	return "pg_catalog"
}

// row is an entry that computes one row at a time.
func row(name string, oid uint32, at attr, args []types.T, ret types.T, f rowFunc, doc string) scalar.Func {
	e := entry(name, oid, at, args, ret, doc)
	e.Row = f
	return e
}

// kern is an entry that computes a vector at a time.
func kern(name string, oid uint32, at attr, args []types.T, ret types.T, k kernel, doc string) scalar.Func {
	e := entry(name, oid, at, args, ret, doc)
	e.Kernel = k
	return e
}

// The rest of this file makes rowFuncs of plain Go functions.

// textText takes a text and gives a text.
func textText(f func(string) string) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return vec.StrOf(f(a[0].Str())), nil }
}

// textInt takes a text and gives a number.
func textInt(f func(string) int) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return vec.IntOf(int64(f(a[0].Str()))), nil }
}

// text2Text takes two texts and gives a text.
func text2Text(f func(x, y string) string) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.StrOf(f(a[0].Str(), a[1].Str())), nil
	}
}

// text2Int takes two texts and gives a number.
func text2Int(f func(x, y string) int) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.IntOf(int64(f(a[0].Str(), a[1].Str()))), nil
	}
}

// asks gives the Env's answer to a question without an argument.
func asks(q scalar.Question) rowFunc {
	return func(env scalar.Env, _ []vec.Datum) (vec.Datum, error) { return ask(env, q, vec.Null) }
}

// asksArg gives the Env's answer to a question about the first argument.
func asksArg(q scalar.Question) rowFunc {
	return func(env scalar.Env, a []vec.Datum) (vec.Datum, error) { return ask(env, q, a[0]) }
}

// asksPair gives the Env's answer to a question about two numbers.
func asksPair(q scalar.Question) rowFunc {
	return func(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return ask(env, q, scalar.Ask2(uint32(a[0].Int()), uint32(a[1].Int())))
	}
}

// ask puts a question where there may be nobody to ask.
func ask(env scalar.Env, q scalar.Question, arg vec.Datum) (vec.Datum, error) {
	if env == nil {
		return vec.Null, pgerr.Unsupported("a function that depends on the session or the catalog in this place")
	}
	return env.Ask(q, arg)
}

// always gives one value.
func always(d vec.Datum) rowFunc {
	return func(scalar.Env, []vec.Datum) (vec.Datum, error) { return d, nil }
}

// maxResultBytes bounds what a function makes out of small arguments.
const maxResultBytes = 64 << 20

// checkSize refuses results that a few bytes of SQL should not be able to ask for. PostgreSQL's bound is 1 GB.
func checkSize(n int) error {
	if n > maxResultBytes {
		return pgerr.New(pgerr.ProgramLimitExceeded, "requested length too large")
	}
	return nil
}

// runes is the number of characters.
func runes(s string) int { return utf8.RuneCountInString(s) }

// maxInt4 is the largest integer.
const maxInt4 = math.MaxInt32
