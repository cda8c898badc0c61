package adt

import "strings"

// fieldKind is what a field of a date, time or interval looks like.
type fieldKind uint8

const (
	fieldNumber  fieldKind = iota + 1 // 20011225, 01, 04.5
	fieldText                         // jan, pm, est
	fieldDate                         // 2001-12-25, dec-25-2001, america/new_york
	fieldTime                         // 04:05:06.7
	fieldTZ                           // -08, +05:30, a signed number
	fieldSpecial                      // a sign and a word: -infinity
)

// maxFields and maxDateLen bound an input, as PostgreSQL does.
const (
	maxFields  = 25
	maxDateLen = 128 + maxFields
)

// field is a piece of the input, in lower case.
type field struct {
	kind fieldKind
	text string
}

// fieldList is an input cut into fields.
type fieldList struct {
	buf    [maxDateLen]byte
	fields [maxFields]field
	n      int
}

// scan cuts s; false if that cannot be done.
func (l *fieldList) scan(s string) bool {
	if len(s) > maxDateLen {
		return false
	}
	for i := range len(s) {
		l.buf[i] = lower(s[i])
	}
	s = borrow(l.buf[:len(s)])
	for i := 0; i < len(s); {
		if isSpace(s[i]) {
			i++
			continue
		}
		if l.n == maxFields {
			return false
		}
		kind, size := scanField(s[i:])
		if size == 0 {
			return false
		}
		if kind != 0 {
			text := s[i : i+size]
			if kind == fieldTZ || kind == fieldSpecial {
				text = l.closeSign(s, i, size)
			}
			l.fields[l.n] = field{kind, text}
			l.n++
		}
		i += size
	}
	return true
}

// closeSign takes the spaces out between a sign and what follows it.
func (l *fieldList) closeSign(s string, at, size int) string {
	next := at + 1
	for isSpace(s[next]) {
		next++
	}
	l.buf[next-1] = s[at]
	return s[next-1 : at+size]
}

// scanField says what s begins with and how long that is; kind 0 is punctuation to be skipped, size 0 is
// nothing that can be read.
func scanField(s string) (fieldKind, int) {
	switch c := s[0]; {
	case isDigit(c):
		return scanDigitField(s)
	case c == '.':
		return fieldNumber, span(s, 1, isDigit)
	case isAlpha(c):
		return scanTextField(s)
	case c == '+' || c == '-':
		i := span(s, 1, isSpace)
		switch {
		case i < len(s) && isDigit(s[i]):
			return fieldTZ, span(s, i+1, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || c == '-' })
		case i < len(s) && isAlpha(s[i]):
			return fieldSpecial, span(s, i+1, isAlpha)
		}
		return 0, 0
	case isPunct(c):
		return 0, 1
	}
	return 0, 0
}

// span gives the end of the run of bytes from i on for which in holds.
func span(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isAlpha(c) }

func isDateDelim(c byte) bool { return c == '-' || c == '/' || c == '.' }

func scanDigitField(s string) (fieldKind, int) {
	i := span(s, 1, isDigit)
	switch {
	case i == len(s):
		return fieldNumber, i
	case s[i] == ':':
		return fieldTime, span(s, i+1, func(c byte) bool { return isDigit(c) || c == ':' || c == '.' })
	case !isDateDelim(s[i]):
		return fieldNumber, i
	}
	delim := s[i]
	i++
	if i < len(s) && isDigit(s[i]) {
		kind := fieldDate
		if delim == '.' {
			kind = fieldNumber
		}
		i = span(s, i, isDigit)
		// Three parts only if the delimiters agree.
		if i < len(s) && s[i] == delim {
			kind = fieldDate
			i = span(s, i, func(c byte) bool { return isDigit(c) || c == delim })
		}
		return kind, i
	}
	return fieldDate, span(s, i, func(c byte) bool { return isDigit(c) || isAlpha(c) || c == delim })
}

func scanTextField(s string) (fieldKind, int) {
	i := span(s, 1, isAlpha)
	if i == len(s) {
		return fieldText, i
	}
	// A date that begins with a month, or the name of a zone, has punctuation in it; a word that is known by
	// itself and followed by digits does not.
	isDate := isDateDelim(s[i])
	if s[i] == '+' || isDigit(s[i]) {
		_, known := dateWords[keyword(s[:i])]
		isDate = !known
	}
	if !isDate {
		return fieldText, i
	}
	return fieldDate, span(s, i, func(c byte) bool {
		return isDigit(c) || isAlpha(c) || strings.IndexByte("+-/_.:", c) >= 0
	})
}

// keyword cuts a word to the length that PostgreSQL tells words apart by.
func keyword(s string) string { return s[:min(len(s), 10)] }

// wordKind is what a word in a date, time or interval means.
type wordKind uint8

const (
	wordIgnore wordKind = iota + 1
	wordMonth
	wordWeekday
	wordAMPM
	wordEra
	wordDST
	wordISOTime // "t" before a time
	wordLabel   // says what the next number is
	wordSpecial
	wordUnit // of an interval
	wordAgo
)

// unit is a unit of time, or something that can be extracted from one.
type unit uint8

const (
	unitMicrosecond unit = iota + 1
	unitMillisecond
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
	unitDecade
	unitCentury
	unitMillennium
	unitEpoch
	unitJulian
	unitDow
	unitDoy
	unitISODow
	unitISOYear
	unitTimezone
	unitTimezoneHour
	unitTimezoneMinute
)

// special is a date that is a word.
type special uint8

const (
	specialNow special = iota + 1
	specialToday
	specialTomorrow
	specialYesterday
	specialAllBalls
	specialEpoch
	specialInf
	specialNegInf
)

type word struct {
	kind wordKind
	val  int
}

// dateWords are the words that dates and times are written with, cut to ten letters.
var dateWords = map[string]word{
	"jan": {wordMonth, 1}, "january": {wordMonth, 1}, "feb": {wordMonth, 2}, "february": {wordMonth, 2},
	"mar": {wordMonth, 3}, "march": {wordMonth, 3}, "apr": {wordMonth, 4}, "april": {wordMonth, 4},
	"may": {wordMonth, 5}, "jun": {wordMonth, 6}, "june": {wordMonth, 6}, "jul": {wordMonth, 7},
	"july": {wordMonth, 7}, "aug": {wordMonth, 8}, "august": {wordMonth, 8}, "sep": {wordMonth, 9},
	"sept": {wordMonth, 9}, "september": {wordMonth, 9}, "oct": {wordMonth, 10}, "october": {wordMonth, 10},
	"nov": {wordMonth, 11}, "november": {wordMonth, 11}, "dec": {wordMonth, 12}, "december": {wordMonth, 12},

	"sun": {wordWeekday, 0}, "sunday": {wordWeekday, 0}, "mon": {wordWeekday, 1}, "monday": {wordWeekday, 1},
	"tue": {wordWeekday, 2}, "tues": {wordWeekday, 2}, "tuesday": {wordWeekday, 2}, "wed": {wordWeekday, 3},
	"wednesday": {wordWeekday, 3}, "weds": {wordWeekday, 3}, "thu": {wordWeekday, 4}, "thur": {wordWeekday, 4},
	"thurs": {wordWeekday, 4}, "thursday": {wordWeekday, 4}, "fri": {wordWeekday, 5}, "friday": {wordWeekday, 5},
	"sat": {wordWeekday, 6}, "saturday": {wordWeekday, 6},

	"am": {wordAMPM, 0}, "pm": {wordAMPM, 12}, "ad": {wordEra, 0}, "bc": {wordEra, 1}, "dst": {wordDST, 0},
	"at": {wordIgnore, 0}, "on": {wordIgnore, 0}, "t": {wordISOTime, 0},

	"y": {wordLabel, int(unitYear)}, "m": {wordLabel, int(unitMonth)}, "d": {wordLabel, int(unitDay)},
	"h": {wordLabel, int(unitHour)}, "mm": {wordLabel, int(unitMinute)}, "s": {wordLabel, int(unitSecond)},
	"j": {wordLabel, int(unitJulian)}, "jd": {wordLabel, int(unitJulian)}, "julian": {wordLabel, int(unitJulian)},
	"dow": {wordLabel, int(unitDow)}, "doy": {wordLabel, int(unitDoy)}, "isodow": {wordLabel, int(unitISODow)},
	"isoyear": {wordLabel, int(unitISOYear)},

	"now": {wordSpecial, int(specialNow)}, "today": {wordSpecial, int(specialToday)},
	"tomorrow": {wordSpecial, int(specialTomorrow)}, "yesterday": {wordSpecial, int(specialYesterday)},
	"allballs": {wordSpecial, int(specialAllBalls)}, "epoch": {wordSpecial, int(specialEpoch)},
	"infinity": {wordSpecial, int(specialInf)}, "-infinity": {wordSpecial, int(specialNegInf)},
}

// unitWords are the words that intervals and the parts of dates are written with, cut to ten letters.
var unitWords = map[string]word{
	"@": {wordIgnore, 0}, "ago": {wordAgo, 0},
	"us": {wordUnit, int(unitMicrosecond)}, "usec": {wordUnit, int(unitMicrosecond)},
	"usecs": {wordUnit, int(unitMicrosecond)}, "usecond": {wordUnit, int(unitMicrosecond)},
	"useconds": {wordUnit, int(unitMicrosecond)}, "microsecon": {wordUnit, int(unitMicrosecond)},
	"ms": {wordUnit, int(unitMillisecond)}, "msec": {wordUnit, int(unitMillisecond)},
	"msecs": {wordUnit, int(unitMillisecond)}, "msecond": {wordUnit, int(unitMillisecond)},
	"mseconds": {wordUnit, int(unitMillisecond)}, "millisecon": {wordUnit, int(unitMillisecond)},
	"s": {wordUnit, int(unitSecond)}, "sec": {wordUnit, int(unitSecond)}, "secs": {wordUnit, int(unitSecond)},
	"second": {wordUnit, int(unitSecond)}, "seconds": {wordUnit, int(unitSecond)},
	"m": {wordUnit, int(unitMinute)}, "min": {wordUnit, int(unitMinute)}, "mins": {wordUnit, int(unitMinute)},
	"minute": {wordUnit, int(unitMinute)}, "minutes": {wordUnit, int(unitMinute)},
	"h": {wordUnit, int(unitHour)}, "hr": {wordUnit, int(unitHour)}, "hrs": {wordUnit, int(unitHour)},
	"hour": {wordUnit, int(unitHour)}, "hours": {wordUnit, int(unitHour)},
	"d": {wordUnit, int(unitDay)}, "day": {wordUnit, int(unitDay)}, "days": {wordUnit, int(unitDay)},
	"w": {wordUnit, int(unitWeek)}, "week": {wordUnit, int(unitWeek)}, "weeks": {wordUnit, int(unitWeek)},
	"mon": {wordUnit, int(unitMonth)}, "mons": {wordUnit, int(unitMonth)}, "month": {wordUnit, int(unitMonth)},
	"months": {wordUnit, int(unitMonth)}, "qtr": {wordUnit, int(unitQuarter)}, "quarter": {wordUnit, int(unitQuarter)},
	"y": {wordUnit, int(unitYear)}, "yr": {wordUnit, int(unitYear)}, "yrs": {wordUnit, int(unitYear)},
	"year": {wordUnit, int(unitYear)}, "years": {wordUnit, int(unitYear)},
	"dec": {wordUnit, int(unitDecade)}, "decs": {wordUnit, int(unitDecade)}, "decade": {wordUnit, int(unitDecade)},
	"decades": {wordUnit, int(unitDecade)}, "c": {wordUnit, int(unitCentury)}, "cent": {wordUnit, int(unitCentury)},
	"century": {wordUnit, int(unitCentury)}, "centuries": {wordUnit, int(unitCentury)},
	"mil": {wordUnit, int(unitMillennium)}, "mils": {wordUnit, int(unitMillennium)},
	"millennia": {wordUnit, int(unitMillennium)}, "millennium": {wordUnit, int(unitMillennium)},
	"timezone": {wordUnit, int(unitTimezone)}, "timezone_h": {wordUnit, int(unitTimezoneHour)},
	"timezone_m": {wordUnit, int(unitTimezoneMinute)},
}
