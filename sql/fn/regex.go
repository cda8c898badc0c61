package fn

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Regular expressions have Go's syntax, which is Rust's but for details, as Materialize's have: no references back
// and no looking around; of alternatives the first that matches counts, not the longest. As in PostgreSQL a dot
// matches a newline, and ^ and $ only the ends of the text, unless flags say otherwise.
var regexFuncs = regexes()

// maxPattern bounds the length of a pattern, and so the time to compile it.
const maxPattern = 64 << 10

func regexes() []scalar.Func {
	var fs []scalar.Func
	for _, op := range []struct {
		name      string
		flags     string
		not       bool
		oids      [3]uint32 // text, name, bpchar
		doc, rest string
	}{
		{"~", "", false, [3]uint32{641, 639, 1055}, "whether the text matches a regular expression", ""},
		{"!~", "", true, [3]uint32{642, 640, 1056}, "whether the text does not match a regular expression", ""},
		{"~*", "i", false, [3]uint32{1228, 1226, 1234}, "whether the text matches a regular expression, letters' case aside", ""},
		{"!~*", "i", true, [3]uint32{1229, 1227, 1235},
			"whether the text does not match a regular expression, letters' case aside", ""},
	} {
		for i, t := range []types.T{tText, tName, tBpchar} {
			f := regexFunc(op.name, op.oids[i], 0, sig(t, tText), tBool, regexArgs{pattern: 1, flags: -1, fixed: op.flags},
				func(re *regex, a []vec.Datum) (vec.Datum, error) {
					return vec.BoolOf(re.MatchString(a[0].Str()) != op.not), nil
				}, op.doc)
			if t.OID == types.OIDBpchar {
				f = paddedArg(f)
			}
			fs = append(fs, f)
		}
	}
	plain, flagged := regexArgs{pattern: 1, flags: -1}, regexArgs{pattern: 1, flags: 2}
	replaceAt := regexArgs{pattern: 1, flags: -1, check: checkReplace}
	return append(fs,
		regexFunc("regexp_like", 6263, 0, sig(tText, tText), tBool, plain, regexpLike, docRegexpLike),
		regexFunc("regexp_like", 6264, 0, sig(tText, tText, tText), tBool, flagged, regexpLike, docRegexpLike),
		regexFunc("substring", 2073, nulls, sig(tText, tText), tText, plain, regexpSubstring,
			"the part of the text that matches, or the first group's part of it"),
		regexFunc("regexp_replace", 2284, 0, sig(tText, tText, tText), tText, plain, regexpReplace(1, 0), docRegexpReplace),
		regexFunc("regexp_replace", 2285, 0, sig(tText, tText, tText, tText), tText,
			regexArgs{pattern: 1, flags: 3, global: true}, regexpReplace(1, 0), docRegexpReplace),
		regexFunc("regexp_replace", 6253, 0, sig(tText, tText, tText, tInt4), tText, replaceAt, regexpReplaceAt, docRegexpReplace),
		regexFunc("regexp_replace", 6252, 0, sig(tText, tText, tText, tInt4, tInt4), tText, replaceAt, regexpReplaceAt, docRegexpReplace),
		regexFunc("regexp_replace", 6251, 0, sig(tText, tText, tText, tInt4, tInt4, tText), tText,
			regexArgs{pattern: 1, flags: 5, global: true, check: checkReplace}, regexpReplaceAt, docRegexpReplace),
		regexFunc("regexp_count", 6254, 0, sig(tText, tText), tInt4, plain, regexpCount, docRegexpCount),
		regexFunc("regexp_count", 6255, 0, sig(tText, tText, tInt4), tInt4, regexArgs{pattern: 1, flags: -1, check: checkCount},
			regexpCount, docRegexpCount),
		regexFunc("regexp_count", 6256, 0, sig(tText, tText, tInt4, tText), tInt4,
			regexArgs{pattern: 1, flags: 3, check: checkCount}, regexpCount, docRegexpCount),
		regexFunc("regexp_match", 3396, nulls, sig(tText, tText), tTextArray, plain, regexpMatch, docRegexpMatch),
		regexFunc("regexp_match", 3397, nulls, sig(tText, tText, tText), tTextArray, flagged, regexpMatch, docRegexpMatch),
		regexFunc("regexp_split_to_array", 2767, 0, sig(tText, tText), tTextArray, plain, regexpSplit, docRegexpSplit),
		regexFunc("regexp_split_to_array", 2768, 0, sig(tText, tText, tText), tTextArray, flagged, regexpSplit, docRegexpSplit),
	)
}

const (
	docRegexpLike    = "whether a part of the text matches"
	docRegexpReplace = "the text with the first match (or, with flag g, every one) replaced; \\1 is a group, \\& all of it"
	docRegexpCount   = "how often the expression matches"
	docRegexpMatch   = "the groups of the first match, or all of it if there are none; NULL without a match"
	docRegexpSplit   = "the parts of the text between matches"
)

// regex is a compiled expression.
type regex struct {
	*regexp.Regexp
	global bool // flag g
}

// regexArgs says where a function's pattern and flags are.
type regexArgs struct {
	pattern, flags int // flags: -1 for none
	fixed          string
	global         bool   // flag g is allowed
	name           string // the function's, for messages
	// check, if set, looks at the other arguments; its error comes before one of the pattern.
	check func(a []vec.Datum) error
}

// regexImpl computes a function with the pattern compiled.
type regexImpl func(re *regex, a []vec.Datum) (vec.Datum, error)

// regexFunc is an entry whose pattern is compiled once where it is constant.
func regexFunc(name string, oid uint32, at attr, args []types.T, ret types.T, where regexArgs, impl regexImpl,
	doc string) scalar.Func {
	where.name = name
	f := row(name, oid, at|strict|fails, args, ret, func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		if where.check != nil {
			if err := where.check(a); err != nil {
				return vec.Null, err
			}
		}
		re, err := where.compile(a)
		if err != nil {
			return vec.Null, err
		}
		return impl(re, a)
	}, doc)
	plain := f
	f.Prepare = func(args []vec.Datum, known uint64) *scalar.Func {
		if known>>where.pattern&1 == 0 || where.flags >= 0 && known>>where.flags&1 == 0 {
			return nil
		}
		re, err := where.compile(args)
		if err != nil {
			return nil // as every row will say
		}
		g := plain
		g.Row = func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
			if where.check != nil {
				if err := where.check(a); err != nil {
					return vec.Null, err
				}
			}
			return impl(re, a)
		}
		return &g
	}
	return f
}

func (w regexArgs) compile(a []vec.Datum) (*regex, error) {
	flags := w.fixed
	if w.flags >= 0 {
		flags = a[w.flags].Str()
	}
	return compileRegex(w.name, a[w.pattern].Str(), flags, w.global)
}

// compileRegex compiles a pattern for a function; allowGlobal says whether flag g means something to it.
func compileRegex(name, pattern, flags string, allowGlobal bool) (*regex, error) {
	if len(pattern) > maxPattern {
		return nil, pgerr.New(pgerr.ProgramLimitExceeded, "regular expression is too long")
	}
	fold, dot, lines, literal, global := false, true, false, false, false
	for _, c := range flags {
		switch c {
		case 'i':
			fold = true
		case 'c':
			fold = false
		case 'g':
			if !allowGlobal {
				err := pgerr.Newf(pgerr.InvalidParameterValue, "%s() does not support the \"global\" option", name)
				if name == "regexp_match" {
					err = err.WithHint("Use the regexp_matches function instead.")
				}
				return nil, err
			}
			global = true
		case 'n', 'm':
			dot, lines = false, true
		case 'p':
			dot, lines = false, false
		case 'w':
			dot, lines = true, true
		case 's':
			dot, lines = true, false
		case 'q':
			literal = true
		case 'e', 't':
		case 'b', 'x':
			return nil, pgerr.Unsupported("regular expression option \"%c\"", c)
		default:
			return nil, pgerr.Newf(pgerr.InvalidParameterValue, "invalid regular expression option: \"%c\"", c)
		}
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	options := ""
	for _, o := range []struct {
		on   bool
		flag string
	}{{fold, "i"}, {dot, "s"}, {lines, "m"}} {
		if o.on {
			options += o.flag
		}
	}
	if options != "" {
		options = "(?" + options + ")"
	}
	re, err := regexp.Compile(options + pattern)
	if err != nil {
		return nil, badRegex(err)
	}
	return &regex{re, global}, nil
}

// badRegex says what is wrong with a pattern in PostgreSQL's words.
func badRegex(err error) error {
	what := err.Error()
	var e *syntax.Error
	if errors.As(err, &e) {
		switch e.Code {
		case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
			what = "parentheses () not balanced"
		case syntax.ErrMissingBracket:
			what = "brackets [] not balanced"
		case syntax.ErrInvalidRepeatSize:
			what = "invalid repetition count(s)"
		case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
			what = "quantifier operand invalid"
		case syntax.ErrInvalidEscape, syntax.ErrTrailingBackslash:
			what = `invalid escape \ sequence`
		case syntax.ErrInvalidCharRange:
			what = "invalid character range"
		case syntax.ErrLarge:
			what = "regular expression is too complex"
		default:
			what = e.Code.String()
		}
	}
	return pgerr.Newf(pgerr.InvalidRegularExpression, "invalid regular expression: %s", what)
}

func regexpLike(re *regex, a []vec.Datum) (vec.Datum, error) {
	return vec.BoolOf(re.MatchString(a[0].Str())), nil
}

func regexpSubstring(re *regex, a []vec.Datum) (vec.Datum, error) {
	s := a[0].Str()
	m := re.FindStringSubmatchIndex(s)
	switch {
	case m == nil || len(m) > 2 && m[2] < 0:
		return vec.Null, nil
	case len(m) > 2:
		return vec.StrOf(s[m[2]:m[3]]), nil
	}
	return vec.StrOf(s[m[0]:m[1]]), nil
}

// regexpReplace replaces the nth match from the start-th character on; with flag g, or n 0, all from there.
func regexpReplace(start, nth int) regexImpl {
	return func(re *regex, a []vec.Datum) (vec.Datum, error) {
		n := max(nth, 1)
		if re.global {
			n = 0
		}
		return replaceMatches(re, a[0].Str(), a[2].Str(), start, n)
	}
}

func regexpReplaceAt(re *regex, a []vec.Datum) (vec.Datum, error) {
	n := 1
	if len(a) > 4 {
		n = int(a[4].Int())
	}
	return replaceMatches(re, a[0].Str(), a[2].Str(), int(a[3].Int()), n)
}

func checkReplace(a []vec.Datum) error {
	switch {
	case a[3].Int() <= 0:
		return badParameter("start", a[3].Int())
	case len(a) > 4 && a[4].Int() < 0:
		return badParameter("n", a[4].Int())
	}
	return nil
}

func checkCount(a []vec.Datum) error {
	if a[2].Int() <= 0 {
		return badParameter("start", a[2].Int())
	}
	return nil
}

func badParameter(name string, value int64) error {
	return pgerr.Newf(pgerr.InvalidParameterValue, "invalid value for parameter \"%s\": %d", name, value)
}

func replaceMatches(re *regex, s, by string, start, n int) (vec.Datum, error) {
	if start > runes(s)+1 {
		return vec.StrOf(s), nil
	}
	from := prefix([]byte(s), start-1)
	limit := n
	if n == 0 {
		limit = -1
	}
	parts := parseReplacement(by)
	var out strings.Builder
	done := 0
	for k, m := range re.FindAllStringSubmatchIndex(s[from:], limit) {
		if n > 0 && k+1 != n {
			continue
		}
		out.WriteString(s[done : from+m[0]])
		for _, p := range parts {
			p.write(&out, s[from:], m)
		}
		done = from + m[1]
		if err := checkSize(out.Len()); err != nil {
			return vec.Null, err
		}
	}
	out.WriteString(s[done:])
	return vec.StrOf(out.String()), nil
}

// replacement is a piece of a replacement text: words, or a group (0: the whole match).
type replacement struct {
	text  string
	group int // -1: text
}

func (p replacement) write(out *strings.Builder, s string, m []int) {
	switch {
	case p.group < 0:
		out.WriteString(p.text)
	case 2*p.group < len(m) && m[2*p.group] >= 0:
		out.WriteString(s[m[2*p.group]:m[2*p.group+1]])
	}
}

func parseReplacement(by string) []replacement {
	var parts []replacement
	for {
		at := strings.IndexByte(by, '\\')
		if at < 0 || at+1 == len(by) {
			return append(parts, replacement{by, -1})
		}
		parts = append(parts, replacement{by[:at], -1})
		switch c := by[at+1]; {
		case c >= '1' && c <= '9':
			parts = append(parts, replacement{group: int(c - '0')})
		case c == '&':
			parts = append(parts, replacement{group: 0})
		case c == '\\':
			parts = append(parts, replacement{`\`, -1})
		default:
			parts = append(parts, replacement{by[at : at+2], -1})
		}
		by = by[at+2:]
	}
}

func regexpCount(re *regex, a []vec.Datum) (vec.Datum, error) {
	s := a[0].Str()
	if len(a) > 2 {
		start := int(a[2].Int())
		if start > runes(s)+1 {
			return vec.IntOf(0), nil
		}
		s = s[prefix(a[0].Bytes(), start-1):]
	}
	return vec.IntOf(int64(len(re.FindAllStringIndex(s, -1)))), nil
}

// groups are the parts of a match as SQL gives them: the groups, or all of it if the pattern has none. A group
// that took no part is NULL.
func groups(s string, m []int) []vec.Datum {
	if len(m) == 2 {
		return []vec.Datum{vec.StrOf(s[m[0]:m[1]])}
	}
	parts := make([]vec.Datum, 0, len(m)/2-1)
	for k := 2; k < len(m); k += 2 {
		if m[k] < 0 {
			parts = append(parts, vec.Null)
		} else {
			parts = append(parts, vec.StrOf(s[m[k]:m[k+1]]))
		}
	}
	return parts
}

func regexpMatch(re *regex, a []vec.Datum) (vec.Datum, error) {
	m := re.FindStringSubmatchIndex(a[0].Str())
	if m == nil {
		return vec.Null, nil
	}
	return textArray(groups(a[0].Str(), m)), nil
}

func regexpSplit(re *regex, a []vec.Datum) (vec.Datum, error) {
	return textArray(splitMatches(re, a[0].Str())), nil
}

// splitMatches gives the parts between matches. As in PostgreSQL a match of no length right at the start, the end,
// or after another match separates nothing.
func splitMatches(re *regex, s string) []vec.Datum {
	var parts []vec.Datum
	done := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[0] == m[1] && (m[0] == done || m[0] == len(s)) {
			continue
		}
		parts = append(parts, vec.StrOf(s[done:m[0]]))
		done = m[1]
	}
	return append(parts, vec.StrOf(s[done:]))
}

// itoa is for messages.
func itoa(n int64) string { return strconv.FormatInt(n, 10) }
