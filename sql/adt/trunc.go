package adt

import "github.com/tributary-db/tributary/sql/pgerr"

// Trunc is date_trunc of a timestamp without time zone.
func (t Timestamp) Trunc(name string) (Timestamp, error) { return t.trunc(name, typeTimestamp) }

// TruncTZ is date_trunc of a timestamp with time zone by the clocks of a zone.
func (t Timestamp) TruncTZ(name string, z Zone) (Timestamp, error) {
	if !t.IsFinite() {
		return t, nil
	}
	z.name = "" // An abbreviation of a place is the place here.
	local, err := z.ToLocal(t)
	if err != nil {
		return 0, err
	}
	if local, err = local.trunc(name, typeTimestampTZ); err != nil {
		return 0, err
	}
	return z.ToUTC(local)
}

func (t Timestamp) trunc(name, typ string) (Timestamp, error) {
	if !t.IsFinite() {
		// PostgreSQL does not look at the unit here.
		return t, nil
	}
	u, err := findUnit(name, typ)
	if err != nil {
		return 0, err
	}
	days, rest := t.days()
	switch by := subDay(u); {
	case u == unitDay:
		rest = 0
	case by != 0:
		rest -= rest % by
	case u == unitWeek || u >= unitMonth && u <= unitMillennium:
		var m moment
		m.setDate(days)
		days, rest = m.truncDate(u, days), 0
	default:
		if u == unitMicrosecond {
			break
		}
		// PostgreSQL has the units of extract for unknown here, but of time zones for unsupported.
		if u >= unitTimezone {
			return 0, errUnitSupport(name, typ)
		}
		return 0, errUnit(name, typ)
	}
	if out := int64(days)*usecPerDay + rest; Timestamp(out).InRange() {
		return Timestamp(out), nil
	}
	return 0, errTimestampRange
}

// subDay is the length of a unit shorter than a day and longer than a microsecond; 0 for others.
func subDay(u unit) int64 {
	switch u {
	case unitMillisecond:
		return 1000
	case unitSecond:
		return usecPerSec
	case unitMinute:
		return usecPerMin
	case unitHour:
		return usecPerHour
	}
	return 0
}

// truncDate is the first day of the unit that a day lies in.
func (m *moment) truncDate(u unit, days int) int {
	switch u {
	case unitWeek:
		return days - (weekday(days)+6)%7
	case unitMonth:
		return daysOf(m.year, m.month, 1)
	case unitQuarter:
		return daysOf(m.year, (m.month-1)/3*3+1, 1)
	case unitDecade:
		return daysOf(floorDiv(m.year, 10)*10, 1, 1)
	case unitCentury:
		return daysOf(firstYear(m.year, 100), 1, 1)
	case unitMillennium:
		return daysOf(firstYear(m.year, 1000), 1, 1)
	}
	return daysOf(m.year, 1, 1)
}

// firstYear is the first year of a century or a millennium, such as 2001.
func firstYear(year, by int) int {
	return floorDiv(year-1, by)*by + 1
}

// Trunc is date_trunc of an interval.
func (iv Interval) Trunc(name string) (Interval, error) {
	u, err := findUnit(name, typeInterval)
	if err != nil {
		return Interval{}, err
	}
	months := int32(0)
	switch u {
	case unitMonth:
		months = 1
	case unitQuarter:
		months = 3
	case unitYear:
		months = 12
	case unitDecade:
		months = 120
	case unitCentury:
		months = 1200
	case unitMillennium:
		months = 12000
	case unitDay:
		iv.Micros = 0
		return iv, nil
	case unitMicrosecond:
		return iv, nil
	}
	if months != 0 {
		return Interval{Months: iv.Months / months * months}, nil
	}
	by := subDay(u)
	switch {
	case u == unitWeek:
		return Interval{}, pgerr.From(errUnitSupport(name, typeInterval)).WithDetail("Months usually have fractional weeks.")
	case u >= unitTimezone:
		return Interval{}, errUnitSupport(name, typeInterval)
	case by == 0:
		return Interval{}, errUnit(name, typeInterval)
	}
	iv.Micros -= iv.Micros % by
	return iv, nil
}

// Age is how much later t is than u, in years, months, days and time as people count.
func (t Timestamp) Age(u Timestamp) (Interval, error) {
	if !t.IsFinite() || !u.IsFinite() {
		return Interval{}, errTimestampRange
	}
	a, b := t.split(), u.split()
	sign := int64(1)
	if t < u {
		// Count forward from the earlier one; the length of a month is that of the earlier one's.
		a, b, sign = b, a, -1
	}
	years, months, days := a.year-b.year, a.month-b.month, a.day-b.day
	us := a.timeOfDay() - b.timeOfDay()
	if us < 0 {
		us, days = us+usecPerDay, days-1
	}
	for days < 0 {
		days += daysIn(b.year, b.month)
		months--
	}
	for months < 0 {
		months, years = months+monthsPerYr, years-1
	}
	total := int64(years)*monthsPerYr + int64(months)
	return makeInterval(sign*total, sign*int64(days), sign*us, false)
}

// Bin is date_bin: the beginning of the stride that t lies in, counted from origin.
func (iv Interval) Bin(t, origin Timestamp) (Timestamp, error) {
	if !t.IsFinite() {
		return t, nil
	}
	if !origin.IsFinite() {
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "origin out of range")
	}
	if iv.Months != 0 {
		return 0, pgerr.New(pgerr.FeatureNotSupported,
			"timestamps cannot be binned into intervals containing months or years")
	}
	stride, over := iv.Micros24()
	switch {
	case over:
		return 0, errIntervalRange
	case stride <= 0:
		return 0, pgerr.New(pgerr.DatetimeFieldOverflow, "stride must be greater than zero")
	}
	diff, over := subInt(int64(t), int64(origin))
	if over {
		return 0, errIntervalRange
	}
	rest := diff % stride
	out := int64(t) - rest
	if rest < 0 {
		out, over = subInt(out, stride)
	}
	if over || !Timestamp(out).InRange() {
		return 0, errTimestampRange
	}
	return Timestamp(out), nil
}
