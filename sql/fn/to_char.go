package fn

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Times written by a template of PostgreSQL's.
var toCharFuncs = []scalar.Func{
	toChar(2049, tTimestamp, func(d vec.Datum) (written, bool) { return clockOf(d, false) }),
	toChar(1770, tTimestampTZ, func(d vec.Datum) (written, bool) { return clockOf(d, true) }),
	toChar(1768, tInterval, spanOf),
}

// written is a time taken apart for a template.
type written struct {
	year, month, day     int // months and days from 1, or what an interval has of them
	hour, min, sec, usec int
	moment               time.Time // of what is no interval
	interval             bool
	zoned                bool // a timestamp with time zone
}

// toChar is an entry of to_char. Templates are nearly always constants, and read once then.
func toChar(oid uint32, t types.T, parts func(d vec.Datum) (written, bool)) scalar.Func {
	write := func(d vec.Datum, template []templatePart) (vec.Datum, error) {
		w, ok := parts(d)
		if !ok || len(template) == 0 {
			return vec.Null, nil
		}
		var out []byte
		for _, p := range template {
			var err error
			if out, err = p.append(out, &w); err != nil {
				return vec.Null, err
			}
		}
		return vec.BytesOf(out), nil
	}
	f := row("to_char", oid, strict|fails|nulls, sig(t, tText), tText, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		return write(a[0], readTemplate(a[1].Str()))
	}, "the time as a template shows it")
	plain := f
	f.Prepare = func(args []vec.Datum, known uint64) *scalar.Func {
		if known&2 == 0 {
			return nil
		}
		template := readTemplate(strings.Clone(args[1].Str()))
		g := plain
		g.Row = func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) { return write(a[0], template) }
		return &g
	}
	return f
}

func clockOf(d vec.Datum, zoned bool) (written, bool) {
	t := adt.Timestamp(d.Int())
	if !t.IsFinite() {
		return written{}, false
	}
	// Seconds first: microseconds since 1970 overflow for the last timestamps.
	sec, us := int64(t)/1e6, int64(t)%1e6
	if us < 0 {
		sec, us = sec-1, us+1e6
	}
	m := time.Unix(sec-int64(adt.UnixEpoch)/1e6, us*1e3).UTC()
	return written{
		year: m.Year(), month: int(m.Month()), day: m.Day(), hour: m.Hour(), min: m.Minute(), sec: m.Second(),
		usec: m.Nanosecond() / 1e3, moment: m, zoned: zoned,
	}, true
}

func spanOf(d vec.Datum) (written, bool) {
	iv := adt.IntervalOf(d.Bytes())
	us := iv.Micros
	return written{
		year: int(iv.Months / 12), month: int(iv.Months % 12), day: int(iv.Days), hour: int(us / 3600e6), min: int(us / 60e6 % 60),
		sec: int(us / 1e6 % 60), usec: int(us % 1e6), interval: true,
	}, true
}

// templatePart is a field of a template, or a text.
type templatePart struct {
	text  string
	field field // nil for a text
	name  string
	fill  bool   // not preceded by FM: numbers have zeros before them, names blanks behind
	local bool   // preceded by TM: names are translated, if there were another language, and have no blanks
	th    string // "th" or "TH" after the number
}

// field writes one field.
type field func(p *templatePart, w *written) (string, error)

// templateFields are the fields, longer names before those that begin like them. Names are matched as they are
// written here or all in small letters; the latter matters to names of months and the like.
var templateFields = []struct {
	name  string
	field field
}{
	{"A.D.", era}, {"A.M.", noon}, {"AD", era}, {"AM", noon}, {"B.C.", era}, {"BC", era}, {"CC", century}, {"DAY", dayName},
	{"DDD", dayOfYear}, {"DD", dayOfMonth}, {"DY", dayShort}, {"Day", dayName}, {"Dy", dayShort},
	{"D", weekDay(1)},
	{"FF1", fraction(1)}, {"FF2", fraction(2)}, {"FF3", fraction(3)}, {"FF4", fraction(4)}, {"FF5", fraction(5)}, {"FF6", fraction(6)},
	{"FX", nothing}, {"HH24", numberOf(2, func(w *written) int { return w.hour })}, {"HH12", hour12}, {"HH", hour12},
	{"IDDD", isoDayOfYear}, {"ID", isoWeekDay}, {"IW", isoWeek}, {"IYYY", isoYear(4)}, {"IYY", isoYear(3)}, {"IY", isoYear(2)},
	{"I", isoYear(1)},
	{"J", julian}, {"MI", numberOf(2, func(w *written) int { return w.min })}, {"MM", numberOf(2,
		func(w *written) int { return w.month })},
	{"MONTH", monthName}, {"MON", monthShort}, {"MS", fraction(3)}, {"Month", monthName}, {"Mon", monthShort}, {"OF", zoneOffset},
	{"P.M.", noon}, {"PM", noon}, {"Q", quarter}, {"RM", romanMonth},
	{"SSSSS", secondOfDay}, {"SSSS", secondOfDay}, {"SS", numberOf(2, func(w *written) int { return w.sec })},
	{"TZH", zoneHours}, {"TZM", zoneMinutes}, {"TZ", zoneName}, {"US", fraction(6)},
	{"WW", weekOfYear}, {"W", weekOfMonth},
	{"Y,YYY", yearComma}, {"YYYY", yearOf(4)}, {"YYY", yearOf(3)}, {"YY", yearOf(2)}, {"Y", yearOf(1)},
}

// readTemplate takes a template apart.
func readTemplate(s string) []templatePart {
	var parts []templatePart
	for s != "" {
		fill, local := true, false
		for {
			if rest, ok := cutPrefixFold(s, "FM"); ok {
				fill, s = false, rest
			} else if rest, ok := cutPrefixFold(s, "TM"); ok {
				local, s = true, rest
			} else {
				break
			}
		}
		if p, rest, ok := readField(s); ok {
			p.fill, p.local = fill, local
			parts, s = append(parts, p), rest
			continue
		}
		if s == "" {
			break
		}
		var text string
		text, s = readText(s)
		parts = append(parts, templatePart{text: text})
	}
	return parts
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if rest, ok := strings.CutPrefix(s, prefix); ok {
		return rest, true
	}
	return strings.CutPrefix(s, strings.ToLower(prefix))
}

func readField(s string) (templatePart, string, bool) {
	for _, f := range templateFields {
		for _, name := range []string{f.name, strings.ToLower(f.name)} {
			rest, ok := strings.CutPrefix(s, name)
			if !ok {
				continue
			}
			p := templatePart{field: f.field, name: name}
			for _, th := range []string{"TH", "th"} {
				if after, ok := strings.CutPrefix(rest, th); ok {
					p.th, rest = th, after
					break
				}
			}
			if after, ok := cutPrefixFold(rest, "SP"); ok {
				rest = after // spelled numbers: PostgreSQL has the word but not the thing
			}
			return p, rest, true
		}
	}
	return templatePart{}, s, false
}

// readText takes text up to the next character that may begin a field; what is in double quotes is text.
func readText(s string) (text, rest string) {
	if s[0] == '"' {
		var out strings.Builder
		i := 1
		for ; i < len(s) && s[i] != '"'; i++ {
			if s[i] == '\\' && i+1 < len(s) {
				i++
			}
			out.WriteByte(s[i])
		}
		return out.String(), s[min(i+1, len(s)):]
	}
	if s[0] == '\\' && len(s) > 1 && s[1] == '"' {
		return `"`, s[2:]
	}
	r := firstRune(s)
	return r, s[len(r):]
}

func (p *templatePart) append(dst []byte, w *written) ([]byte, error) {
	if p.field == nil {
		return append(dst, p.text...), nil
	}
	s, err := p.field(p, w)
	if err != nil {
		return dst, err
	}
	dst = append(dst, s...)
	if n := len(s); p.th != "" && n > 0 && s[n-1] >= '0' && s[n-1] <= '9' && !isZone(p.name) {
		dst = append(dst, ordinal(s, p.th == "TH")...)
	}
	return dst, nil
}

// isZone says whether a field is about the time zone: its digits are no numbers that are counted with.
func isZone(name string) bool {
	name = strings.ToUpper(name)
	return name == "OF" || strings.HasPrefix(name, "TZ")
}

// ordinal is st, nd, rd or th by the digits of a number.
func ordinal(s string, upper bool) string {
	suffix := "th"
	if n := len(s); n > 0 && !(n > 1 && s[n-2] == '1') {
		switch s[n-1] {
		case '1':
			suffix = "st"
		case '2':
			suffix = "nd"
		case '3':
			suffix = "rd"
		}
	}
	if upper {
		return strings.ToUpper(suffix)
	}
	return suffix
}

// number writes digits, with zeros in front up to a width where the template fills; a sign takes a place more.
func (p *templatePart) number(n, width int) string {
	if !p.fill {
		return strconv.Itoa(n)
	}
	if n < 0 {
		width++
	}
	return fmt.Sprintf("%0*d", width, n)
}

var errIntervalTemplate = pgerr.New(pgerr.InvalidDatetimeFormat, "invalid format specification for an interval value").
	WithHint("Intervals are not tied to specific calendar dates.")

// onlyDates refuses a field for intervals.
func onlyDates(f func(p *templatePart, w *written) string) field {
	return func(p *templatePart, w *written) (string, error) {
		if w.interval {
			return "", errIntervalTemplate
		}
		return f(p, w), nil
	}
}

func numberOf(width int, of func(w *written) int) field {
	return func(p *templatePart, w *written) (string, error) { return p.number(of(w), width), nil }
}

// counted is number for days and weeks, whose sign takes no place more.
func (p *templatePart) counted(n, width int) string {
	if !p.fill {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%0*d", width, n)
}

func dayOfMonth(p *templatePart, w *written) (string, error) { return p.counted(w.day, 2), nil }

func nothing(*templatePart, *written) (string, error) { return "", nil }

func hour12(p *templatePart, w *written) (string, error) {
	h := w.hour % 12
	if h == 0 {
		h = 12
	}
	return p.number(h, 2), nil
}

// noon writes AM or PM in the letters and with the dots of the template.
func noon(p *templatePart, w *written) (string, error) {
	letter := "A"
	if h := w.hour % 24; h >= 12 {
		letter = "P"
	}
	return inStyle(p.name, letter, "M"), nil
}

func inStyle(name, first, second string) string {
	s := first + second
	if strings.Contains(name, ".") {
		s = first + "." + second + "."
	}
	if name[0] >= 'a' {
		return strings.ToLower(s)
	}
	return s
}

var era = onlyDates(func(p *templatePart, w *written) string {
	if w.year <= 0 {
		return inStyle(p.name, "B", "C")
	}
	return inStyle(p.name, "A", "D")
})

// fraction writes the first digits of the second's fraction.
func fraction(digits int) field {
	return func(_ *templatePart, w *written) (string, error) {
		n := w.usec
		for range 6 - digits {
			n /= 10
		}
		return fmt.Sprintf("%0*d", digits, n), nil
	}
}

func secondOfDay(_ *templatePart, w *written) (string, error) {
	return strconv.Itoa(w.hour*3600 + w.min*60 + w.sec), nil
}

// shown is the year as people count: 1 BC is the year before 1.
func (w *written) shown() int {
	if !w.interval && w.year <= 0 {
		return 1 - w.year
	}
	return w.year
}

func yearOf(digits int) field {
	return func(p *templatePart, w *written) (string, error) {
		if digits == 4 {
			return p.number(w.shown(), 4), nil
		}
		mod := 1
		for range digits {
			mod *= 10
		}
		return p.number(w.shown()%mod, digits), nil
	}
}

func yearComma(p *templatePart, w *written) (string, error) {
	y := w.shown()
	return fmt.Sprintf("%d,%03d", y/1000, y%1000), nil
}

func century(p *templatePart, w *written) (string, error) {
	if w.interval {
		return p.number(w.year/100, 2), nil
	}
	c := (w.year-1)/100 + 1
	if w.year <= 0 {
		c = w.year/100 - 1
	}
	if c <= 99 && c >= -99 {
		return p.number(c, 2), nil
	}
	return strconv.Itoa(c), nil
}

// isoShown is a year of the ISO calendar as people count.
func isoShown(w *written) int {
	y, _ := w.moment.ISOWeek()
	if y <= 0 {
		return 1 - y
	}
	return y
}

func isoYear(digits int) field {
	return onlyDates(func(p *templatePart, w *written) string {
		y := isoShown(w)
		if digits < 4 {
			mod := 1
			for range digits {
				mod *= 10
			}
			y %= mod
		}
		return p.number(y, digits)
	})
}

// styled writes a name in capitals, with one, or small, as the template has it, filled up to a width.
func (p *templatePart) styled(name string, width int) string {
	switch {
	case p.name == strings.ToUpper(p.name):
		name = strings.ToUpper(name)
	case p.name == strings.ToLower(p.name):
		name = strings.ToLower(name)
	}
	if p.fill && !p.local {
		return fmt.Sprintf("%-*s", width, name)
	}
	return name
}

// nameWidth is that of the longest name of a month or day.
const nameWidth = 9

var monthName = monthField(func(p *templatePart, m time.Month) string { return p.styled(m.String(), nameWidth) })

var monthShort = monthField(func(p *templatePart, m time.Month) string { return p.styled(m.String()[:3], 3) })

func monthField(f func(p *templatePart, m time.Month) string) field {
	return onlyDates(func(p *templatePart, w *written) string { return f(p, time.Month(w.month)) })
}

var dayName = onlyDates(func(p *templatePart, w *written) string { return p.styled(w.moment.Weekday().String(), nameWidth) })

var dayShort = onlyDates(func(p *templatePart, w *written) string { return p.styled(w.moment.Weekday().String()[:3], 3) })

func dayOfYear(p *templatePart, w *written) (string, error) {
	if w.interval {
		return p.counted(w.year*12*30+w.month*30+w.day, 3), nil
	}
	return p.number(w.moment.YearDay(), 3), nil
}

var isoDayOfYear = onlyDates(func(p *templatePart, w *written) string {
	_, week := w.moment.ISOWeek()
	return p.number((week-1)*7+isoDay(w), 3)
})

// isoDay is 1 on Monday and 7 on Sunday.
func isoDay(w *written) int { return (int(w.moment.Weekday())+6)%7 + 1 }

func weekDay(first int) field {
	return onlyDates(func(_ *templatePart, w *written) string { return strconv.Itoa(int(w.moment.Weekday()) + first) })
}

var isoWeekDay = onlyDates(func(_ *templatePart, w *written) string { return strconv.Itoa(isoDay(w)) })

var isoWeek = onlyDates(func(p *templatePart, w *written) string {
	_, week := w.moment.ISOWeek()
	return p.number(week, 2)
})

func weekOfYear(p *templatePart, w *written) (string, error) {
	if w.interval {
		return p.counted((w.year*12*30+w.month*30+w.day-1)/7+1, 2), nil
	}
	return p.number((w.moment.YearDay()-1)/7+1, 2), nil
}

func weekOfMonth(_ *templatePart, w *written) (string, error) {
	return strconv.Itoa((w.day-1)/7 + 1), nil
}

func quarter(_ *templatePart, w *written) (string, error) {
	if w.month == 0 {
		return "", nil
	}
	return strconv.Itoa((w.month-1)/3 + 1), nil
}

var romanMonths = []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

func romanMonth(p *templatePart, w *written) (string, error) {
	m := w.month
	switch {
	case m == 0 && w.year == 0:
		return "", nil
	case m == 0 && w.year > 0:
		m = 12 // a whole year
	case m == 0:
		m = 1
	case m < 0:
		m += 13 // counted from the year's end
	}
	name := romanMonths[m-1]
	if p.name == "rm" {
		name = strings.ToLower(name)
	}
	if p.fill {
		return fmt.Sprintf("%-4s", name), nil
	}
	return name, nil
}

// julianOfUnix is the Julian day of 1970-01-01.
const julianOfUnix = 2440588

var julianDay = func(w *written) int {
	days := w.moment.Unix() / 86400
	if w.moment.Unix()%86400 < 0 {
		days--
	}
	return int(days) + julianOfUnix
}

func julian(p *templatePart, w *written) (string, error) {
	if w.interval {
		// PostgreSQL takes the parts for a date.
		return strconv.Itoa(julianOf(w.year, w.month, w.day)), nil
	}
	return strconv.Itoa(julianDay(w)), nil
}

// julianOf is the Julian day of a date of the Gregorian calendar, by the usual count from March.
func julianOf(y, m, d int) int {
	if m > 2 {
		m, y = m+1, y+4800
	} else {
		m, y = m+13, y+4799
	}
	c := y / 100
	return y*365 - 32167 + y/4 - c + c/4 + 7834*m/256 + d
}

var zoneName = onlyDates(func(p *templatePart, w *written) string {
	if !w.zoned {
		return ""
	}
	return inStyle(p.name, "UT", "C")
})

var zoneOffset = onlyDates(func(p *templatePart, _ *written) string {
	if p.fill {
		return "+00"
	}
	return "+0"
})

var zoneHours = onlyDates(func(*templatePart, *written) string { return "+00" })

var zoneMinutes = onlyDates(func(*templatePart, *written) string { return "00" })
