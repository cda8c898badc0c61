package fn

import (
	"math"
	"strings"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Dates and times. The time zone of sessions is always UTC, so that functions which PostgreSQL calls stable for
// it are immutable here. Intervals are compared field by field, as Materialize does.
var datetimeFuncs = []scalar.Func{
	row("now", 1299, strict|stable|fails, nil, tTimestampTZ, asks(scalar.AskNow), docNow),
	row("transaction_timestamp", 2647, strict|stable|fails, nil, tTimestampTZ, asks(scalar.AskNow), docNow),
	row("statement_timestamp", 2648, strict|stable|fails, nil, tTimestampTZ, asks(scalar.AskStatementTime),
		"the time at which the statement began"),
	row("clock_timestamp", 2649, strict|volatile|fails, nil, tTimestampTZ, asks(scalar.AskClock), "the time now"),
	row("mz_now", 17200, strict|stable|fails|inMz, nil, tMzTimestamp, asks(scalar.AskMzNow), "the logical time at which the query runs"),

	kern("+", 1100, strict|fails, sig(tDate, tInt4), tDate, dateInt(1), docAdd),
	kern("+", 2555, strict|fails, sig(tInt4, tDate), tDate, intDate, docAdd),
	kern("-", 1101, strict|fails, sig(tDate, tInt4), tDate, dateInt(-1), docSub),
	kern("-", 1099, strict|fails, sig(tDate, tDate), tInt4, ints2(func(x, y int64) (int64, error) {
		return adt.Date(x).Sub(adt.Date(y))
	}), "the number of days between"),
	kern("+", 1360, strict|fails, sig(tDate, tTime), tTimestamp, ints2(dateAt), docAdd),
	kern("+", 1363, strict|fails, sig(tTime, tDate), tTimestamp, ints2(func(t, d int64) (int64, error) { return dateAt(d, t) }), docAdd),
	kern("+", 1076, strict|fails, sig(tDate, tInterval), tTimestamp, intInterval(0, datePlus(1)), docAdd),
	kern("+", 2551, strict|fails, sig(tInterval, tDate), tTimestamp, intInterval(1, datePlus(1)), docAdd),
	kern("-", 1077, strict|fails, sig(tDate, tInterval), tTimestamp, intInterval(0, datePlus(-1)), docSub),
	kern("+", 2066, strict|fails, sig(tTimestamp, tInterval), tTimestamp, intInterval(0, timestampPlus), docAdd),
	kern("+", 2553, strict|fails, sig(tInterval, tTimestamp), tTimestamp, intInterval(1, timestampPlus), docAdd),
	kern("-", 2068, strict|fails, sig(tTimestamp, tInterval), tTimestamp, intInterval(0, timestampMinus), docSub),
	kern("+", 1327, strict|fails, sig(tTimestampTZ, tInterval), tTimestampTZ, intInterval(0, timestampPlus), docAdd),
	kern("+", 2554, strict|fails, sig(tInterval, tTimestampTZ), tTimestampTZ, intInterval(1, timestampPlus), docAdd),
	kern("-", 1329, strict|fails, sig(tTimestampTZ, tInterval), tTimestampTZ, intInterval(0, timestampMinus), docSub),
	kern("-", 2067, strict|fails, sig(tTimestamp, tTimestamp), tInterval, toInterval(timestampSub), docSpan),
	kern("-", 1328, strict|fails, sig(tTimestampTZ, tTimestampTZ), tInterval, toInterval(timestampSub), docSpan),
	kern("+", 1800, strict, sig(tTime, tInterval), tTime, intInterval(0, timePlus), "the time this much later, around the clock"),
	kern("+", 1849, strict, sig(tInterval, tTime), tTime, intInterval(1, timePlus), "the time this much later, around the clock"),
	kern("-", 1801, strict|fails, sig(tTime, tInterval), tTime, intInterval(0, timeMinus),
		"the time this much earlier, around the clock"),
	kern("-", 1399, strict|fails, sig(tTime, tTime), tInterval, toInterval(func(x, y int64) (adt.Interval, error) {
		return adt.Time(x).Sub(adt.Time(y)), nil
	}), docSpan),

	row("+", 1337, strict|fails, sig(tInterval, tInterval), tInterval, intervals2(adt.Interval.Add), docAdd),
	row("-", 1338, strict|fails, sig(tInterval, tInterval), tInterval, intervals2(adt.Interval.Sub), docSub),
	row("-", 1336, strict|fails, sig(tInterval), tInterval, intervals(adt.Interval.Neg), "the span the other way"),
	row("*", 1583, strict|fails, sig(tInterval, tFloat8), tInterval, intervalTimes(0), docMul),
	row("*", 1584, strict|fails, sig(tFloat8, tInterval), tInterval, intervalTimes(1), docMul),
	row("/", 1585, strict|fails, sig(tInterval, tFloat8), tInterval, intervalDiv, docDiv),
	row("justify_hours", 1175, strict|fails, sig(tInterval), tInterval, intervals(adt.Interval.JustifyHours), "24 hours made a day"),
	row("justify_days", 1295, strict|fails, sig(tInterval), tInterval, intervals(adt.Interval.JustifyDays), "30 days made a month"),
	row("justify_interval", 2711, strict|fails, sig(tInterval), tInterval, intervals(adt.Interval.JustifyInterval),
		"24 hours made a day, 30 days a month, and all of one sign"),

	kern("date_trunc", 2020, strict|fails, sig(tText, tTimestamp), tTimestamp, truncTimes(adt.Timestamp.Trunc), docDateTrunc),
	kern("date_trunc", 1217, strict|fails, sig(tText, tTimestampTZ), tTimestampTZ, truncTimes(truncUTC), docDateTrunc),
	row("date_trunc", 1284, strict|fails, sig(tText, tTimestampTZ, tText), tTimestampTZ, truncZone,
		docDateTrunc+", by the clocks of a zone"),
	row("date_trunc", 1218, strict|fails, sig(tText, tInterval), tInterval, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return intervalDatum(adt.IntervalOf(a[1].Bytes()).Trunc(lowered(a[0].Bytes())))
	}, docDateTrunc),
	row("date_bin", 6177, strict|fails, sig(tInterval, tTimestamp, tTimestamp), tTimestamp, dateBin, docDateBin),
	row("date_bin", 6178, strict|fails, sig(tInterval, tTimestampTZ, tTimestampTZ), tTimestampTZ, dateBin, docDateBin),

	extract(6199, tDate, func(d vec.Datum, f string) (adt.Part, error) { return adt.Date(d.Int()).Extract(f) }),
	extract(6200, tTime, func(d vec.Datum, f string) (adt.Part, error) { return adt.Time(d.Int()).Extract(f) }),
	extract(6202, tTimestamp, func(d vec.Datum, f string) (adt.Part, error) { return adt.Timestamp(d.Int()).Extract(f) }),
	extract(6203, tTimestampTZ, func(d vec.Datum, f string) (adt.Part, error) { return adt.Timestamp(d.Int()).ExtractTZ(f) }),
	extract(6204, tInterval, func(d vec.Datum, f string) (adt.Part, error) { return adt.IntervalOf(d.Bytes()).Extract(f) }),
	datePart(1384, tDate, func(d vec.Datum, f string) (adt.Part, error) {
		// PostgreSQL sees a date as its midnight here, and so knows hours.
		t, err := adt.Date(d.Int()).Timestamp()
		if err != nil {
			return adt.Part{}, err
		}
		return t.Extract(f)
	}),
	datePart(1385, tTime, func(d vec.Datum, f string) (adt.Part, error) { return adt.Time(d.Int()).Extract(f) }),
	datePart(2021, tTimestamp, func(d vec.Datum, f string) (adt.Part, error) { return adt.Timestamp(d.Int()).Extract(f) }),
	datePart(1171, tTimestampTZ, func(d vec.Datum, f string) (adt.Part, error) { return adt.Timestamp(d.Int()).ExtractTZ(f) }),
	datePart(1172, tInterval, func(d vec.Datum, f string) (adt.Part, error) { return adt.IntervalOf(d.Bytes()).Extract(f) }),

	kern("age", 2058, strict|fails, sig(tTimestamp, tTimestamp), tInterval, toInterval(age), docAge),
	kern("age", 1199, strict|fails, sig(tTimestampTZ, tTimestampTZ), tInterval, toInterval(age), docAge),
	row("age", 2059, strict|stable|fails, sig(tTimestamp), tInterval, ageToday, docAge+"; from today's midnight"),
	row("age", 1386, strict|stable|fails, sig(tTimestampTZ), tInterval, ageToday, docAge+"; from today's midnight"),
	row("isfinite", 1373, strict, sig(tDate), tBool, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return vec.BoolOf(adt.Date(a[0].Int()).IsFinite()), nil
	}, docFinite),
	row("isfinite", 2048, strict, sig(tTimestamp), tBool, isFinite, docFinite),
	row("isfinite", 1389, strict, sig(tTimestampTZ), tBool, isFinite, docFinite),
	row("isfinite", 1390, strict, sig(tInterval), tBool, always(vec.BoolOf(true)), docFinite),

	row("make_date", 3846, strict|fails, sig(tInt4, tInt4, tInt4), tDate, makeDate, "the date of a year, month and day"),
	row("make_time", 3847, strict|fails, sig(tInt4, tInt4, tFloat8), tTime, makeTime, "the time of an hour, minute and second"),
	row("make_timestamp", 3461, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4, tFloat8), tTimestamp, makeTimestamp, docMake),
	row("make_timestamptz", 3462, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4, tFloat8), tTimestampTZ, makeTimestamp, docMake),
	row("make_timestamptz", 3463, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4, tFloat8, tText), tTimestampTZ, makeTimestampZone,
		docMake+" in a time zone"),
	row("make_interval", 3464, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4, tInt4, tFloat8), tInterval, makeInterval,
		docMakeInterval),
	row("make_interval", 17210, strict|fails, nil, tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17211, strict|fails, sig(tInt4), tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17212, strict|fails, sig(tInt4, tInt4), tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17213, strict|fails, sig(tInt4, tInt4, tInt4), tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17214, strict|fails, sig(tInt4, tInt4, tInt4, tInt4), tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17215, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4), tInterval, makeInterval, docMakeInterval),
	row("make_interval", 17216, strict|fails, sig(tInt4, tInt4, tInt4, tInt4, tInt4, tInt4), tInterval, makeInterval, docMakeInterval),
	row("to_timestamp", 1158, strict|fails, sig(tFloat8), tTimestampTZ, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return timestampDatum(adt.TimestampFromUnix(a[0].Float()))
	}, "the moment this many seconds after 1970"),

	row("timezone", 1159, strict|fails, sig(tText, tTimestampTZ), tTimestamp, zoned(adt.Zone.ToLocal), docZoneLocal),
	row("timezone", 2069, strict|fails, sig(tText, tTimestamp), tTimestampTZ, zoned(adt.Zone.ToUTC), docZoneUTC),
	row("timezone", 1026, strict|fails, sig(tInterval, tTimestampTZ), tTimestamp, zonedInterval(adt.Zone.ToLocal), docZoneLocal),
	row("timezone", 2070, strict|fails, sig(tInterval, tTimestamp), tTimestampTZ, zonedInterval(adt.Zone.ToUTC), docZoneUTC),
}

const (
	docNow          = "the time at which the transaction began"
	docSpan         = "the span of time between"
	docDateTrunc    = "the beginning of the hour, day, month… that a moment lies in"
	docDateBin      = "the beginning of the stride that a moment lies in, counted from an origin"
	docExtract      = "a part of a date or time"
	docAge          = "the difference in years, months, days and time"
	docFinite       = "whether it is not an infinity"
	docMake         = "the moment of a year, month, day, hour, minute and second"
	docMakeInterval = "a span of years, months, weeks, days, hours, minutes and seconds"
	docZoneLocal    = "what the clocks of a time zone show at a moment"
	docZoneUTC      = "the moment at which the clocks of a time zone show this"
)

// ints2 is the kernel of a function of two numbers that can fail.
func ints2(f func(x, y int64) (int64, error)) kernel {
	return func(b *scalar.Batch) {
		x, y := b.Args[0].Ints, b.Args[1].Ints
		for k := range selected(b) {
			i := at(b, k)
			r, err := f(x[i], y[i])
			if err != nil {
				b.Fail(i, pgerr.From(err))
			}
			b.Out.Ints[i] = r
		}
	}
}

func dateInt(sign int64) kernel {
	return ints2(func(d, n int64) (int64, error) {
		r, err := adt.Date(d).AddDays(sign * n)
		return int64(r), err
	})
}

func intDate(b *scalar.Batch) {
	b.Args[0], b.Args[1] = b.Args[1], b.Args[0]
	dateInt(1)(b)
	b.Args[0], b.Args[1] = b.Args[1], b.Args[0]
}

func dateAt(d, t int64) (int64, error) {
	r, err := adt.Date(d).At(adt.Time(t))
	return int64(r), err
}

// intInterval is the kernel of a function of a number, which is argument at, and an interval.
func intInterval(number int, f func(x int64, iv adt.Interval) (int64, error)) kernel {
	return func(b *scalar.Batch) {
		x, iv := b.Args[number].Ints, b.Arg(1-number)
		for k := range selected(b) {
			i := at(b, k)
			s := iv.At(i)
			if len(s) == 0 {
				continue // a row that is NULL or not asked for
			}
			r, err := f(x[i], adt.IntervalOf(s))
			if err != nil {
				b.Fail(i, pgerr.From(err))
			}
			b.Out.Ints[i] = r
		}
	}
}

func timestampPlus(t int64, iv adt.Interval) (int64, error) {
	r, err := adt.Timestamp(t).Add(iv)
	return int64(r), err
}

func timestampMinus(t int64, iv adt.Interval) (int64, error) {
	neg, err := iv.Neg()
	if err != nil {
		return 0, err
	}
	return timestampPlus(t, neg)
}

func datePlus(sign int) func(d int64, iv adt.Interval) (int64, error) {
	return func(d int64, iv adt.Interval) (int64, error) {
		t, err := adt.Date(d).Timestamp()
		switch {
		case err != nil:
			return 0, err
		case sign < 0:
			return timestampMinus(int64(t), iv)
		}
		return timestampPlus(int64(t), iv)
	}
}

func timePlus(t int64, iv adt.Interval) (int64, error) { return int64(adt.Time(t).Add(iv)), nil }

func timeMinus(t int64, iv adt.Interval) (int64, error) {
	// Only the time of day counts, and only modulo a day, so that its negation cannot overflow.
	return timePlus(t, adt.Interval{Micros: -(iv.Micros % microsPerDay)})
}

// toInterval is the kernel of a function of two numbers that gives an interval.
func toInterval(f func(x, y int64) (adt.Interval, error)) kernel {
	return func(b *scalar.Batch) {
		x, y := b.Args[0].Ints, b.Args[1].Ints
		for _, i := range b.Sel {
			iv, err := f(x[i], y[i])
			if err != nil {
				b.Fail(int(i), pgerr.From(err))
				continue
			}
			b.Begin(int(i))
			b.Out.Data = iv.Append(b.Out.Data)
			b.End()
		}
	}
}

func timestampSub(x, y int64) (adt.Interval, error) { return adt.Timestamp(x).Sub(adt.Timestamp(y)) }

func age(x, y int64) (adt.Interval, error) { return adt.Timestamp(x).Age(adt.Timestamp(y)) }

func intervalDatum(iv adt.Interval, err error) (vec.Datum, error) {
	if err != nil {
		return vec.Null, err
	}
	return vec.BytesOf(iv.Append(nil)), nil
}

func timestampDatum(t adt.Timestamp, err error) (vec.Datum, error) { return vec.IntOf(int64(t)), err }

func intervals(f func(adt.Interval) (adt.Interval, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return intervalDatum(f(adt.IntervalOf(a[0].Bytes())))
	}
}

func intervals2(f func(x, y adt.Interval) (adt.Interval, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return intervalDatum(f(adt.IntervalOf(a[0].Bytes()), adt.IntervalOf(a[1].Bytes())))
	}
}

func intervalTimes(at int) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return intervalDatum(adt.IntervalOf(a[at].Bytes()).Mul(a[1-at].Float()))
	}
}

func intervalDiv(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return intervalDatum(adt.IntervalOf(a[0].Bytes()).Div(a[1].Float()))
}

// truncTimes is the kernel of date_trunc.
func truncTimes(f func(t adt.Timestamp, unit string) (adt.Timestamp, error)) kernel {
	return func(b *scalar.Batch) {
		unit, x := b.Arg(0), b.Args[1].Ints
		for k := range selected(b) {
			i := at(b, k)
			t, err := f(adt.Timestamp(x[i]), lowered(unit.At(i)))
			if err != nil {
				b.Fail(i, pgerr.From(err))
			}
			b.Out.Ints[i] = int64(t)
		}
	}
}

// lowered is the name of a unit as it is looked up, and as messages say it.
func lowered(name []byte) string { return strings.ToLower(vec.BytesOf(name).Str()) }

func truncUTC(t adt.Timestamp, unit string) (adt.Timestamp, error) { return t.TruncTZ(unit, adt.UTC) }

func truncZone(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if !adt.Timestamp(a[1].Int()).IsFinite() {
		return a[1], nil
	}
	z, err := adt.LookupZone(a[2].Str())
	if err != nil {
		return vec.Null, err
	}
	return timestampDatum(adt.Timestamp(a[1].Int()).TruncTZ(lowered(a[0].Bytes()), z))
}

func dateBin(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return timestampDatum(adt.IntervalOf(a[0].Bytes()).Bin(adt.Timestamp(a[1].Int()), adt.Timestamp(a[2].Int())))
}

type partFunc func(d vec.Datum, field string) (adt.Part, error)

// extract and datePart are entries that give a part as numeric or float8.
func extract(oid uint32, t types.T, f partFunc) scalar.Func {
	return row("extract", oid, strict|fails|nulls, sig(tText, t), tNumeric, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		p, err := f(a[1], lowered(a[0].Bytes()))
		if err != nil || p.Null {
			return vec.Null, err
		}
		return numericDatum(p.Numeric()), nil
	}, docExtract)
}

func datePart(oid uint32, t types.T, f partFunc) scalar.Func {
	return row("date_part", oid, strict|fails|nulls, sig(tText, t), tFloat8, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		p, err := f(a[1], lowered(a[0].Bytes()))
		if err != nil || p.Null {
			return vec.Null, err
		}
		return vec.FloatOf(p.Float()), nil
	}, docExtract)
}

func ageToday(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	now, err := ask(env, scalar.AskNow, vec.Null)
	if err != nil {
		return vec.Null, err
	}
	midnight, err := adt.Timestamp(now.Int()).Trunc("day")
	if err != nil {
		return vec.Null, err
	}
	return intervalDatum(midnight.Age(adt.Timestamp(a[0].Int())))
}

func isFinite(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return vec.BoolOf(adt.Timestamp(a[0].Int()).IsFinite()), nil
}

func makeDate(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	d, err := adt.MakeDate(int(a[0].Int()), int(a[1].Int()), int(a[2].Int()))
	return vec.IntOf(int64(d)), err
}

func makeTime(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	t, err := adt.MakeTime(int(a[0].Int()), int(a[1].Int()), a[2].Float())
	return vec.IntOf(int64(t)), err
}

func makeTimestamp(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	return timestampDatum(adt.MakeTimestamp(int(a[0].Int()), int(a[1].Int()), int(a[2].Int()), int(a[3].Int()),
		int(a[4].Int()), a[5].Float()))
}

func makeTimestampZone(env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	t, err := makeTimestamp(env, a)
	if err != nil {
		return vec.Null, err
	}
	z, err := adt.LookupZone(a[6].Str())
	if err != nil {
		return vec.Null, err
	}
	return timestampDatum(z.ToUTC(adt.Timestamp(t.Int())))
}

// makeInterval takes any number of its parts; the rest are zero.
func makeInterval(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	var parts [6]int32
	secs := 0.0
	for i, d := range a {
		if i < len(parts) {
			parts[i] = int32(d.Int())
		} else {
			secs = d.Float()
		}
	}
	if math.IsNaN(secs) || math.IsInf(secs, 0) {
		return vec.Null, pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")
	}
	return intervalDatum(adt.MakeInterval(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], secs))
}

func zoned(f func(adt.Zone, adt.Timestamp) (adt.Timestamp, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		if !adt.Timestamp(a[1].Int()).IsFinite() {
			return a[1], nil
		}
		z, err := adt.LookupZone(a[0].Str())
		if err != nil {
			return vec.Null, err
		}
		return timestampDatum(f(z, adt.Timestamp(a[1].Int())))
	}
}

func zonedInterval(f func(adt.Zone, adt.Timestamp) (adt.Timestamp, error)) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		if !adt.Timestamp(a[1].Int()).IsFinite() {
			return a[1], nil
		}
		z, err := adt.ZoneOfInterval(adt.IntervalOf(a[0].Bytes()))
		if err != nil {
			return vec.Null, err
		}
		return timestampDatum(f(z, adt.Timestamp(a[1].Int())))
	}
}
