package adt_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tributary-db/tributary/sql/adt"
)

func TestCalendarAgainstGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50000 {
		d := adt.Date(r.IntN(4_000_000) - 2_000_000)
		want := time.Unix((int64(d)+10957)*86400, 0).UTC()
		year := want.Year()
		if year <= 0 {
			year--
		}
		back, err := adt.MakeDate(year, int(want.Month()), want.Day())
		if err != nil || back != d {
			t.Fatalf("day %d is %v: %v, %v", int(d), want, back, err)
		}
		for unit, x := range map[string]int{"year": year, "month": int(want.Month()), "day": want.Day(), "doy": want.YearDay(),
			"dow": int(want.Weekday())} {
			if p, err := d.Extract(unit); err != nil || p.Value != int64(x) {
				t.Fatalf("%s of %v is %v, %v, want %d", unit, d, p, err, x)
			}
		}
		if want.Year() > 1 {
			isoYear, week := want.ISOWeek()
			if p, _ := d.Extract("week"); p.Value != int64(week) {
				t.Fatalf("week of %v is %d, want %d", d, p.Value, week)
			}
			if p, _ := d.Extract("isoyear"); p.Value != int64(isoYear) {
				t.Fatalf("isoyear of %v is %d, want %d", d, p.Value, isoYear)
			}
		}
	}
}

// randTimestamp makes moments of all distances, often on round numbers.
func randTimestamp(r *rand.Rand) adt.Timestamp {
	switch r.IntN(20) {
	case 0:
		return adt.TimestampInf
	case 1:
		return adt.TimestampNegInf
	case 2:
		return adt.Timestamp(r.Int64N(9e18) - 1e17)
	}
	t := adt.Timestamp(r.Int64N(4e15) - 1e15)
	if r.IntN(3) == 0 {
		t = t / 86400e6 * 86400e6
	}
	if r.IntN(4) == 0 {
		t -= 64e15
	}
	return t
}

func randInterval(r *rand.Rand) adt.Interval {
	part := func(n int32) int32 {
		if r.IntN(3) == 0 {
			return 0
		}
		return r.Int32N(2*n) - n
	}
	iv := adt.Interval{Months: part(40), Days: part(100), Micros: int64(part(1000000)) * 123457}
	switch r.IntN(8) {
	case 0:
		iv.Micros = iv.Micros / 1e6 * 1e6
	case 1:
		iv.Micros *= 100
	case 2:
		iv.Months *= 10000
	}
	return iv
}

// against asks the oracle for an expression over rows of arguments, each given as text.
func against(t *testing.T, o *oracle, expr string, args [][]string, ours func(row int) string) {
	t.Helper()
	rows := make([]string, len(args))
	for i, a := range args {
		rows[i] = a[0]
		for _, x := range a[1:] {
			rows[i] += ";" + x
		}
	}
	i := 0
	o.compare(expr, rows, func(string) string { i++; return ours(i - 1) })
}

func arg(n int) string { return fmt.Sprintf("split_part($1, ';', %d)", n) }

func TestDatetimeArithmeticAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(2, 2))
	n := sampled(1500)
	ts, us, ivs, jvs := make([]adt.Timestamp, n), make([]adt.Timestamp, n), make([]adt.Interval, n), make([]adt.Interval, n)
	args := make([][]string, n)
	fs := make([]float64, n)
	for i := range n {
		ts[i], us[i], ivs[i], jvs[i] = randTimestamp(r), randTimestamp(r), randInterval(r), randInterval(r)
		if !us[i].IsFinite() {
			us[i] = 0
		}
		fs[i] = []float64{2, 0.5, -1, 1.0 / 3, 1.5, 1e6, 0, 0.1, -2.7}[r.IntN(9)]
		args[i] = []string{ts[i].String(), us[i].String(), ivs[i].String(), jvs[i].String(), fmt.Sprint(fs[i])}
	}
	tsArg, usArg, ivArg, jvArg, fArg := arg(1)+"::timestamp", arg(2)+"::timestamp", arg(3)+"::interval", arg(4)+"::interval", arg(5)+"::float8"
	for _, c := range []struct {
		expr string
		f    func(i int) (fmt.Stringer, error)
	}{
		{tsArg + "+" + ivArg, func(i int) (fmt.Stringer, error) { return ts[i].Add(ivs[i]) }},
		{tsArg + "::time", func(i int) (fmt.Stringer, error) {
			if tod, ok := ts[i].Time(); ok {
				return tod, nil
			}
			return stringer("NULL"), nil
		}},
		{tsArg + "::date", func(i int) (fmt.Stringer, error) { return ts[i].Date(), nil }},
		{tsArg + "::timestamp(1)", func(i int) (fmt.Stringer, error) { return ts[i].FitMod(1) }},
		{ivArg + "+" + jvArg, func(i int) (fmt.Stringer, error) { return ivs[i].Add(jvs[i]) }},
		{ivArg + "-" + jvArg, func(i int) (fmt.Stringer, error) { return ivs[i].Sub(jvs[i]) }},
		{ivArg + "*" + fArg, func(i int) (fmt.Stringer, error) { return ivs[i].Mul(fs[i]) }},
		{ivArg + "/" + fArg, func(i int) (fmt.Stringer, error) { return ivs[i].Div(fs[i]) }},
		{"justify_hours(" + ivArg + ")", func(i int) (fmt.Stringer, error) { return ivs[i].JustifyHours() }},
		{"justify_days(" + ivArg + ")", func(i int) (fmt.Stringer, error) { return ivs[i].JustifyDays() }},
		{"justify_interval(" + ivArg + ")", func(i int) (fmt.Stringer, error) { return ivs[i].JustifyInterval() }},
		{"age(" + usArg + ", " + usArg + "+" + ivArg + ")", func(i int) (fmt.Stringer, error) {
			x, err := us[i].Add(ivs[i])
			if err != nil {
				return nil, err
			}
			return us[i].Age(x)
		}},
		{usArg + "-" + tsArg, func(i int) (fmt.Stringer, error) { return us[i].Sub(ts[i]) }},
		{"date_bin(" + ivArg + "," + tsArg + "," + usArg + ")", func(i int) (fmt.Stringer, error) { return ivs[i].Bin(ts[i], us[i]) }},
		{usArg + "::time+" + ivArg, func(i int) (fmt.Stringer, error) { tod, _ := us[i].Time(); return tod.Add(ivs[i]), nil }},
		{ivArg + "::interval(2)", func(i int) (fmt.Stringer, error) { return ivs[i].FitMod(0x7FFF<<16 | 2) }},
	} {
		against(t, o, c.expr, args, func(i int) string { return show(c.f(i)) })
	}
	for _, unit := range []string{"microseconds", "milliseconds", "second", "minute", "hour", "day", "week", "month", "quarter", "year",
		"decade", "century", "millennium", "epoch", "julian", "dow", "doy", "isodow", "isoyear", "timezone", "foo"} {
		against(t, o, "date_trunc('"+unit+"', "+tsArg+")", args, func(i int) string { return show(ts[i].Trunc(unit)) })
		against(t, o, "date_trunc('"+unit+"', "+ivArg+")", args, func(i int) string { return show(ivs[i].Trunc(unit)) })
		part := func(p adt.Part, err error) string {
			if err == nil && p.Null {
				return "NULL"
			}
			return show(p.Numeric(), err)
		}
		if unit != "julian" {
			// Our quotient has more digits.
			against(t, o, "trim_scale(extract("+unit+" from "+tsArg+"))", args, func(i int) string { return part(ts[i].Extract(unit)) })
		}
		against(t, o, "trim_scale(extract("+unit+" from "+ivArg+"))", args, func(i int) string { return part(ivs[i].Extract(unit)) })
		against(t, o, "trim_scale(extract("+unit+" from "+tsArg+"::date))", args,
			func(i int) string { return part(ts[i].Date().Extract(unit)) })
		against(t, o, "trim_scale(extract("+unit+" from "+usArg+"::time))", args,
			func(i int) string { tod, _ := us[i].Time(); return part(tod.Extract(unit)) })
		if unit != "julian" && unit != "epoch" {
			against(t, o, "date_part('"+unit+"', "+tsArg+")::numeric", args, func(i int) string {
				p, err := ts[i].Extract(unit)
				if err != nil || p.Null {
					return part(p, err)
				}
				n, err := adt.NumericFromFloat(p.Float())
				return show(n, err)
			})
		}
	}
}

func TestIntervalModifiersAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(3, 3))
	var texts []string
	for range 300 {
		texts = append(texts, randInterval(r).String())
	}
	texts = append(texts, "1", "1 2", "1.5", "1 2:03", "1:2", "1-2", "2:03.5", "-1", "99:99", "1 2:3:4.567891")
	for _, mod := range []string{"year", "month", "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute",
		"day to second", "hour to minute", "hour to second", "minute to second", "second(2)", "day to second(0)"} {
		if _, err := o.conn.Exec(context.Background(), "create temp table m (x interval "+mod+")"); err != nil {
			t.Fatal(err)
		}
		var m int32
		err := o.conn.QueryRow(context.Background(),
			"select atttypmod from pg_attribute where attrelid = 'm'::regclass and attname = 'x'").Scan(&m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.conn.Exec(context.Background(), "drop table m"); err != nil {
			t.Fatal(err)
		}
		o.compare("pg_temp.literal($1, 'interval "+mod+"')", texts, func(s string) string { iv, err := adt.ParseInterval(s, m); return show(iv, err) })
	}
}

func TestZonesAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(4, 4))
	names := adt.ZoneNames()
	var args [][]string
	var zs []string
	var ts []adt.Timestamp
	for range sampled(3000) {
		name := names[r.IntN(len(names))]
		switch r.IntN(6) {
		case 0:
			name = []string{"EST", "pdt", "MSK", "UTC", "z", "CET", "+3", "-03:30", "UTC+5", "Foo/Bar", "foo", "", "<+03>-3", "FOO170"}[r.IntN(14)]
		case 1, 2:
			name = []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "Europe/Dublin", "Africa/Casablanca"}[r.IntN(6)]
		}
		// From 1970 on, where all editions of the database agree, to 2037, where rules begin.
		x := adt.UnixEpoch + adt.Timestamp(r.Int64N(67*365*24*4))*900e6
		zs, ts, args = append(zs, name), append(ts, x), append(args, []string{x.String(), name})
	}
	at := func(i int, f func(z adt.Zone, t adt.Timestamp) (adt.Timestamp, error)) string {
		z, err := adt.LookupZone(zs[i])
		if err != nil {
			return showErr(err)
		}
		return show(f(z, ts[i]))
	}
	against(t, o, "("+arg(1)+"::timestamp at time zone "+arg(2)+") at time zone 'UTC'", args,
		func(i int) string { return at(i, adt.Zone.ToUTC) })
	against(t, o, "("+arg(1)+"||'+00')::timestamptz at time zone "+arg(2), args, func(i int) string { return at(i, adt.Zone.ToLocal) })
	against(t, o, "date_trunc('day', ("+arg(1)+"||'+00')::timestamptz, "+arg(2)+") at time zone 'UTC'", args, func(i int) string {
		return at(i, func(z adt.Zone, t adt.Timestamp) (adt.Timestamp, error) { return t.TruncTZ("day", z) })
	})
}

func TestIntervalEncodingKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20000 {
		a, b := randInterval(r), randInterval(r)
		if r.IntN(3) == 0 {
			b.Months = a.Months
		}
		ea, eb := string(a.Append(nil)), string(b.Append(nil))
		if ea < eb != (a.Cmp(b) < 0) || ea == eb != (a == b) {
			t.Fatalf("%v ? %v", a, b)
		}
		if adt.IntervalOf([]byte(ea)) != a {
			t.Fatalf("%v does not survive", a)
		}
		if back, err := adt.ParseInterval(a.String(), -1); err != nil || back != a {
			t.Fatalf("%v is read as %v, %v", a, back, err)
		}
	}
}

func TestClockWords(t *testing.T) {
	now := adt.Clock{Now: 123456789 * 1_000_000, Known: true}
	for in, want := range map[string]string{"now": "2003-11-29 21:33:09", "today": "2003-11-29 00:00:00", "tomorrow": "2003-11-30 00:00:00",
		"yesterday 05:00": "2003-11-28 05:00:00"} {
		if got := show(adt.ParseTimestamp(in, -1, now)); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{"now", "today"} {
		if got := show(adt.ParseTimestamp(in, -1, adt.Clock{})); got != fmt.Sprintf(
			"error 0A000: a date or time that depends on the present, as \"%s\" does, is not supported", in) {
			t.Error(got)
		}
	}
}

func TestMakeDatetimes(t *testing.T) {
	for want, got := range map[string]string{
		"2024-02-29":                       show(adt.MakeDate(2024, 2, 29)),
		"0044-03-15 BC":                    show(adt.MakeDate(-44, 3, 15)),
		"08:15:23.5":                       show(adt.MakeTime(8, 15, 23.5)),
		"24:00:00":                         show(adt.MakeTime(24, 0, 0)),
		"2020-01-03 01:02:03.000001":       show(adt.MakeTimestamp(2020, 1, 3, 1, 2, 3.000001)),
		"1 year 2 mons 24 days 05:06:07.5": show(adt.MakeInterval(1, 2, 3, 3, 5, 6, 7.5)),
		"error 22008: date field value out of range: 2020-13-01": show(adt.MakeDate(2020, 13, 1)),
		"error 22008: date field value out of range: 0-01-01":    show(adt.MakeDate(0, 1, 1)),
		"error 22008: date out of range: 6000000-01-01":          show(adt.MakeDate(6000000, 1, 1)),
		"error 22008: time field value out of range: 5:01:65.5":  show(adt.MakeTime(5, 1, 65.5)),
		"error 22008: timestamp cannot be NaN":                   show(adt.TimestampFromUnix(math.NaN())),
		"error 22008: timestamp out of range: \"1e+20\"":         show(adt.TimestampFromUnix(1e20)),
		"2009-02-13 23:31:30.5":                                  show(adt.TimestampFromUnix(1234567890.5)),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func FuzzDatetimes(f *testing.F) {
	f.Add("2001-02-03 04:05:06.7 PST")
	f.Add("P1Y2M3DT4H5M6.7S")
	f.Fuzz(func(t *testing.T, s string) {
		if x, err := adt.ParseTimestamp(s, -1, adt.Clock{}); err == nil {
			if back, err := adt.ParseTimestamp(x.String(), -1, adt.Clock{}); err != nil || back != x {
				t.Fatalf("%q is %v, which is %v, %v", s, x, back, err)
			}
		}
		if x, err := adt.ParseTime(s, -1, adt.Clock{}); err == nil && (x < 0 || x > 86400e6) {
			t.Fatalf("%q is %v", s, int64(x))
		}
		if x, err := adt.ParseInterval(s, -1); err == nil {
			if back, err := adt.ParseInterval(x.String(), -1); err != nil || back != x {
				t.Fatalf("%q is %v, which is %v, %v", s, x, back, err)
			}
		}
	})
}

func BenchmarkDatetime(b *testing.B) {
	text := make([]byte, 0, 64)
	ts, err := adt.ParseTimestamp("2024-02-29 12:34:56.789", -1, adt.Clock{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse date", func(b *testing.B) {
		for b.Loop() {
			adt.ParseDate("2024-02-29", adt.Clock{})
		}
	})
	b.Run("parse timestamp", func(b *testing.B) {
		for b.Loop() {
			adt.ParseTimestamp("2024-02-29 12:34:56.789", -1, adt.Clock{})
		}
	})
	b.Run("parse interval", func(b *testing.B) {
		for b.Loop() {
			adt.ParseInterval("1 year 2 days 03:04:05", -1)
		}
	})
	b.Run("print timestamp", func(b *testing.B) {
		for b.Loop() {
			text = ts.AppendText(text[:0])
		}
	})
	b.Run("trunc", func(b *testing.B) {
		for b.Loop() {
			ts.Trunc("month")
		}
	})
}
