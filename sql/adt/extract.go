package adt

import (
	"math"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Part is what EXTRACT gives: a decimal with a fixed number of digits after the point. Null is for fields
// that an infinity does not have, Inf for those that it has.
type Part struct {
	Value int64
	Scale int
	Null  bool
	Inf   int // -1 or 1
	// num has the value where an int64 cannot hold it.
	num   Numeric
	isNum bool
}

// Numeric is the part as EXTRACT gives it.
func (p Part) Numeric() Numeric {
	switch {
	case p.Inf > 0:
		return NumericInf
	case p.Inf < 0:
		return NumericNegInf
	case p.isNum:
		return p.num
	}
	return NumericScaled(p.Value, p.Scale)
}

// Float is the part as date_part gives it.
func (p Part) Float() float64 {
	switch {
	case p.Inf != 0:
		return math.Inf(p.Inf)
	case p.isNum:
		return p.num.Float()
	}
	return float64(p.Value) / pow10Float[p.Scale]
}

const (
	typeDate        = "date"
	typeTime        = "time without time zone"
	typeTimestamp   = "timestamp without time zone"
	typeTimestampTZ = "timestamp with time zone"
	typeInterval    = "interval"
)

// findUnit finds the unit that a user's word stands for.
func findUnit(name, typ string) (unit, error) {
	if len(name) <= 32 {
		var buf [32]byte
		for i := range len(name) {
			buf[i] = lower(name[i])
		}
		key := keyword(borrow(buf[:len(name)]))
		if w := unitWords[key]; w.kind == wordUnit {
			return unit(w.val), nil
		}
		switch w := dateWords[key]; {
		case w.kind == wordLabel:
			return unit(w.val), nil
		case w.kind == wordSpecial && special(w.val) == specialEpoch:
			return unitEpoch, nil
		}
	}
	return 0, errUnit(name, typ)
}

func errUnit(name, typ string) error {
	return pgerr.Newf(pgerr.InvalidParameterValue, "unit \"%s\" not recognized for type %s", name, typ)
}

func errUnitSupport(name, typ string) error {
	return pgerr.Newf(pgerr.FeatureNotSupported, "unit \"%s\" not supported for type %s", name, typ)
}

// Extract gives a part of a timestamp without time zone.
func (t Timestamp) Extract(name string) (Part, error) { return t.extract(name, typeTimestamp) }

// ExtractTZ gives a part of a timestamp with time zone, as clocks of UTC show it.
func (t Timestamp) ExtractTZ(name string) (Part, error) { return t.extract(name, typeTimestampTZ) }

func (t Timestamp) extract(name, typ string) (Part, error) {
	u, err := findUnit(name, typ)
	if err != nil {
		return Part{}, err
	}
	if !t.IsFinite() {
		return infinitePart(u, t == TimestampInf), nil
	}
	if u >= unitTimezone {
		if typ != typeTimestampTZ {
			return Part{}, errUnitSupport(name, typ)
		}
		// Clocks show UTC.
		return Part{}, nil
	}
	days, rest := t.days()
	switch u {
	case unitEpoch:
		return Part{Value: int64(t - UnixEpoch), Scale: 6}.checkEpoch(t), nil
	case unitJulian:
		return julianPart(days, rest)
	}
	m := t.split()
	if p, ok := m.timePart(u); ok {
		return p, nil
	}
	if p, ok := m.datePart(u, days); ok {
		return p, nil
	}
	return Part{}, errUnitSupport(name, typ)
}

// checkEpoch handles times whose distance from 1970 is no int64.
func (p Part) checkEpoch(t Timestamp) Part {
	if _, over := subInt(int64(t), int64(UnixEpoch)); over {
		p.num, _ = NumericScaled(int64(t), 6).Sub(NumericScaled(int64(UnixEpoch), 6))
		p.isNum = true
	}
	return p
}

// infinitePart is what the infinities have: only fields that grow for ever.
func infinitePart(u unit, positive bool) Part {
	switch u {
	case unitYear, unitDecade, unitCentury, unitMillennium, unitJulian, unitISOYear, unitEpoch:
		if positive {
			return Part{Inf: 1}
		}
		return Part{Inf: -1}
	}
	return Part{Null: true}
}

func julianPart(days int, rest int64) (Part, error) {
	day := NumericFromInt(int64(days) + julianOfEpoch)
	frac, err := NumericFromInt(rest).Div(NumericFromInt(usecPerDay))
	if err != nil {
		return Part{}, err
	}
	sum, err := day.Add(frac)
	return Part{num: sum, isNum: true}, err
}

// timePart gives the parts of a time of day.
func (m *moment) timePart(u unit) (Part, bool) {
	us := int64(m.sec)*usecPerSec + int64(m.usec)
	switch u {
	case unitMicrosecond:
		return Part{Value: us}, true
	case unitMillisecond:
		return Part{Value: us, Scale: 3}, true
	case unitSecond:
		return Part{Value: us, Scale: 6}, true
	case unitMinute:
		return Part{Value: int64(m.min)}, true
	case unitHour:
		return Part{Value: int64(m.hour)}, true
	}
	return Part{}, false
}

// datePart gives the parts of a date.
func (m *moment) datePart(u unit, days int) (Part, bool) {
	x := 0
	switch u {
	case unitDay:
		x = m.day
	case unitMonth:
		x = m.month
	case unitQuarter:
		x = (m.month-1)/3 + 1
	case unitWeek:
		_, x = isoWeek(m.year, days)
	case unitISOYear:
		x, _ = isoWeek(m.year, days)
		x = bcYear(x)
	case unitYear:
		x = bcYear(m.year)
	case unitDecade:
		x = floorDiv(m.year, 10)
	case unitCentury:
		x = calendarUnit(m.year, 100)
	case unitMillennium:
		x = calendarUnit(m.year, 1000)
	case unitDow:
		x = weekday(days)
	case unitISODow:
		if x = weekday(days); x == 0 {
			x = 7
		}
	case unitDoy:
		x = days - daysOf(m.year, 1, 1) + 1
	default:
		return Part{}, false
	}
	return Part{Value: int64(x)}, true
}

// bcYear is the year as people count, who know no year 0.
func bcYear(year int) int {
	if year > 0 {
		return year
	}
	return year - 1
}

// calendarUnit counts centuries or millennia, which have no number 0 either.
func calendarUnit(year, by int) int {
	if year > 0 {
		return (year + by - 1) / by
	}
	return -((by - 1 - (year - 1)) / by)
}

// Extract gives a part of a date.
func (d Date) Extract(name string) (Part, error) {
	u, err := findUnit(name, typeDate)
	if err != nil {
		return Part{}, err
	}
	var m moment
	m.setDate(int(d))
	_, isDatePart := m.datePart(u, int(d))
	switch {
	case !isDatePart && u != unitEpoch && u != unitJulian:
		return Part{}, errUnitSupport(name, typeDate)
	case !d.IsFinite():
		return infinitePart(u, d == DateInf), nil
	case u == unitEpoch:
		return Part{Value: (int64(d) + 10957) * secPerDay}, nil
	case u == unitJulian:
		return Part{Value: int64(d) + julianOfEpoch}, nil
	}
	p, _ := m.datePart(u, int(d))
	return p, nil
}

// Extract gives a part of a time of day.
func (t Time) Extract(name string) (Part, error) {
	u, err := findUnit(name, typeTime)
	if err != nil {
		return Part{}, err
	}
	if u == unitEpoch {
		return Part{Value: int64(t), Scale: 6}, nil
	}
	var m moment
	m.setTime(int64(t))
	if p, ok := m.timePart(u); ok {
		return p, nil
	}
	return Part{}, errUnitSupport(name, typeTime)
}

// Extract gives a part of an interval.
func (iv Interval) Extract(name string) (Part, error) {
	u, err := findUnit(name, typeInterval)
	if err != nil {
		return Part{}, err
	}
	months, years := int64(iv.Months%monthsPerYr), int64(iv.Months/monthsPerYr)
	switch u {
	case unitDay:
		return Part{Value: int64(iv.Days)}, nil
	case unitMonth:
		return Part{Value: months}, nil
	case unitQuarter:
		return Part{Value: months/3 + 1}, nil
	case unitYear:
		return Part{Value: years}, nil
	case unitDecade:
		return Part{Value: years / 10}, nil
	case unitCentury:
		return Part{Value: years / 100}, nil
	case unitMillennium:
		return Part{Value: years / 1000}, nil
	case unitHour:
		return Part{Value: iv.Micros / usecPerHour}, nil
	case unitMinute:
		return Part{Value: iv.Micros % usecPerHour / usecPerMin}, nil
	case unitEpoch:
		return iv.epoch()
	}
	m := moment{sec: int(iv.Micros % usecPerMin / usecPerSec), usec: int(iv.Micros % usecPerSec)}
	if p, ok := m.timePart(u); ok {
		return p, nil
	}
	return Part{}, errUnitSupport(name, typeInterval)
}

// epoch is all of iv in seconds, a year having 365.25 days and a month 30.
func (iv Interval) epoch() (Part, error) {
	months, years := int64(iv.Months%monthsPerYr), int64(iv.Months/monthsPerYr)
	secs := years*(secPerDay*365+secPerDay/4) + (months*daysPerMonth+int64(iv.Days))*secPerDay
	sum, err := NumericFromInt(secs).Add(NumericScaled(iv.Micros, 6))
	return Part{num: sum, isNum: true}, err
}
