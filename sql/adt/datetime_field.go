package adt

import (
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// setZone reads +hh, +hhmm, +hh:mm or +hh:mm:ss.
func (p *dateParser) setZone(s string) error {
	var n [3]int
	k := 0
	rest := s[1:]
	for {
		digits := span(rest, 0, isDigit)
		x, err := strconv.ParseInt(rest[:digits], 10, 32)
		if err != nil && digits > 0 {
			return p.zoneRange()
		}
		n[k] = int(x)
		if k++; k == 3 || digits == len(rest) || rest[digits] != ':' {
			rest = rest[digits:]
			break
		}
		rest = rest[digits+1:]
	}
	if k == 1 && rest == "" && len(s) > 3 {
		n[0], n[1] = n[0]/100, n[0]%100
	}
	if n[0] > 15 || n[1] > 59 || n[2] > 59 {
		return p.zoneRange()
	}
	offset := n[0]*secPerHour + n[1]*secPerMin + n[2]
	if s[0] == '-' {
		offset = -offset
	}
	if rest != "" {
		return p.bad()
	}
	p.zone = Zone{offset: offset}
	return nil
}

func (p *dateParser) zoneRange() error {
	return pgerr.Newf(pgerr.InvalidTimeZoneDisplacement, "time zone displacement out of range: \"%s\"", p.src)
}

// numberField reads a field of digits, perhaps with a point.
func (p *dateParser) numberField(i int, s string, timeOnly bool) (mask, error) {
	if p.isoTime {
		p.isoTime, p.special = false, 0
		return p.concatenated(s, p.mask|maskDate)
	}
	if p.label != 0 {
		return p.labelled(s)
	}
	known := p.mask
	point := strings.IndexByte(s, '.')
	if timeOnly {
		known |= maskDate
		switch {
		case point >= 0 && i == 0 && p.n >= 2 && p.fields[p.n-1].kind == fieldDate:
			return p.date(s)
		case point > 2 || point < 0 && len(s) > 4:
			return p.concatenated(s, known)
		case point >= 0:
			return 0, p.bad()
		}
		return p.number(s, known)
	}
	switch {
	case point >= 0 && p.mask&maskDate == 0:
		return p.date(s)
	case point > 2,
		// Six digits or more are yymmdd or hhmmss unless both are known.
		len(s) >= 6 && (p.mask&maskDate == 0 || p.mask&maskTime == 0):
		return p.concatenated(s, known)
	}
	return p.number(s, known)
}

// labelled reads a number whose meaning the word before it has said, as in y2001m02d04 and j2451187.
func (p *dateParser) labelled(s string) (mask, error) {
	label := p.label
	p.label, p.special = 0, 0
	whole, _, frac := strings.Cut(s, ".")
	val, err := p.atoi(whole)
	if err != nil {
		return 0, err
	}
	if frac && label != unitJulian && label != unitSecond {
		return 0, p.bad()
	}
	switch label {
	case unitYear:
		p.at.year = val
		return maskYear, nil
	case unitMonth:
		// After a month and an hour it is minutes.
		if p.mask&maskMonth != 0 && p.mask&maskHour != 0 {
			p.at.min = val
			return maskMinute, nil
		}
		p.at.month = val
		return maskMonth, nil
	case unitDay:
		p.at.day = val
		return maskDay, nil
	case unitHour:
		p.at.hour = val
		return maskHour, nil
	case unitMinute:
		p.at.min = val
		return maskMinute, nil
	case unitSecond:
		p.at.sec = val
		if frac {
			if p.at.usec, err = p.fraction(s[len(whole):]); err != nil {
				return 0, err
			}
		}
		return maskSecond, nil
	case unitJulian:
		return p.julianDay(val, s[len(whole):])
	}
	return 0, p.bad()
}

// julianDay sets the date from a Julian day, and the time from its fraction if it has one.
func (p *dateParser) julianDay(day int, frac string) (mask, error) {
	p.julian = true
	p.at.setDate(day - julianOfEpoch)
	if frac == "" {
		return maskDate, nil
	}
	f, err := strconv.ParseFloat("0"+frac, 64)
	if err != nil {
		return 0, p.bad()
	}
	p.at.setTime(int64(f * usecPerDay))
	return maskDate | maskTime, nil
}

// textField reads a word: an abbreviated zone first, as PostgreSQL does.
func (p *dateParser) textField(i int, s string, timeOnly bool) (mask, error) {
	if z, ok := zoneByAbbrev(s); ok {
		p.zone = z
		switch {
		case z.loc != nil:
			return maskTZ | maskDynamic, nil
		case z.dst:
			return maskTZ | maskDST, nil
		}
		return maskTZ, nil
	}
	w, ok := dateWords[keyword(s)]
	if !ok {
		z, ok := zoneByName(s)
		if !ok {
			return 0, p.bad()
		}
		p.zone, p.named = z, true
		return maskTZ, nil
	}
	switch w.kind {
	case wordMonth, wordWeekday:
		if timeOnly {
			return 0, p.bad()
		}
	}
	switch w.kind {
	case wordIgnore:
		return 0, nil
	case wordWeekday:
		return maskDow, nil
	case wordMonth:
		return p.monthWord(w.val)
	case wordAMPM:
		p.ampm = 1 + w.val/12
		return maskAMPM, nil
	case wordEra:
		p.bc = w.val == 1
		return maskEra, nil
	case wordDST:
		p.zone = Zone{offset: p.zone.offset + secPerHour, dst: true}
		return maskDST | maskDSTWord, nil
	case wordISOTime:
		return 0, p.isoMark(i, timeOnly)
	case wordLabel:
		p.label = unit(w.val)
		return 0, nil
	}
	return p.specialWord(special(w.val), timeOnly)
}

// monthWord sets the month. A number read before it as the month was the day.
func (p *dateParser) monthWord(month int) (mask, error) {
	said := maskMonth
	if p.mask&maskMonth != 0 && !p.textMonth && p.mask&maskDay == 0 && p.at.month >= 1 && p.at.month <= 31 {
		p.at.day, said = p.at.month, maskDay
	}
	p.textMonth, p.at.month = true, month
	return said, nil
}

// isoMark checks that a "t" stands between a date and a time.
func (p *dateParser) isoMark(i int, timeOnly bool) error {
	if !timeOnly && p.mask&maskDate != maskDate || i == p.n-1 {
		return p.bad()
	}
	switch p.fields[i+1].kind {
	case fieldNumber, fieldTime, fieldDate:
		p.isoTime = true
		return nil
	}
	return p.bad()
}

// specialWord sets what a word such as "today" says.
func (p *dateParser) specialWord(s special, timeOnly bool) (mask, error) {
	if timeOnly && s != specialNow && s != specialAllBalls {
		return 0, p.bad()
	}
	switch s {
	case specialEpoch, specialInf, specialNegInf:
		p.special = s
		return maskSpecial, nil
	case specialAllBalls:
		p.at.setTime(0)
		p.zone, p.special = UTC, 0
		return maskTime | maskTZ, nil
	}
	p.present = true
	p.special = 0
	if s == specialNow {
		p.at, p.zone = p.clock.Now.split(), UTC
		return maskDate | maskTime | maskTZ, nil
	}
	days, _ := p.clock.Now.days()
	switch s {
	case specialTomorrow:
		days++
	case specialYesterday:
		days--
	}
	p.at.setDate(days)
	return maskDate, nil
}

// validateDate turns the year as written into ours and checks the date.
func (p *dateParser) validateDate() error {
	if p.mask&maskYear != 0 && !p.julian {
		switch {
		case p.bc:
			if p.at.year <= 0 {
				return p.outOfRange()
			}
			p.at.year = 1 - p.at.year
		case p.twoDigits && p.at.year < 70:
			p.at.year += 2000
		case p.twoDigits && p.at.year < 100:
			p.at.year += 1900
		case p.at.year <= 0:
			return p.outOfRange()
		}
	}
	if p.mask&maskDoy != 0 {
		p.at.setDate(daysOf(p.at.year, 1, 1) + p.doy - 1)
	}
	if p.mask&maskMonth != 0 && (p.at.month < 1 || p.at.month > 12) ||
		p.mask&maskDay != 0 && (p.at.day < 1 || p.at.day > 31) {
		return p.maybeOrder()
	}
	if p.mask&maskDate == maskDate && p.at.day > daysIn(p.at.year, p.at.month) {
		return p.outOfRange()
	}
	return nil
}

// hours12 turns a time of twelve hours into one of twenty-four.
func (p *dateParser) hours12(timeOnly bool) error {
	switch {
	case p.ampm != 0 && p.at.hour > 12:
		return p.outOfRange()
	case p.ampm == 1 && p.at.hour == 12:
		p.at.hour = 0
	case p.ampm == 2 && p.at.hour != 12:
		p.at.hour += 12
	}
	// In a timestamp, what digits that run together say too much flows over into the date.
	if timeOnly && (p.at.hour > 24 || p.at.min > 59 || p.at.sec > 60 || p.at.timeOfDay() > usecPerDay) {
		return p.outOfRange()
	}
	return nil
}

// isoDate reads the one form that nearly every date has, yyyy-mm-dd.
func isoDate(s string) (Date, bool) {
	if len(s) != 10 {
		return 0, false
	}
	days, ok := isoDays(s)
	return Date(days), ok
}

// isoDays reads the ten bytes that s begins with.
func isoDays(s string) (int, bool) {
	_ = s[9]
	if s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y1, y2, m, d := two(s[0], s[1]), two(s[2], s[3]), two(s[5], s[6]), two(s[8], s[9])
	year := int(y1)*100 + int(y2)
	if y1|y2|m|d >= 128 || year == 0 || m == 0 || m > 12 || d == 0 || d > 28 && int(d) > daysIn(year, int(m)) {
		return 0, false
	}
	return daysOf(year, int(m), int(d)), true
}

// two is the number of two digits, or something of 128 or more.
func two(a, b byte) uint {
	a, b = a-'0', b-'0'
	if a > 9 || b > 9 {
		return 128
	}
	return uint(a)*10 + uint(b)
}

// isoTimestamp reads the form that nearly every timestamp has, yyyy-mm-dd hh:mm:ss[.ffffff][Z|±hh[:mm]],
// with a space or a T in the middle, in UTC.
func isoTimestamp(s string) (t Timestamp, zoned, ok bool) {
	if len(s) < 19 || s[10]|0x20 != 't' && s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return 0, false, false
	}
	days, ok := isoDays(s)
	hour, minute, sec := two(s[11], s[12]), two(s[14], s[15]), two(s[17], s[18])
	if !ok || hour > 23 || minute > 59 || sec > 59 {
		return 0, false, false
	}
	us := int64(days)*usecPerDay + int64(hour)*usecPerHour + int64(minute)*usecPerMin + int64(sec)*usecPerSec
	s = s[19:]
	if len(s) > 1 && s[0] == '.' {
		by := int64(usecPerSec / 10)
		i := 1
		for ; i < len(s) && i <= 6 && isDigit(s[i]); i++ {
			us += int64(s[i]-'0') * by
			by /= 10
		}
		s = s[i:]
	}
	switch {
	case s == "":
		return Timestamp(us), false, true
	case s == "Z" || s == "z":
		return Timestamp(us), true, true
	case (len(s) == 3 || len(s) == 6 && s[3] == ':') && (s[0] == '+' || s[0] == '-'):
		h, m := two(s[1], s[2]), uint(0)
		if len(s) == 6 {
			m = two(s[4], s[5])
		}
		if h > 15 || m > 59 {
			return 0, false, false
		}
		off := int64(h)*usecPerHour + int64(m)*usecPerMin
		if s[0] == '+' {
			off = -off
		}
		return Timestamp(us + off), true, true
	}
	return 0, false, false
}
