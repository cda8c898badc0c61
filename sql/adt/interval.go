package adt

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// Interval is a span of time in three parts that do not flow into each other: a month is not always 30
// days, and a day not always 24 hours. Intervals are ordered and compared part by part, unlike
// PostgreSQL's, so that equality is equality.
type Interval struct {
	Months, Days int32
	Micros       int64
}

var errIntervalRange = pgerr.New(pgerr.DatetimeFieldOverflow, "interval out of range")

// IntervalLen is the length of an encoding.
const IntervalLen = 16

// Append appends the order-preserving encoding: the parts as big-endian numbers, the sign bits turned over.
func (iv Interval) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(iv.Months)^1<<31)
	dst = binary.BigEndian.AppendUint32(dst, uint32(iv.Days)^1<<31)
	return binary.BigEndian.AppendUint64(dst, uint64(iv.Micros)^1<<63)
}

// ReadInterval reads the encoding that b begins with; ok is false if b is too short.
func ReadInterval(b []byte) (iv Interval, ok bool) {
	if len(b) < IntervalLen {
		return Interval{}, false
	}
	return Interval{
		Months: int32(binary.BigEndian.Uint32(b) ^ 1<<31),
		Days:   int32(binary.BigEndian.Uint32(b[4:]) ^ 1<<31),
		Micros: int64(be64(b[8:]) ^ 1<<63),
	}, true
}

// IntervalOf reads a whole encoding from our own vectors.
func IntervalOf(b []byte) Interval {
	iv, ok := ReadInterval(b)
	if !ok || len(b) != IntervalLen {
		invariants.Failf("interval: bytes %x are no encoding", b)
	}
	return iv
}

// Cmp orders intervals part by part.
func (iv Interval) Cmp(o Interval) int {
	return cmp.Or(cmp.Compare(iv.Months, o.Months), cmp.Compare(iv.Days, o.Days), cmp.Compare(iv.Micros, o.Micros))
}

// AppendText appends iv in the style "postgres".
func (iv Interval) AppendText(dst []byte) []byte {
	start := len(dst)
	before := false // the last part was negative, so a positive one shows its sign
	part := func(x int32, unit string) {
		if x == 0 {
			return
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if before && x > 0 {
			dst = append(dst, '+')
		}
		dst = append(append(appendInt(dst, int64(x)), ' '), unit...)
		if x != 1 {
			dst = append(dst, 's')
		}
		before = x < 0
	}
	part(iv.Months/monthsPerYr, "year")
	part(iv.Months%monthsPerYr, "mon")
	part(iv.Days, "day")
	if iv.Micros == 0 && len(dst) > start {
		return dst
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	abs := uint64(iv.Micros)
	if iv.Micros < 0 {
		dst, abs = append(dst, '-'), -abs
	} else if before {
		dst = append(dst, '+')
	}
	if hours := abs / usecPerHour; hours < 100 {
		dst = append2(dst, int(hours))
	} else {
		dst = appendInt(dst, int64(hours))
	}
	dst = append2(append(dst, ':'), int(abs%usecPerHour/usecPerMin))
	dst = append2(append(dst, ':'), int(abs%usecPerMin/usecPerSec))
	return appendFraction(dst, int(abs%usecPerSec))
}

func (iv Interval) String() string { return string(iv.AppendText(nil)) }

// Add is interval + interval.
func (iv Interval) Add(o Interval) (Interval, error) {
	us, over := addInt(iv.Micros, o.Micros)
	return makeInterval(int64(iv.Months)+int64(o.Months), int64(iv.Days)+int64(o.Days), us, over)
}

// Sub is interval - interval.
func (iv Interval) Sub(o Interval) (Interval, error) {
	us, over := subInt(iv.Micros, o.Micros)
	return makeInterval(int64(iv.Months)-int64(o.Months), int64(iv.Days)-int64(o.Days), us, over)
}

// Neg is -interval.
func (iv Interval) Neg() (Interval, error) { return Interval{}.Sub(iv) }

func makeInterval(months, days, micros int64, over bool) (Interval, error) {
	if over || months != int64(int32(months)) || days != int64(int32(days)) {
		return Interval{}, errIntervalRange
	}
	return Interval{Months: int32(months), Days: int32(days), Micros: micros}, nil
}

// Mul is interval * float8. Fractions of months become days and those of days become time, at 30 days a
// month and 24 hours a day.
func (iv Interval) Mul(x float64) (Interval, error) {
	return iv.scale(float64(iv.Months)*x, float64(iv.Days)*x, float64(iv.Micros)*x)
}

// Div is interval / float8.
func (iv Interval) Div(x float64) (Interval, error) {
	if x == 0 {
		return Interval{}, errDivisionByZero
	}
	return iv.scale(float64(iv.Months)/x, float64(iv.Days)/x, float64(iv.Micros)/x)
}

func (iv Interval) scale(months, days, micros float64) (Interval, error) {
	fits := func(x float64) bool { return x >= math.MinInt32 && x <= math.MaxInt32 }
	if !fits(months) || !fits(days) {
		return Interval{}, errIntervalRange
	}
	// Rounding the fractions to microseconds hides that most products have no exact float.
	monthDays := roundTo6((months - math.Trunc(months)) * daysPerMonth)
	sec := roundTo6((days - math.Trunc(days) + monthDays - math.Trunc(monthDays)) * secPerDay)
	outDays := math.Trunc(days)
	if math.Abs(sec) >= secPerDay {
		whole := math.Trunc(sec / secPerDay)
		outDays, sec = outDays+whole, sec-whole*secPerDay
	}
	outDays += math.Trunc(monthDays)
	us := math.RoundToEven(micros + sec*usecPerSec)
	if !fits(outDays) || !(us >= math.MinInt64 && us < math.MaxInt64) {
		return Interval{}, errIntervalRange
	}
	return Interval{Months: int32(months), Days: int32(outDays), Micros: int64(us)}, nil
}

func roundTo6(x float64) float64 { return math.RoundToEven(x*1e6) / 1e6 }

// JustifyHours turns each 24 hours into a day.
func (iv Interval) JustifyHours() (Interval, error) {
	days, us := iv.Micros/usecPerDay, iv.Micros%usecPerDay
	out, err := makeInterval(int64(iv.Months), int64(iv.Days)+days, us, false)
	switch {
	case err != nil:
		return out, err
	case out.Days > 0 && out.Micros < 0:
		out.Days, out.Micros = out.Days-1, out.Micros+usecPerDay
	case out.Days < 0 && out.Micros > 0:
		out.Days, out.Micros = out.Days+1, out.Micros-usecPerDay
	}
	return out, nil
}

// JustifyDays turns each 30 days into a month.
func (iv Interval) JustifyDays() (Interval, error) {
	months, days := iv.Days/daysPerMonth, iv.Days%daysPerMonth
	out, err := makeInterval(int64(iv.Months)+int64(months), int64(days), iv.Micros, false)
	switch {
	case err != nil:
		return out, err
	case out.Months > 0 && out.Days < 0:
		out.Months, out.Days = out.Months-1, out.Days+daysPerMonth
	case out.Months < 0 && out.Days > 0:
		out.Months, out.Days = out.Months+1, out.Days-daysPerMonth
	}
	return out, nil
}

// JustifyInterval does both, and makes all parts have one sign.
func (iv Interval) JustifyInterval() (Interval, error) {
	months, days, us := int64(iv.Months), int64(iv.Days), iv.Micros
	days, us = days+us/usecPerDay, us%usecPerDay
	months, days = months+days/daysPerMonth, days%daysPerMonth
	switch {
	case months > 0 && (days < 0 || days == 0 && us < 0):
		months, days = months-1, days+daysPerMonth
	case months < 0 && (days > 0 || days == 0 && us > 0):
		months, days = months+1, days-daysPerMonth
	}
	switch {
	case days > 0 && us < 0:
		days, us = days-1, us+usecPerDay
	case days < 0 && us > 0:
		days, us = days+1, us-usecPerDay
	}
	return makeInterval(months, days, us, false)
}

// The bits of a type modifier that say which fields an interval has, and the value for all.
const (
	fieldMonth  = 1 << 1
	fieldYear   = 1 << 2
	fieldDay    = 1 << 3
	fieldHour   = 1 << 10
	fieldMinute = 1 << 11
	fieldSecond = 1 << 12

	allFields    = 0x7FFF
	allPrecision = 0xFFFF
)

// FitMod applies an interval type modifier: cuts off the fields below the last one it names and rounds the
// seconds.
func (iv Interval) FitMod(mod int32) (Interval, error) {
	if mod < 0 {
		return iv, nil
	}
	switch fields := mod >> 16 & allFields; {
	case fields == allFields || fields&fieldSecond != 0:
	case fields&fieldMinute != 0:
		iv.Micros = iv.Micros / usecPerMin * usecPerMin
	case fields&fieldHour != 0:
		iv.Micros = iv.Micros / usecPerHour * usecPerHour
	case fields&fieldDay != 0:
		iv.Micros = 0
	case fields&fieldMonth != 0:
		iv.Days, iv.Micros = 0, 0
	case fields&fieldYear != 0:
		iv = Interval{Months: iv.Months / monthsPerYr * monthsPerYr}
	}
	if digits := mod & allPrecision; digits < 6 {
		if iv.Micros > math.MaxInt64-usecPerSec || iv.Micros < math.MinInt64+usecPerSec {
			return Interval{}, errIntervalRange
		}
		iv.Micros = roundUsec(iv.Micros, digits)
	}
	return iv, nil
}

// MakeInterval is make_interval.
func MakeInterval(years, months, weeks, days, hours, mins int32, secs float64) (Interval, error) {
	us := math.RoundToEven(secs * usecPerSec)
	if !(us >= math.MinInt64/2 && us <= math.MaxInt64/2) {
		return Interval{}, errIntervalRange
	}
	total, over := addInt(int64(hours)*usecPerHour+int64(mins)*usecPerMin, int64(us))
	return makeInterval(int64(years)*monthsPerYr+int64(months), int64(weeks)*7+int64(days), total, over)
}

// Micros24 gives all of iv in microseconds at 30 days a month and 24 hours a day, as PostgreSQL compares
// intervals; over is true if that is no int64.
func (iv Interval) Micros24() (us int64, over bool) {
	days := int64(iv.Months)*daysPerMonth + int64(iv.Days)
	p, over := mulInt(days, usecPerDay)
	if over {
		return 0, true
	}
	return addInt(p, iv.Micros)
}
