package adt

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// intervalParser reads an interval from its fields, last one first, so that a unit is known before its
// number.
type intervalParser struct {
	fieldList
	fields32 int32 // the fields of the type modifier; 0: all
	seen     intervalMask

	years, months, days, micros int64
}

// intervalMask is a set of units that were given.
type intervalMask uint32

func (u unit) mask() intervalMask { return 1 << u }

const timeMask = 1<<unitHour | 1<<unitMinute | 1<<unitSecond | 1<<unitMillisecond | 1<<unitMicrosecond

var (
	errIntervalSyntax = errors.New("interval syntax")
	errIntervalField  = errors.New("interval field")
)

// ParseInterval reads an interval and applies a type modifier (-1: none), which also says what a number
// without a unit means.
func ParseInterval(s string, mod int32) (Interval, error) {
	p := intervalParser{}
	if mod >= 0 && mod>>16&allFields != allFields {
		p.fields32 = mod >> 16 & allFields
	}
	err := errIntervalSyntax
	if p.scan(s) {
		err = p.parse()
	}
	if err == errIntervalSyntax {
		p = intervalParser{}
		err = p.parseISO(s)
	}
	var out Interval
	switch err {
	case nil:
		months, over := mulInt(p.years, monthsPerYr)
		if !over {
			months, over = addInt(months, p.months)
		}
		if over || months != int64(int32(months)) || p.days != int64(int32(p.days)) {
			return Interval{}, errIntervalRange
		}
		out = Interval{Months: int32(months), Days: int32(p.days), Micros: p.micros}
	case errIntervalField:
		return Interval{}, pgerr.Newf(pgerr.IntervalFieldOverflow, "interval field value out of range: \"%s\"", s)
	default:
		return Interval{}, pgerr.Newf(pgerr.InvalidDatetimeFormat, "invalid input syntax for type interval: \"%s\"", s)
	}
	return out.FitMod(mod)
}

func (p *intervalParser) parse() error {
	var next unit // what the number before is a number of; 0: not said
	ago := false
	for i := p.n - 1; i >= 0; i-- {
		f := p.fields[i]
		said, err := intervalMask(0), error(nil)
		switch f.kind {
		case fieldTime:
			said, err = p.time(f.text, false)
			next = unitDay
		case fieldTZ:
			if strings.IndexByte(f.text, ':') > 0 {
				if said, err = p.time(f.text[1:], f.text[0] == '-'); err == nil {
					// A day may follow, to the left: '1 +02:03'.
					next = unitDay
					break
				}
			}
			said, next, err = p.number(f.text, next)
		case fieldDate, fieldNumber:
			said, next, err = p.number(f.text, next)
		default:
			w, ok := unitWords[keyword(f.text)]
			switch {
			case !ok:
				return errIntervalSyntax
			case w.kind == wordAgo:
				// A number right before it has no unit, not even the default one.
				ago, next = true, unitTimezone
			case w.kind == wordUnit:
				next = unit(w.val)
			}
		}
		if err != nil {
			return err
		}
		if said&p.seen != 0 {
			return errIntervalSyntax
		}
		p.seen |= said
	}
	if p.seen == 0 {
		return errIntervalSyntax
	}
	if ago {
		return p.negate()
	}
	return nil
}

func (p *intervalParser) negate() error {
	if p.micros == math.MinInt64 || p.days == math.MinInt32 || p.months == math.MinInt32 || p.years == math.MinInt32 {
		return errIntervalField
	}
	p.years, p.months, p.days, p.micros = -p.years, -p.months, -p.days, -p.micros
	return nil
}

// time reads a time with colons.
func (p *intervalParser) time(s string, neg bool) (intervalMask, error) {
	hours, t, ok, inRange := clockTime(s, p.fields32)
	switch {
	case !ok:
		return 0, errIntervalSyntax
	case !inRange:
		return 0, errIntervalField
	}
	us, over := mulInt(hours, usecPerHour)
	if !over {
		us, over = addInt(us, t.timeOfDay())
	}
	if over {
		return 0, errIntervalField
	}
	if neg {
		us = -us
	}
	p.micros = us
	return timeMask, nil
}

// defaultUnit is what the last number means that has no unit, by the last field of the type modifier.
func (p *intervalParser) defaultUnit() unit {
	switch {
	case p.fields32 == 0 || p.fields32&fieldSecond != 0:
		return unitSecond
	case p.fields32&fieldMinute != 0:
		return unitMinute
	case p.fields32&fieldHour != 0:
		return unitHour
	case p.fields32&fieldDay != 0:
		return unitDay
	case p.fields32&fieldMonth != 0:
		return unitMonth
	}
	return unitYear
}

// number adds a number of a unit and gives the unit of a number before it that has none.
func (p *intervalParser) number(s string, u unit) (intervalMask, unit, error) {
	if u == 0 {
		u = p.defaultUnit()
	}
	neg := s[0] == '-'
	end := 0
	if s[0] == '-' || s[0] == '+' {
		end = 1
	}
	end = span(s, end, isDigit)
	val, err := strconv.ParseInt(s[:end], 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, 0, errIntervalField
	} else if err != nil && s[0] != '.' {
		return 0, 0, errIntervalSyntax
	}
	var frac float64
	switch rest := s[end:]; {
	case rest == "":
	case rest[0] == '-':
		// The standard's years-months.
		months, err := yearMonths(rest[1:])
		if err != nil {
			return 0, 0, err
		}
		if neg {
			months = -months
		}
		if val > math.MaxInt32 || val < math.MinInt32 {
			return 0, 0, errIntervalField
		}
		val, u = val*monthsPerYr+months, unitMonth
		if val > math.MaxInt32 || val < math.MinInt32 {
			return 0, 0, errIntervalField
		}
	case rest[0] == '.':
		if len(rest) > 1 {
			if frac, err = strconv.ParseFloat(rest, 64); err != nil || span(rest, 1, isDigit) != len(rest) {
				return 0, 0, errIntervalSyntax
			}
		}
		if neg {
			frac = -frac
		}
	default:
		return 0, 0, errIntervalSyntax
	}
	said, ok := p.add(u, val, frac)
	if !ok {
		return 0, 0, errIntervalField
	}
	if said == 0 {
		return 0, 0, errIntervalSyntax
	}
	if u == unitHour {
		// A number before hours is days: '1 2' hours.
		u = unitDay
	}
	return said, u, nil
}

func yearMonths(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	m, err := strconv.ParseInt(s, 10, 64)
	switch {
	case span(s, 0, isDigit) != len(s):
		return 0, errIntervalSyntax
	case err != nil || m >= monthsPerYr:
		return 0, errIntervalField
	}
	return m, nil
}

// add adds val + frac of a unit; the result is what was said, 0 for a unit that intervals do not have.
func (p *intervalParser) add(u unit, val int64, frac float64) (said intervalMask, ok bool) {
	said = u.mask()
	switch u {
	case unitMicrosecond:
		return said, p.addMicros(val, frac, 1)
	case unitMillisecond:
		return said, p.addMicros(val, frac, 1000)
	case unitSecond:
		if frac != 0 {
			said |= unitMillisecond.mask() | unitMicrosecond.mask()
		}
		return said, p.addMicros(val, frac, usecPerSec)
	case unitMinute:
		return said, p.addMicros(val, frac, usecPerMin)
	case unitHour:
		return said, p.addMicros(val, frac, usecPerHour)
	case unitDay:
		return said, addTo(&p.days, val, 1) && p.addMicros(0, frac, usecPerDay)
	case unitWeek:
		return said, addTo(&p.days, val, 7) && p.addFracDays(frac, 7)
	case unitMonth:
		return said, addTo(&p.months, val, 1) && p.addFracDays(frac, daysPerMonth)
	case unitYear:
		return said, p.addYears(val, frac, 1)
	case unitDecade:
		return said, p.addYears(val, frac, 10)
	case unitCentury:
		return said, p.addYears(val, frac, 100)
	case unitMillennium:
		return said, p.addYears(val, frac, 1000)
	}
	return 0, true
}

// addTo adds val·by to a field that must stay an int32.
func addTo(field *int64, val, by int64) bool {
	p, over := mulInt(val, by)
	if over {
		return false
	}
	sum, over := addInt(*field, p)
	if over || sum != int64(int32(sum)) || p != int64(int32(p)) {
		return false
	}
	*field = sum
	return true
}

func (p *intervalParser) addMicros(val int64, frac float64, by int64) bool {
	us, over := mulInt(val, by)
	if over {
		return false
	}
	if p.micros, over = addInt(p.micros, us); over {
		return false
	}
	if frac == 0 {
		return true
	}
	f := frac * float64(by)
	us = int64(f)
	switch f -= float64(us); {
	case f > 0.5:
		us++
	case f < -0.5:
		us--
	}
	p.micros, over = addInt(p.micros, us)
	return !over
}

// addFracDays adds a fraction of so many days; what is less than a day becomes time.
func (p *intervalParser) addFracDays(frac float64, days int64) bool {
	if frac == 0 {
		return true
	}
	frac *= float64(days)
	whole := int64(frac)
	return addTo(&p.days, whole, 1) && p.addMicros(0, frac-float64(whole), usecPerDay)
}

// addYears adds a number of years; a fraction is rounded to months.
func (p *intervalParser) addYears(val int64, frac float64, by int64) bool {
	return addTo(&p.years, val, by) &&
		addTo(&p.months, int64(math.RoundToEven(frac*float64(by)*monthsPerYr)), 1)
}

// parseISO reads the ISO 8601 forms: with designators (P1Y2M3DT4H5M6S), and without (P0001-02-03T04:05:06,
// P00010203T040506).
func (p *intervalParser) parseISO(s string) error {
	if len(s) < 2 || s[0] != 'P' {
		return errIntervalSyntax
	}
	s = s[1:]
	datePart, haveField := true, false
	for s != "" {
		if s[0] == 'T' {
			datePart, haveField = false, false
			s = s[1:]
			continue
		}
		n, err := isoNumber(s)
		if err != nil {
			return err
		}
		s = s[n.size:]
		switch {
		case haveField:
		case datePart && (s == "" || s[0] == 'T' || s[0] == '-'):
			return p.isoAltDate(n, s)
		case !datePart && (s == "" || s[0] == ':'):
			return p.isoAltTime(n, s)
		}
		if s == "" {
			return errIntervalSyntax
		}
		u, ok := isoDesignator(s[0], datePart)
		s = s[1:]
		if !ok {
			return errIntervalSyntax
		}
		if _, ok := p.add(u, n.val, n.frac); !ok {
			return errIntervalField
		}
		haveField = true
	}
	return nil
}

func isoDesignator(des byte, datePart bool) (unit, bool) {
	if datePart {
		switch des {
		case 'Y':
			return unitYear, true
		case 'M':
			return unitMonth, true
		case 'W':
			return unitWeek, true
		case 'D':
			return unitDay, true
		}
		return 0, false
	}
	switch des {
	case 'H':
		return unitHour, true
	case 'M':
		return unitMinute, true
	case 'S':
		return unitSecond, true
	}
	return 0, false
}

// isoNum is a number in an ISO form: its integral part and the rest, how many digits the former was written
// with and how many bytes there were in all.
type isoNum struct {
	val          int64
	frac         float64
	digits, size int
}

// isoNumber reads a number with a sign, a point and an exponent, if it has them.
func isoNumber(s string) (n isoNum, err error) {
	if s == "" || !isDigit(s[0]) && s[0] != '-' && s[0] != '.' {
		return n, errIntervalSyntax
	}
	i := 0
	if s[0] == '-' {
		i++
	}
	start := i
	i = span(s, i, isDigit)
	n.digits = i - start
	if i < len(s) && s[i] == '.' {
		i = span(s, i+1, isDigit)
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if _, size := scanExponent(s[i+1:]); size > 0 {
			i += 1 + size
		}
	}
	n.size = i
	x, err := strconv.ParseFloat(s[:i], 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || x < math.MinInt64 || x >= math.MaxInt64:
		return n, errIntervalField
	case err != nil:
		return n, errIntervalSyntax
	}
	whole := math.Trunc(x)
	n.val, n.frac = int64(whole), x-whole
	return n, nil
}

// isoAltDate goes on after the first number of a date without designators.
func (p *intervalParser) isoAltDate(n isoNum, s string) error {
	if n.digits == 8 && (s == "" || s[0] != '-') {
		// yyyymmdd
		if !addTo(&p.years, n.val/10000, 1) || !addTo(&p.months, n.val/100%100, 1) || !addTo(&p.days, n.val%100, 1) ||
			!p.addMicros(0, n.frac, usecPerDay) {
			return errIntervalField
		}
		return p.isoTimePart(s)
	}
	if !p.addYears(n.val, n.frac, 1) {
		return errIntervalField
	}
	for _, u := range [...]unit{unitMonth, unitDay} {
		if s == "" || s[0] == 'T' {
			break
		}
		if s[0] != '-' {
			return errIntervalSyntax
		}
		n, err := isoNumber(s[1:])
		if err != nil {
			return err
		}
		if _, ok := p.add(u, n.val, n.frac); !ok {
			return errIntervalField
		}
		s = s[1+n.size:]
	}
	return p.isoTimePart(s)
}

// isoTimePart reads what may follow a date without designators: a time with them or without.
func (p *intervalParser) isoTimePart(s string) error {
	if s == "" {
		return nil
	}
	if s[0] != 'T' {
		return errIntervalSyntax
	}
	return p.parseISO("P" + s)
}

// isoAltTime goes on after the first number of a time without designators.
func (p *intervalParser) isoAltTime(n isoNum, s string) error {
	if n.digits == 6 && s == "" {
		// hhmmss
		if !p.addMicros(n.val/10000, 0, usecPerHour) || !p.addMicros(n.val/100%100, 0, usecPerMin) ||
			!p.addMicros(n.val%100, 0, usecPerSec) || !p.addMicros(0, n.frac, 1) {
			return errIntervalField
		}
		return nil
	}
	if !p.addMicros(n.val, n.frac, usecPerHour) {
		return errIntervalField
	}
	for _, by := range [...]int64{usecPerMin, usecPerSec} {
		if s == "" {
			return nil
		}
		if s[0] != ':' {
			return errIntervalSyntax
		}
		n, err := isoNumber(s[1:])
		if err != nil {
			return err
		}
		if !p.addMicros(n.val, n.frac, by) {
			return errIntervalField
		}
		s = s[1+n.size:]
	}
	if s != "" {
		return errIntervalSyntax
	}
	return nil
}
