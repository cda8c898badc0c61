package adt

import (
	"math"

	"github.com/tributary-db/tributary/sql/pgerr"
)

var (
	errTimestampRange = pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp out of range")
	errDateRange      = pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range")
	errTimeRange      = pgerr.New(pgerr.DatetimeFieldOverflow, "time out of range")
)

// AppendText appends d in ISO style.
func (d Date) AppendText(dst []byte) []byte {
	if !d.IsFinite() {
		return appendInfinity(dst, d == DateInf)
	}
	var m moment
	m.setDate(int(d))
	return m.appendEra(m.appendDate(dst))
}

// AppendText appends t in ISO style, as timestamp without time zone.
func (t Timestamp) AppendText(dst []byte) []byte {
	if !t.IsFinite() {
		return appendInfinity(dst, t == TimestampInf)
	}
	m := t.split()
	dst = append(m.appendDate(dst), ' ')
	return m.appendEra(m.appendTime(dst))
}

// AppendTextTZ appends t as timestamp with time zone, in UTC.
func (t Timestamp) AppendTextTZ(dst []byte) []byte {
	if !t.IsFinite() {
		return appendInfinity(dst, t == TimestampInf)
	}
	m := t.split()
	dst = append(m.appendDate(dst), ' ')
	return m.appendEra(append(m.appendTime(dst), "+00"...))
}

// AppendText appends t as SQL prints a time.
func (t Time) AppendText(dst []byte) []byte {
	var m moment
	m.setTime(int64(t))
	return m.appendTime(dst)
}

func (d Date) String() string      { return string(d.AppendText(nil)) }
func (t Timestamp) String() string { return string(t.AppendText(nil)) }
func (t Time) String() string      { return string(t.AppendText(nil)) }

func appendInfinity(dst []byte, positive bool) []byte {
	if !positive {
		dst = append(dst, '-')
	}
	return append(dst, "infinity"...)
}

func append2(dst []byte, x int) []byte { return append(dst, byte('0'+x/10), byte('0'+x%10)) }

func (m *moment) appendDate(dst []byte) []byte {
	year := m.year
	if year <= 0 {
		year = 1 - year
	}
	if year > 9999 {
		dst = appendInt(dst, int64(year/100))
	} else {
		dst = append2(dst, year/100)
	}
	dst = append(append2(dst, year%100), '-')
	dst = append(append2(dst, m.month), '-')
	return append2(dst, m.day)
}

func (m *moment) appendEra(dst []byte) []byte {
	if m.year <= 0 {
		return append(dst, " BC"...)
	}
	return dst
}

func (m *moment) appendTime(dst []byte) []byte {
	dst = append(append2(dst, m.hour), ':')
	dst = append(append2(dst, m.min), ':')
	return appendFraction(append2(dst, m.sec), m.usec)
}

// appendFraction appends microseconds after their second, without trailing zeros.
func appendFraction(dst []byte, usec int) []byte {
	if usec == 0 {
		return dst
	}
	dst = append(dst, '.')
	for by := 100_000; usec > 0; by /= 10 {
		dst = append(dst, byte('0'+usec/by))
		usec %= by
	}
	return dst
}

// MakeDate is make_date: negative years are BC.
func MakeDate(year, month, day int) (Date, error) {
	y := year
	if y < 0 {
		y++
	}
	if year == 0 || month < 1 || month > 12 || day < 1 || y > 6_000_000 || y < -6_000_000 || day > daysIn(y, month) {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "date field value out of range: %d-%02d-%02d", year, month, day)
	}
	d := Date(daysOf(y, month, day))
	if !d.InRange() {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "date out of range: %d-%02d-%02d", year, month, day)
	}
	return d, nil
}

// MakeTime is make_time.
func MakeTime(hour, minute int, sec float64) (Time, error) {
	t := math.RoundToEven(sec * usecPerSec)
	if sec < 0 || !(t <= 60*usecPerSec) || hour < 0 || hour > 24 || minute < 0 || minute > 59 ||
		int64(hour)*usecPerHour+int64(minute)*usecPerMin+int64(t) > usecPerDay {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "time field value out of range: %d:%02d:%02g", hour, minute, sec)
	}
	return Time(int64(hour)*usecPerHour + int64(minute)*usecPerMin + int64(t)), nil
}

// MakeTimestamp is make_timestamp.
func MakeTimestamp(year, month, day, hour, minute int, sec float64) (Timestamp, error) {
	d, err := MakeDate(year, month, day)
	if err != nil {
		return 0, err
	}
	t, err := MakeTime(hour, minute, sec)
	if err != nil {
		return 0, err
	}
	return d.At(t)
}

// At is the moment of date d at time t.
func (d Date) At(t Time) (Timestamp, error) {
	ts, err := d.Timestamp()
	if err != nil || !ts.IsFinite() {
		return ts, err
	}
	if ts += Timestamp(t); !ts.InRange() {
		return 0, errTimestampRange
	}
	return ts, nil
}

// Timestamp is d's midnight.
func (d Date) Timestamp() (Timestamp, error) {
	switch {
	case d == DateInf:
		return TimestampInf, nil
	case d == DateNegInf:
		return TimestampNegInf, nil
	case int64(d) >= int64(endTimestamp)/usecPerDay:
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "date out of range for timestamp")
	}
	return Timestamp(int64(d) * usecPerDay), nil
}

// Date is the day that t lies in.
func (t Timestamp) Date() Date {
	switch t {
	case TimestampInf:
		return DateInf
	case TimestampNegInf:
		return DateNegInf
	}
	days, _ := t.days()
	return Date(days)
}

// Time is the time of t's day; ok is false for the infinities, which have none (SQL says NULL).
func (t Timestamp) Time() (tod Time, ok bool) {
	_, rest := t.days()
	return Time(rest), t.IsFinite()
}

// AddDays is date + integer.
func (d Date) AddDays(n int64) (Date, error) {
	if !d.IsFinite() {
		return d, nil
	}
	sum := int64(d) + n
	if sum < int64(minDate) || sum >= int64(endDate) {
		return 0, errDateRange
	}
	return Date(sum), nil
}

// Sub is date - date, in days.
func (d Date) Sub(e Date) (int64, error) {
	if !d.IsFinite() || !e.IsFinite() {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite dates")
	}
	return int64(d) - int64(e), nil
}

// Add is timestamp + interval: first the months (the day is cut to the month's last), then the days, then
// the time.
func (t Timestamp) Add(iv Interval) (Timestamp, error) {
	if !t.IsFinite() {
		return t, nil
	}
	if iv.Months != 0 {
		m := t.split()
		month := m.month - 1 + int(iv.Months)
		years := floorDiv(month, 12)
		m.year, m.month = m.year+years, month-12*years+1
		m.day = min(m.day, daysIn(m.year, m.month))
		var ok bool
		if t, ok = m.timestamp(); !ok {
			return 0, errTimestampRange
		}
	}
	// In days first: an int32 of days in microseconds can be more than an int64, added to the time.
	days, rest := t.days()
	if days += int(iv.Days); days < int(minDate) || days >= int(endTimestamp/usecPerDay) {
		return 0, errTimestampRange
	}
	sum, over := addInt(int64(days)*usecPerDay+rest, iv.Micros)
	if over || !Timestamp(sum).InRange() {
		return 0, errTimestampRange
	}
	return Timestamp(sum), nil
}

// Sub is timestamp - timestamp: days and a time, no months.
func (t Timestamp) Sub(u Timestamp) (Interval, error) {
	if !t.IsFinite() || !u.IsFinite() {
		return Interval{}, pgerr.New(pgerr.DatetimeFieldOverflow, "cannot subtract infinite timestamps")
	}
	d, over := subInt(int64(t), int64(u))
	if over {
		return Interval{}, errIntervalRange
	}
	return Interval{Days: int32(d / usecPerDay), Micros: d % usecPerDay}, nil
}

// Add is time + interval: only the interval's time of day counts, around the clock.
func (t Time) Add(iv Interval) Time {
	sum := (int64(t) + iv.Micros%usecPerDay) % usecPerDay
	if sum < 0 {
		sum += usecPerDay
	}
	return Time(sum)
}

// Sub is time - time.
func (t Time) Sub(u Time) Interval { return Interval{Micros: int64(t) - int64(u)} }

// FitMod rounds a timestamp to a type modifier's number of fractional digits.
func (t Timestamp) FitMod(mod int32) (Timestamp, error) {
	if !t.IsFinite() || mod < 0 || mod >= 6 {
		return t, nil
	}
	if t = Timestamp(roundUsec(int64(t), mod)); !t.InRange() {
		return 0, errTimestampRange
	}
	return t, nil
}

// FitMod rounds a time to a type modifier's number of fractional digits.
func (t Time) FitMod(mod int32) Time {
	if mod < 0 || mod >= 6 {
		return t
	}
	return Time(roundUsec(int64(t), mod))
}

// roundUsec rounds to digits after the second, half away from zero.
func roundUsec(x int64, digits int32) int64 {
	by := int64(1)
	for range 6 - digits {
		by *= 10
	}
	if x >= 0 {
		return (x + by/2) / by * by
	}
	return -((-x + by/2) / by * by)
}

func addInt(a, b int64) (sum int64, over bool) {
	sum = a + b
	return sum, (a^sum)&(b^sum) < 0
}

func subInt(a, b int64) (diff int64, over bool) {
	diff = a - b
	return diff, (a^b)&(a^diff) < 0
}

func mulInt(a, b int64) (p int64, over bool) {
	if a == 0 || b == 0 {
		return 0, false
	}
	p = a * b
	return p, p/b != a || a == math.MinInt64 && b == -1 || b == math.MinInt64 && a == -1
}

// TimestampFromUnix is the moment the given seconds after 1970 (PostgreSQL's to_timestamp).
func TimestampFromUnix(sec float64) (Timestamp, error) {
	switch {
	case sec != sec:
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "timestamp cannot be NaN")
	case math.IsInf(sec, 1):
		return TimestampInf, nil
	case math.IsInf(sec, -1):
		return TimestampNegInf, nil
	}
	usec := math.RoundToEven((sec + float64(UnixEpoch/usecPerSec)) * usecPerSec)
	if !(usec >= float64(minTimestamp) && usec < float64(endTimestamp)) {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "timestamp out of range: \"%.6g\"", sec)
	}
	return Timestamp(usec), nil
}

// UnixMicros is microseconds since 1970.
func (t Timestamp) UnixMicros() int64 { return int64(t - UnixEpoch) }
