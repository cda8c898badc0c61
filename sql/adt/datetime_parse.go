package adt

import (
	"math"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Clock says what the present is, for words such as "now" and "today". The zero Clock knows no present and
// refuses them.
type Clock struct {
	Now   Timestamp
	Known bool
}

// mask is a set of the things a date and time can say.
type mask uint16

const (
	maskYear mask = 1 << iota
	maskMonth
	maskDay
	maskDoy
	maskHour
	maskMinute
	maskSecond
	maskTZ
	maskDST     // a zone that is daylight saving time, or the word "dst"
	maskDSTWord // the word alone
	maskDynamic // an abbreviation that stands for a place
	maskDow
	maskAMPM
	maskEra
	maskSpecial

	maskDate = maskYear | maskMonth | maskDay
	maskTime = maskHour | maskMinute | maskSecond
)

// dateParser reads one date, time or timestamp: first cut into fields, then field by field, each saying
// what it can given what has been said (the mask).
type dateParser struct {
	fieldList
	src   string
	typ   string // SQL's name of the type, for errors
	clock Clock

	mask      mask
	at        moment
	doy       int
	twoDigits bool // the year came in two digits
	textMonth bool
	bc        bool
	julian    bool
	ampm      int // 0, or 1 for AM, 2 for PM
	label     unit
	isoTime   bool // the field before was "t"
	zone      Zone
	named     bool // the zone came by its name
	special   special
	present   bool // a word such as "now" was read
}

func (p *dateParser) bad() error {
	return pgerr.Newf(pgerr.InvalidDatetimeFormat, "invalid input syntax for type %s: \"%s\"", p.typ, p.src)
}

func (p *dateParser) outOfRange() error {
	return pgerr.Newf(pgerr.DatetimeFieldOverflow, "date/time field value out of range: \"%s\"", p.src)
}

// maybeOrder is outOfRange where month and day may have been written the other way round.
func (p *dateParser) maybeOrder() error {
	return p.outOfRange().(*pgerr.Error).WithHint("Perhaps you need a different \"datestyle\" setting.")
}

// ParseDate reads a date.
func ParseDate(s string, clock Clock) (Date, error) {
	if d, ok := isoDate(s); ok {
		return d, nil
	}
	p := dateParser{src: s, typ: "date", clock: clock}
	if err := p.parse(false); err != nil {
		return 0, err
	}
	switch p.special {
	case specialInf:
		return DateInf, nil
	case specialNegInf:
		return DateNegInf, nil
	case specialEpoch:
		return UnixEpoch.Date(), nil
	}
	if p.at.year > 6_000_000 || p.at.year < -6_000_000 {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	d := daysOf(p.at.year, p.at.month, p.at.day)
	if d < int(minDate) || d >= int(endDate) {
		return 0, pgerr.Newf(pgerr.DatetimeFieldOverflow, "date out of range: \"%s\"", s)
	}
	return Date(d), nil
}

// ParseTimestamp reads a timestamp without time zone and rounds it to a type modifier (-1: none). A zone in
// the text is checked and has no effect.
func ParseTimestamp(s string, mod int32, clock Clock) (Timestamp, error) {
	if t, zoned, ok := isoTimestamp(s); ok && !zoned {
		return t.FitMod(mod)
	}
	p := dateParser{src: s, typ: "timestamp", clock: clock}
	return p.timestamp(mod, false)
}

// ParseTimestampTZ reads a timestamp with time zone; without one in the text it is UTC.
func ParseTimestampTZ(s string, mod int32, clock Clock) (Timestamp, error) {
	if t, _, ok := isoTimestamp(s); ok {
		return t.FitMod(mod)
	}
	p := dateParser{src: s, typ: "timestamp with time zone", clock: clock}
	return p.timestamp(mod, true)
}

func (p *dateParser) timestamp(mod int32, zoned bool) (Timestamp, error) {
	if err := p.parse(false); err != nil {
		return 0, err
	}
	switch p.special {
	case specialInf:
		return TimestampInf, nil
	case specialNegInf:
		return TimestampNegInf, nil
	case specialEpoch:
		return UnixEpoch, nil
	}
	tooFar := pgerr.Newf(pgerr.DatetimeFieldOverflow, "timestamp out of range: \"%s\"", p.src)
	if p.at.year < -5000 || p.at.year > 300000 {
		return 0, tooFar
	}
	t := Timestamp(int64(daysOf(p.at.year, p.at.month, p.at.day))*usecPerDay + p.at.timeOfDay())
	if zoned {
		t -= Timestamp(p.zone.localOffset(t)) * usecPerSec
	}
	if !t.InRange() {
		return 0, tooFar
	}
	return t.FitMod(mod)
}

// ParseTime reads a time without time zone and rounds it to a type modifier.
func ParseTime(s string, mod int32, clock Clock) (Time, error) {
	p := dateParser{src: s, typ: "time", clock: clock}
	if err := p.parse(true); err != nil {
		return 0, err
	}
	return Time(p.at.timeOfDay()).FitMod(mod), nil
}

// parse reads all fields and checks what they say together. timeOnly is for type time, which needs no date
// and takes fields to be parts of a time that would else be parts of a date.
func (p *dateParser) parse(timeOnly bool) error {
	if !p.scan(p.src) || p.n == 0 {
		return p.bad()
	}
	for i := range p.n {
		said, err := p.field(i, timeOnly)
		if err != nil {
			return err
		}
		if said&p.mask != 0 {
			return p.bad()
		}
		p.mask |= said
	}
	if err := p.validateDate(); err != nil {
		return err
	}
	if err := p.hours12(timeOnly); err != nil {
		return err
	}
	switch {
	case timeOnly:
		if p.mask&maskTime != maskTime || p.special != 0 {
			return p.bad()
		}
	case p.special == 0 && p.mask&maskDate != maskDate:
		return p.bad()
	}
	if p.special == 0 && !p.zoneIsWhole(timeOnly) {
		return p.bad()
	}
	if p.present && !p.clock.Known {
		return pgerr.Unsupported("a date or time that depends on the present, as \"%s\" does,", p.src)
	}
	return nil
}

// zoneIsWhole says whether the zone says an offset: not if it is only "dst", or if it is a place and there is
// no date.
func (p *dateParser) zoneIsWhole(timeOnly bool) bool {
	if p.mask&maskDSTWord != 0 && (p.named || p.mask&maskDynamic != 0 || p.mask&maskTZ == 0) {
		return false
	}
	return !(timeOnly && p.named && p.zone.loc != nil && p.mask&maskDate != maskDate)
}

// field reads field i and gives what it says.
func (p *dateParser) field(i int, timeOnly bool) (mask, error) {
	f := p.fields[i]
	switch f.kind {
	case fieldDate:
		return p.dateField(i, f.text, timeOnly)
	case fieldTime:
		return p.timeField(f.text, timeOnly)
	case fieldTZ:
		return maskTZ, p.setZone(f.text)
	case fieldNumber:
		return p.numberField(i, f.text, timeOnly)
	}
	return p.textField(i, f.text, timeOnly)
}

// dateField reads a date, or a zone's name with punctuation, or a time run together with its zone.
func (p *dateParser) dateField(i int, s string, timeOnly bool) (mask, error) {
	if p.label == unitJulian {
		// A Julian day with its zone: j2451187-08.
		day, zone, ok := strings.Cut(s, "-")
		if !ok {
			return 0, p.bad()
		}
		if err := p.setZone("-" + zone); err != nil {
			return 0, err
		}
		special := p.special
		said, err := p.labelled(day)
		p.special = special
		return said | maskTime | maskTZ, err
	}
	if p.label != 0 {
		return 0, p.bad()
	}
	haveDate := p.mask&(maskMonth|maskDay) == maskMonth|maskDay
	known := p.mask
	if timeOnly {
		known |= maskDate
		// A date may come before a time, to say which offset a named zone has.
		last := p.fields[p.n-1].kind
		haveDate = !(i == 0 && p.n >= 2 && (last == fieldDate || p.fields[1].kind == fieldTime))
	}
	if !haveDate && !p.isoTime {
		return p.date(s)
	}
	if !isDigit(s[0]) && !p.isoTime {
		z, ok := zoneByName(s)
		if !ok {
			return 0, errZone(s)
		}
		p.zone, p.named = z, true
		return maskTZ, nil
	}
	if p.mask&maskTime == maskTime {
		return 0, p.bad()
	}
	p.isoTime = false
	digits, _, ok := strings.Cut(s, "-")
	if !ok {
		return 0, p.bad()
	}
	if err := p.setZone(s[len(digits):]); err != nil {
		return 0, err
	}
	said, err := p.concatenated(digits, known)
	return said | maskTZ, err
}

// date reads year, month and day with delimiters.
func (p *dateParser) date(s string) (mask, error) {
	var parts [3]string
	n := 0
	for s != "" && n < len(parts) {
		s = s[span(s, 0, func(c byte) bool { return !isDigit(c) && !isAlpha(c) }):]
		if s == "" {
			return 0, p.bad()
		}
		end := span(s, 0, isDigit)
		if end == 0 {
			end = span(s, 0, isAlpha)
		}
		parts[n] = s[:end]
		n++
		// One byte is taken for a delimiter, whatever it is.
		if s = s[end:]; s != "" {
			s = s[1:]
		}
	}
	if s != "" {
		return 0, p.bad()
	}
	var said mask
	add := func(m mask, err error) error {
		if err == nil && said&m != 0 {
			err = p.bad()
		}
		said |= m
		return err
	}
	saved, textMonth := p.mask, p.textMonth
	p.textMonth = false
	defer func() { p.mask, p.textMonth = saved, textMonth }()
	// A word can only be the month; then the numbers are clearer.
	for k := range n {
		if w := dateWords[keyword(parts[k])]; parts[k] != "" && isAlpha(parts[k][0]) {
			if w.kind == wordIgnore {
				continue
			}
			if w.kind != wordMonth || p.mask&maskMonth != 0 {
				return 0, p.bad()
			}
			p.at.month, p.textMonth, parts[k] = w.val, true, ""
			p.mask, said = p.mask|maskMonth, said|maskMonth
		}
	}
	for k := range n {
		if parts[k] == "" {
			continue
		}
		m, err := p.number(parts[k], p.mask)
		if err = add(m, err); err != nil {
			return 0, err
		}
		p.mask |= m
	}
	if p.mask&^(maskDoy|maskTZ) != maskDate {
		return 0, p.bad()
	}
	return said, nil
}

// number reads a number that is one of year, month and day, by what is known already and how many digits
// it has; or a whole time, once the date is known.
func (p *dateParser) number(s string, known mask) (mask, error) {
	digits := span(s, 0, isDigit)
	val, err := p.atoi(s[:digits])
	if err != nil {
		return 0, err
	}
	if digits < len(s) {
		if s[digits] != '.' {
			return 0, p.bad()
		}
		if digits > 2 {
			return p.concatenated(s, known|maskDate)
		}
		if p.at.usec, err = p.fraction(s[digits:]); err != nil {
			return 0, err
		}
	}
	if len(s) == 3 && known&maskDate == maskYear && val >= 1 && val <= 366 {
		p.doy = val
		return maskDoy | maskMonth | maskDay, nil
	}
	m := mask(0)
	switch known & maskDate {
	case 0:
		m = maskMonth
		if len(s) >= 3 {
			m = maskYear
		}
	case maskYear, maskDay:
		m = maskMonth
	case maskMonth:
		m = maskDay
		if p.textMonth && len(s) >= 3 {
			m = maskYear
		}
	case maskYear | maskMonth:
		m = maskDay
		if p.textMonth && len(s) >= 3 && p.twoDigits {
			// What was taken for a year was the day.
			p.at.day, p.at.year, p.twoDigits = p.at.year, val, false
			return maskDay, nil
		}
	case maskMonth | maskDay:
		m = maskYear
	case maskDate:
		return p.concatenated(s, known)
	default:
		return 0, p.bad()
	}
	switch m {
	case maskYear:
		p.at.year, p.twoDigits = val, len(s) <= 2
	case maskMonth:
		p.at.month = val
	case maskDay:
		p.at.day = val
	}
	return m, nil
}

// concatenated reads yyyymmdd, yymmdd, hhmmss, hhmm or hhmmss.fff.
func (p *dateParser) concatenated(s string, known mask) (mask, error) {
	whole, _, frac := strings.Cut(s, ".")
	if span(whole, 0, isDigit) != len(whole) {
		return 0, p.bad()
	}
	n := len(whole)
	num := func(from, to int) int { x, _ := strconv.Atoi(whole[from:to]); return x }
	if frac {
		f, err := strconv.ParseFloat("0"+s[n:], 64)
		if err != nil {
			return 0, p.bad()
		}
		p.at.usec = int(math.RoundToEven(f * usecPerSec))
	} else if known&maskDate != maskDate && n >= 6 {
		if n > 10 {
			return 0, p.outOfRange()
		}
		p.at.year, p.at.month, p.at.day = num(0, n-4), num(n-4, n-2), num(n-2, n)
		p.twoDigits = n == 6
		return maskDate, nil
	}
	if known&maskTime == maskTime {
		return 0, p.bad()
	}
	switch n {
	case 6:
		p.at.hour, p.at.min, p.at.sec = num(0, 2), num(2, 4), num(4, 6)
		return maskTime, nil
	case 4:
		p.at.hour, p.at.min, p.at.sec = num(0, 2), num(2, 4), 0
		return maskTime, nil
	}
	return 0, p.bad()
}

// timeField reads hh:mm[:ss[.fff]] or mm:ss.fff.
func (p *dateParser) timeField(s string, timeOnly bool) (mask, error) {
	hours, t, ok, inRange := clockTime(s, 0)
	switch {
	case !ok || p.label != 0:
		return 0, p.bad()
	case !inRange || hours > math.MaxInt32 || !timeOnly && (hours > 24 || hours*usecPerHour+t.timeOfDay() > usecPerDay):
		return 0, p.outOfRange()
	}
	p.isoTime = false
	p.at.hour, p.at.min, p.at.sec, p.at.usec = int(hours), t.min, t.sec, t.usec
	return maskTime, nil
}

// clockTime reads a time with colons: the hours, of which an interval may have more than a day has, and the
// rest. fields are those of an interval's type modifier: two parts are minutes and seconds if it says so, or if
// the second one has a fraction. inRange says whether all are small enough.
func clockTime(s string, fields int32) (hours int64, t moment, ok, inRange bool) {
	var n [3]int64
	parts, inRange := 0, true
	for {
		end := span(s, 0, isDigit)
		// PostgreSQL reads an empty part as zero, but not the first one.
		if end == 0 && parts == 0 || parts == len(n) {
			return 0, t, false, false
		}
		x, err := strconv.ParseInt(s[:end], 10, 64)
		inRange = inRange && (err == nil || end == 0)
		n[parts] = x
		parts, s = parts+1, s[end:]
		if s == "" || s[0] != ':' {
			break
		}
		s = s[1:]
	}
	if parts < 2 || s != "" && s[0] != '.' {
		return 0, t, false, false
	}
	if parts == 2 && (s != "" || fields == fieldMinute|fieldSecond) {
		n = [3]int64{0, n[0], n[1]}
	}
	if s != "" {
		if t.usec, ok = fractionUsec(s); !ok {
			return 0, t, false, false
		}
	}
	if n[1] > 59 || n[2] > 60 {
		return n[0], t, true, false
	}
	t.min, t.sec = int(n[1]), int(n[2])
	return n[0], t, true, inRange
}

// fractionUsec reads a point and digits as microseconds, rounded.
func fractionUsec(s string) (int, bool) {
	if span(s, 1, isDigit) != len(s) {
		return 0, false
	}
	if len(s) == 1 {
		return 0, true
	}
	f, err := strconv.ParseFloat(s, 64)
	return int(math.RoundToEven(f * usecPerSec)), err == nil
}

func (p *dateParser) fraction(s string) (int, error) {
	us, ok := fractionUsec(s)
	if !ok {
		return 0, p.bad()
	}
	return us, nil
}

// atoi reads digits; too many of them are out of range.
func (p *dateParser) atoi(s string) (int, error) {
	if s == "" {
		return 0, p.bad()
	}
	x, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, p.outOfRange()
	}
	return int(x), nil
}
