package fn

import (
	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// datetimeCasts are the casts among dates, times and intervals.
var datetimeCasts = []cast{
	{from: tDate, to: tTimestamp, oid: 2024, at: fails, kernel: ints1(dateToTimestamp)},
	{from: tDate, to: tTimestampTZ, oid: 1174, at: fails, kernel: ints1(dateToTimestamp)},
	{from: tTimestamp, to: tDate, ctx: types.Assignment, oid: 2029, kernel: ints1(timestampToDate)},
	{from: tTimestampTZ, to: tDate, ctx: types.Assignment, oid: 1178, kernel: ints1(timestampToDate)},
	{from: tTimestamp, to: tTime, ctx: types.Assignment, oid: 1316, at: nulls, row: timestampToTime},
	{from: tTimestampTZ, to: tTime, ctx: types.Assignment, oid: 2019, at: nulls, row: timestampToTime},
	{from: tTimestamp, to: tTimestampTZ, oid: 2028, relabel: true},
	{from: tTimestampTZ, to: tTimestamp, ctx: types.Assignment, oid: 2027, relabel: true},
	{from: tTime, to: tInterval, oid: 1370, kernel: timeToInterval},
	{from: tInterval, to: tTime, ctx: types.Assignment, oid: 1419, kernel: intervalToTime},

	{from: tDate, to: tMzTimestamp, oid: 17220, at: fails, kernel: ints1(dateToMz)},
	{from: tTimestamp, to: tMzTimestamp, oid: 17221, at: fails, kernel: ints1(timestampToMz)},
	{from: tTimestampTZ, to: tMzTimestamp, oid: 17222, at: fails, kernel: ints1(timestampToMz)},
	{from: tMzTimestamp, to: tTimestamp, ctx: types.Assignment, oid: 17223, at: fails, kernel: ints1(mzToTimestamp)},
	{from: tMzTimestamp, to: tTimestampTZ, ctx: types.Assignment, oid: 17224, at: fails, kernel: ints1(mzToTimestamp)},
}

// ints1 is the kernel of a function of one number that can fail.
func ints1(f func(x int64) (int64, error)) kernel {
	return func(b *scalar.Batch) {
		x := b.Args[0].Ints
		for k := range selected(b) {
			i := at(b, k)
			r, err := f(x[i])
			if err != nil {
				b.Fail(i, pgerr.From(err))
			}
			b.Out.Ints[i] = r
		}
	}
}

func dateToTimestamp(d int64) (int64, error) {
	t, err := adt.Date(d).Timestamp()
	return int64(t), err
}

func timestampToDate(t int64) (int64, error) { return int64(adt.Timestamp(t).Date()), nil }

func timestampToTime(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	tod, ok := adt.Timestamp(a[0].Int()).Time()
	if !ok {
		return vec.Null, nil
	}
	return vec.IntOf(int64(tod)), nil
}

func timeToInterval(b *scalar.Batch) {
	for _, i := range b.Sel {
		b.Begin(int(i))
		b.Out.Data = adt.Interval{Micros: b.Args[0].Ints[i]}.Append(b.Out.Data)
		b.End()
	}
}

// intervalToTime takes the time of day, around the clock.
func intervalToTime(b *scalar.Batch) {
	iv := b.Arg(0)
	for k := range selected(b) {
		i := at(b, k)
		s := iv.At(i)
		if len(s) == 0 {
			continue // a row that is NULL or not asked for
		}
		us := adt.IntervalOf(s).Micros % microsPerDay
		if us < 0 {
			us += microsPerDay
		}
		b.Out.Ints[i] = us
	}
}

var errMzTimestamp = pgerr.New(pgerr.NumericValueOutOfRange, "mz_timestamp out of range")

// timestampToMz gives milliseconds since 1970, cut.
func timestampToMz(t int64) (int64, error) {
	ts := adt.Timestamp(t)
	if !ts.IsFinite() || ts.UnixMicros() < 0 {
		return 0, errMzTimestamp
	}
	return ts.UnixMicros() / 1000, nil
}

func dateToMz(d int64) (int64, error) {
	t, err := dateToTimestamp(d)
	if err != nil {
		return 0, err
	}
	return timestampToMz(t)
}

func mzToTimestamp(ms int64) (int64, error) {
	const most = 1 << 53 // far beyond the last timestamp, and its microseconds still fit
	t := adt.UnixEpoch + adt.Timestamp(min(ms, most)*1000)
	if !t.InRange() {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
	}
	return int64(t), nil
}

func roundTime(b *scalar.Batch, mod int32) {
	for i, t := range b.Args[0].Ints[:b.N] {
		b.Out.Ints[i] = int64(adt.Time(t).FitMod(mod))
	}
}

func roundTimestamp(mod int32) kernel {
	return ints1(func(t int64) (int64, error) {
		r, err := adt.Timestamp(t).FitMod(mod)
		return int64(r), err
	})
}

// intervalFields keeps of intervals what their type has.
func intervalFields(mod int32) kernel {
	return func(b *scalar.Batch) {
		iv := b.Arg(0)
		for _, i := range b.Sel {
			r, err := adt.IntervalOf(iv.At(int(i))).FitMod(mod)
			if err != nil {
				b.Fail(int(i), pgerr.From(err))
				continue
			}
			b.Begin(int(i))
			b.Out.Data = r.Append(b.Out.Data)
			b.End()
		}
	}
}
