package fn

import (
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// agg is an aggregate without what computes it.
func agg(name string, oid uint32, args []types.T, ret types.T, doc string) scalar.Agg {
	return scalar.Agg{Name: name, Schema: "pg_catalog", OID: oid, Args: args, Ret: ret, Doc: doc}
}

// accum is an aggregate that is a sum of its rows.
func accum(name string, oid uint32, args []types.T, ret types.T, a scalar.Accum, doc string) scalar.Agg {
	g := agg(name, oid, args, ret, doc)
	g.Accum = &a
	return g
}

// ordered is an aggregate that is the first or last of its values.
func ordered(name string, oid uint32, t types.T, order scalar.Order, doc string) scalar.Agg {
	g := agg(name, oid, sig(t), t, doc)
	g.Order = order
	return g
}

// fold is an aggregate that is computed from all rows.
func fold(name string, oid uint32, args []types.T, ret types.T, f foldFunc, doc string) scalar.Agg {
	g := agg(name, oid, args, ret, doc)
	g.Fold = f
	return g
}

// aggregates makes all of them.
func aggregates() []scalar.Agg {
	fs := []scalar.Agg{
		accum("count", 2803, nil, tInt8, countRows, "the number of rows"),
		accum("count", 2147, sig(tAny), tInt8, countValues, "the number of rows in which it is not NULL"),

		accum("sum", 2109, sig(tInt2), tInt8, sumInts(sumOfInts), docSum),
		accum("sum", 2108, sig(tInt4), tInt8, sumInts(sumOfInts), docSum),
		accum("sum", 2107, sig(tInt8), tNumeric, sumInts(sumAsNumeric), docSum),
		accum("sum", 2114, sig(tNumeric), tNumeric, sumNumerics(sumOfNumerics), docSum),
		accum("sum", 2110, sig(tFloat4), tFloat4, sumFloats(float4Sum, sumOfFloats(true)), docSum),
		accum("sum", 2111, sig(tFloat8), tFloat8, sumFloats(float8Sum, sumOfFloats(false)), docSum),
		accum("sum", 2113, sig(tInterval), tInterval, sumIntervals(sumOfIntervals), docSum),

		accum("avg", 2102, sig(tInt2), tNumeric, sumInts(averageOfInts), docAvg),
		accum("avg", 2101, sig(tInt4), tNumeric, sumInts(averageOfInts), docAvg),
		accum("avg", 2100, sig(tInt8), tNumeric, sumInts(averageOfInts), docAvg),
		accum("avg", 2103, sig(tNumeric), tNumeric, sumNumerics(averageOfNumerics), docAvg),
		accum("avg", 2104, sig(tFloat4), tFloat8, sumFloats(float4Sum, averageOfFloats), docAvg),
		accum("avg", 2105, sig(tFloat8), tFloat8, sumFloats(float8Sum, averageOfFloats), docAvg),
		accum("avg", 2106, sig(tInterval), tInterval, sumIntervals(averageOfIntervals), docAvg),

		accum("bool_and", 2517, sig(tBool), tBool, truths(allTrue), "whether it is true in every row"),
		accum("bool_or", 2518, sig(tBool), tBool, truths(anyTrue), "whether it is true in some row"),
		accum("every", 2519, sig(tBool), tBool, truths(allTrue), "whether it is true in every row"),

		fold("bit_and", 2236, sig(tInt2), tInt2, foldBits(and), docBitAnd),
		fold("bit_and", 2238, sig(tInt4), tInt4, foldBits(and), docBitAnd),
		fold("bit_and", 2240, sig(tInt8), tInt8, foldBits(and), docBitAnd),
		fold("bit_or", 2237, sig(tInt2), tInt2, foldBits(or), docBitOr),
		fold("bit_or", 2239, sig(tInt4), tInt4, foldBits(or), docBitOr),
		fold("bit_or", 2241, sig(tInt8), tInt8, foldBits(or), docBitOr),
		fold("bit_xor", 6164, sig(tInt2), tInt2, foldBits(xor), docBitXor),
		fold("bit_xor", 6165, sig(tInt4), tInt4, foldBits(xor), docBitXor),
		fold("bit_xor", 6166, sig(tInt8), tInt8, foldBits(xor), docBitXor),

		fold("string_agg", 3538, sig(tText, tText), tText, stringAgg, "the texts, each but the first after its separator"),
		fold("string_agg", 3545, sig(tBytea, tBytea), tBytea, stringAgg, "the bytes, each but the first after its separator"),
	}
	fs = append(fs, extremes()...)
	fs = append(fs, spreads()...)
	return append(fs, compositeAggs()...)
}

const (
	docSum = "the sum"
	docAvg = "the mean"
	docMin = "the least value"
	docMax = "the greatest value"
)

// extremes are min and max, of every type that has an order.
func extremes() []scalar.Agg {
	var fs []scalar.Agg
	for _, e := range []struct {
		t        types.T
		min, max uint32
	}{
		{tInt2, 2133, 2117}, {tInt4, 2132, 2116}, {tInt8, 2131, 2115}, {tOid, 2134, 2118},
		{tFloat4, 2135, 2119}, {tFloat8, 2136, 2120}, {tNumeric, 2146, 2130},
		{tText, 2145, 2129}, {tBpchar, 2245, 2244}, {tDate, 2138, 2122}, {tTime, 2139, 2123},
		{tTimestamp, 2142, 2126}, {tTimestampTZ, 2143, 2127}, {tInterval, 2144, 2128}, {tAnyArray, 2051, 2050},
		// PostgreSQL 15 does not have these; Materialize does.
		{tBool, 17300, 17301}, {tMzTimestamp, 17302, 17303}, {tUUID, 17304, 17305}, {tJsonb, 17306, 17307},
		{tBytea, 17308, 17309}, {tRecord, 17310, 17311},
	} {
		fs = append(fs, ordered("min", e.min, e.t, scalar.Min, docMin), ordered("max", e.max, e.t, scalar.Max, docMax))
	}
	return fs
}

// spreads are the variances and standard deviations.
func spreads() []scalar.Agg {
	var fs []scalar.Agg
	for _, s := range []struct {
		name string
		kind spread
		oids [6]uint32 // int2, int4, int8, numeric, float4, float8
		doc  string
	}{
		{"variance", spread{sample: true}, [6]uint32{2150, 2149, 2148, 2153, 2151, 2152}, docVarSamp},
		{"var_samp", spread{sample: true}, [6]uint32{2643, 2642, 2641, 2646, 2644, 2645}, docVarSamp},
		{"var_pop", spread{}, [6]uint32{2720, 2719, 2718, 2723, 2721, 2722}, "the square of the standard deviation, of all there is"},
		{"stddev", spread{sample: true, root: true}, [6]uint32{2156, 2155, 2154, 2159, 2157, 2158}, docStddevSamp},
		{"stddev_samp", spread{sample: true, root: true}, [6]uint32{2714, 2713, 2712, 2717, 2715, 2716}, docStddevSamp},
		{"stddev_pop", spread{root: true}, [6]uint32{2726, 2725, 2724, 2729, 2727, 2728}, "the standard deviation, of all there is"},
	} {
		fs = append(fs,
			accum(s.name, s.oids[0], sig(tInt2), tNumeric, squareInts(s.kind), s.doc),
			accum(s.name, s.oids[1], sig(tInt4), tNumeric, squareInts(s.kind), s.doc),
			accum(s.name, s.oids[2], sig(tInt8), tNumeric, squareInts(s.kind), s.doc),
			accum(s.name, s.oids[3], sig(tNumeric), tNumeric, squareNumerics(s.kind), s.doc),
			accum(s.name, s.oids[4], sig(tFloat4), tFloat8, squareFloats(float4Sum, float4Squares, s.kind), s.doc),
			accum(s.name, s.oids[5], sig(tFloat8), tFloat8, squareFloats(float8Sum, float8Squares, s.kind), s.doc))
	}
	return fs
}

const (
	docVarSamp    = "the square of the standard deviation, estimated from a sample"
	docStddevSamp = "the standard deviation, estimated from a sample"
)
