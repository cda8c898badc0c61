package adt

import "math"

// The units of time, in microseconds.
const (
	usecPerSec  = 1_000_000
	usecPerMin  = 60 * usecPerSec
	usecPerHour = 60 * usecPerMin
	usecPerDay  = 24 * usecPerHour
)

const (
	secPerMin    = 60
	secPerHour   = 3600
	secPerDay    = 86400
	daysPerMonth = 30 // where PostgreSQL turns months into days
	monthsPerYr  = 12
)

// Date is days since 2000-01-01 in the Gregorian calendar, as far back as it is asked.
type Date int32

// Time is microseconds since midnight; 24:00 is a time of its own.
type Time int64

// Timestamp is microseconds since 2000-01-01 00:00, of UTC for timestamptz.
type Timestamp int64

// Infinities and ranges, PostgreSQL's.
const (
	DateInf         Date      = math.MaxInt32
	DateNegInf      Date      = math.MinInt32
	TimestampInf    Timestamp = math.MaxInt64
	TimestampNegInf Timestamp = math.MinInt64

	minDate      Date      = -julianOfEpoch             // 4714-11-24 BC
	endDate      Date      = 2147483494 - julianOfEpoch // 5874898-06-03
	minTimestamp Timestamp = -211813488000000000        // 4714-11-24 BC
	endTimestamp Timestamp = 9223371331200000000        // 294277-01-01
)

// julianOfEpoch is the Julian day number of 2000-01-01.
const julianOfEpoch = 2451545

// UnixEpoch is 1970-01-01 00:00 UTC.
const UnixEpoch Timestamp = -10957 * usecPerDay

// moment is a date and a time of day, field by field. Year 0 is 1 BC.
type moment struct {
	year, month, day int
	hour, min, sec   int
	usec             int
}

// daysOf counts days since 2000-01-01 of a date whose month may be anything. Beyond some ten million years
// it is meaningless.
func daysOf(year, month, day int) int {
	// Count from March 1st of year 0, so that a leap day is the last of its year, by eras of 400 years.
	if month -= 3; month < 0 || month > 11 {
		years := floorDiv(month, 12)
		year, month = year+years, month-12*years
	}
	era := floorDiv(year, 400)
	yoe := year - 400*era
	doy := (153*month+2)/5 + day - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 730425
}

// setDate sets the date fields from days since 2000-01-01.
func (m *moment) setDate(days int) {
	days += 730425
	era := floorDiv(days, 146097)
	doe := days - 146097*era
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	m.day = doy - (153*mp+2)/5 + 1
	m.month = mp + 3
	m.year = yoe + 400*era
	if m.month > 12 {
		m.month, m.year = m.month-12, m.year+1
	}
}

// setTime sets the time fields from microseconds since midnight.
func (m *moment) setTime(t int64) {
	m.hour = int(t / usecPerHour)
	t -= int64(m.hour) * usecPerHour
	m.min = int(t / usecPerMin)
	t -= int64(m.min) * usecPerMin
	m.sec = int(t / usecPerSec)
	m.usec = int(t - int64(m.sec)*usecPerSec)
}

func (m *moment) timeOfDay() int64 {
	return int64(m.hour)*usecPerHour + int64(m.min)*usecPerMin + int64(m.sec)*usecPerSec + int64(m.usec)
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if isLeap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// weekday is 0 for Sunday.
func weekday(days int) int {
	// 2000-01-01 was a Saturday.
	return ((days+6)%7 + 7) % 7
}

// isoWeekStart is the Monday of the first ISO week of a year, the week that has January 4th in it.
func isoWeekStart(year int) int {
	fourth := daysOf(year, 1, 4)
	return fourth - (weekday(fourth)+6)%7
}

// isoWeek gives the ISO year and the week in it that a day lies in.
func isoWeek(year, days int) (isoYear, week int) {
	switch {
	case days < isoWeekStart(year):
		year--
	case days >= isoWeekStart(year+1):
		year++
	}
	return year, (days-isoWeekStart(year))/7 + 1
}

// split takes a finite timestamp apart.
func (t Timestamp) split() (m moment) {
	days, rest := t.days()
	m.setDate(days)
	m.setTime(rest)
	return m
}

// days gives whole days since the epoch and microseconds of the day.
func (t Timestamp) days() (int, int64) {
	days, rest := int64(t)/usecPerDay, int64(t)%usecPerDay
	if rest < 0 {
		days, rest = days-1, rest+usecPerDay
	}
	return int(days), rest
}

// timestamp puts a moment together; ok is false if it is out of range. The month may be anything, the other
// fields are as checked by whoever read them.
func (m *moment) timestamp() (t Timestamp, ok bool) {
	if m.year < -5000 || m.year > 300000 {
		return 0, false
	}
	t = Timestamp(int64(daysOf(m.year, m.month, m.day))*usecPerDay + m.timeOfDay())
	return t, t.InRange()
}

// InRange says whether t is a finite timestamp that PostgreSQL has.
func (t Timestamp) InRange() bool { return t >= minTimestamp && t < endTimestamp }

// IsFinite says whether t is not an infinity.
func (t Timestamp) IsFinite() bool { return t != TimestampInf && t != TimestampNegInf }

// InRange says whether d is a finite date that PostgreSQL has.
func (d Date) InRange() bool { return d >= minDate && d < endDate }

// IsFinite says whether d is not an infinity.
func (d Date) IsFinite() bool { return d != DateInf && d != DateNegInf }
