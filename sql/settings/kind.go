package settings

import (
	"math"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// kind is how values of a type are read and printed.
type kind struct {
	name  string
	parse func(d *decl, text string) (value, error)
	print func(d *decl, v value) string
}

var (
	kindBool     = kind{"bool", parseBool, printBool}
	kindInt      = kind{"integer", parseInt, printInt}
	kindBytes    = kind{"bytes", parseBytes, printInt}
	kindDuration = kind{"duration", parseDuration, printDuration}
	kindString   = kind{"string", parseString, printString}
	kindEnum     = kind{"enum", parseEnum, printEnum}
)

func invalid(d *decl, text string) *pgerr.Error {
	return pgerr.Newf(pgerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", d.name, text)
}

// boolWords are what a switch may be called; any beginning that fits one only will do.
var boolWords = []struct {
	word  string
	least int // characters needed
	on    int64
}{
	{"true", 1, 1}, {"false", 1, 0}, {"yes", 1, 1}, {"no", 1, 0}, {"on", 2, 1}, {"off", 2, 0}, {"1", 1, 1}, {"0", 1, 0},
}

func parseBool(d *decl, text string) (value, error) {
	s := strings.ToLower(text)
	for _, w := range boolWords {
		if len(s) >= w.least && strings.HasPrefix(w.word, s) {
			return value{num: w.on}, nil
		}
	}
	return value{}, pgerr.Newf(pgerr.InvalidParameterValue, "parameter \"%s\" requires a Boolean value", d.name)
}

func printBool(_ *decl, v value) string {
	if v.num != 0 {
		return "on"
	}
	return "off"
}

func parseInt(d *decl, text string) (value, error) {
	x, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return value{}, invalid(d, text)
	}
	return value{num: x}, nil
}

func printInt(_ *decl, v value) string { return strconv.FormatInt(v.num, 10) }

// unit is a word behind a number, and what one of it is.
type unit struct {
	word string
	is   int64
}

var byteUnits = []unit{{"B", 1}, {"kB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}}

// timeUnits are in microseconds, the largest first, for printing.
var timeUnits = []unit{
	{"d", 86_400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1},
}

func parseBytes(d *decl, text string) (value, error) {
	return parseUnits(d, text, byteUnits, 1,
		`Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".`)
}

// parseDuration takes a number without a unit as milliseconds, as PostgreSQL's time-outs do.
func parseDuration(d *decl, text string) (value, error) {
	return parseUnits(d, text, timeUnits, 1e3,
		`Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".`)
}

// parseUnits reads a number, which may have a fraction, and a unit, with or without a blank between. Units are
// matched by case first, so that nobody's "mB" is guessed at.
func parseUnits(d *decl, text string, units []unit, bare int64, hint string) (value, error) {
	s := strings.TrimSpace(text)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && (s[end] == '-' || s[end] == '+')) {
		end++
	}
	x, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return value{}, invalid(d, text)
	}
	scale := bare
	if word := strings.TrimSpace(s[end:]); word != "" {
		scale = 0
		for _, u := range units {
			if u.word == word {
				scale = u.is
			}
		}
		if scale == 0 {
			return value{}, invalid(d, text).WithHint("%s", hint)
		}
	}
	if n, err := strconv.ParseInt(s[:end], 10, 64); err == nil && n <= math.MaxInt64/scale && n >= math.MinInt64/scale {
		return value{num: n * scale}, nil
	}
	if x = math.RoundToEven(x * float64(scale)); math.Abs(x) >= 1<<63 {
		return value{}, invalid(d, text).WithHint("Value exceeds integer range.")
	}
	return value{num: int64(x)}, nil
}

// printDuration uses the largest unit that leaves a whole number.
func printDuration(_ *decl, v value) string {
	if v.num == 0 {
		return "0"
	}
	for _, u := range timeUnits {
		if v.num%u.is == 0 {
			return strconv.FormatInt(v.num/u.is, 10) + " " + u.word
		}
	}
	return strconv.FormatInt(v.num, 10) + " us"
}

func parseString(d *decl, text string) (value, error) {
	if d.normal != nil {
		normal, ok := d.normal(text)
		if !ok {
			return value{}, invalid(d, text)
		}
		text = normal
	}
	return value{str: text}, nil
}

func printString(_ *decl, v value) string { return v.str }

func parseEnum(d *decl, text string) (value, error) {
	for i, w := range d.words {
		if strings.EqualFold(w, text) {
			return value{num: int64(i)}, nil
		}
	}
	return value{}, invalid(d, text).WithHint("Available values: %s.", strings.Join(d.words, ", "))
}

func printEnum(d *decl, v value) string { return d.words[v.num] }
