package fn

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// LIKE and ILIKE.
var likeFuncs = likes()

var errLikeEscape = pgerr.New(pgerr.InvalidEscapeSequence, "LIKE pattern must not end with escape character")

func likes() []scalar.Func {
	var fs []scalar.Func
	for _, op := range []struct {
		name, fn string
		fold     bool
		not      bool
		oids     [3]uint32 // text, name, bpchar
		doc      string
	}{
		{"~~", "like", false, false, [3]uint32{1209, 1207, 1211}, "whether the text matches a LIKE pattern"},
		{"!~~", "notlike", false, true, [3]uint32{1210, 1208, 1212}, "whether the text does not match a LIKE pattern"},
		{"~~*", "", true, false, [3]uint32{1627, 1625, 1629}, "whether the text matches a pattern, letters' case aside"},
		{"!~~*", "", true, true, [3]uint32{1628, 1626, 1630}, "whether the text does not match a pattern, letters' case aside"},
	} {
		for i, t := range []types.T{tText, tName, tBpchar} {
			fs = append(fs, like(op.name, op.oids[i], t, tText, op.fold, op.not, op.doc))
		}
	}
	return append(fs,
		like("~~", 2016, tBytea, tBytea, false, false, "whether the bytes match a LIKE pattern"),
		like("!~~", 2017, tBytea, tBytea, false, true, "whether the bytes do not match a LIKE pattern"),
		like("like", 1569, tText, tText, false, false, "whether the text matches a LIKE pattern"),
		like("like", 1571, tName, tText, false, false, "whether the text matches a LIKE pattern"),
		like("like", 2007, tBytea, tBytea, false, false, "whether the bytes match a LIKE pattern"),
		like("notlike", 1570, tText, tText, false, true, "whether the text does not match a LIKE pattern"),
		like("notlike", 1572, tName, tText, false, true, "whether the text does not match a LIKE pattern"),
		like("notlike", 2008, tBytea, tBytea, false, true, "whether the bytes do not match a LIKE pattern"),
		row("like_escape", 1637, strict|fails, sig(tText, tText), tText, likeEscape(false), docLikeEscape),
		row("like_escape", 2009, strict|fails, sig(tBytea, tBytea), tBytea, likeEscape(true), docLikeEscape),
	)
}

const docLikeEscape = "a LIKE pattern with another escape character, rewritten for the usual one"

// likeFunc is one of the family.
type likeFunc struct {
	fold, not bool
	bytewise  bool    // an underscore is a byte
	blanks    types.T // a bpchar, which matches with its blanks
}

func like(name string, oid uint32, left, right types.T, fold, not bool, doc string) scalar.Func {
	l := likeFunc{fold: fold, not: not, bytewise: left.OID == types.OIDBytea}
	f := kern(name, oid, strict|fails, sig(left, right), tBool, l.kernel, doc)
	f.Prepare = l.prepare(f)
	if left.OID == types.OIDBpchar {
		plain := f
		f.For = func(args []types.T) *scalar.Func {
			l, g := l, plain
			l.blanks = args[0]
			g.Kernel, g.Prepare = l.kernel, l.prepare(g)
			return &g
		}
	}
	return f
}

func (l likeFunc) kernel(b *scalar.Batch) {
	pattern := b.Arg(1)
	var p likePattern
	l.each(b, func(i int) *likePattern {
		p.set(pattern.At(i), l)
		return &p
	})
}

// prepare compiles a constant pattern once.
func (l likeFunc) prepare(f scalar.Func) func([]vec.Datum, uint64) *scalar.Func {
	return func(args []vec.Datum, known uint64) *scalar.Func {
		if known&2 == 0 {
			return nil
		}
		p := &likePattern{}
		p.set(bytes.Clone(args[1].Bytes()), l)
		g := f
		g.CanFail = p.general && likeFails(p.pattern)
		g.Kernel = func(b *scalar.Batch) { l.each(b, func(int) *likePattern { return p }) }
		return &g
	}
}

// each matches the rows against the patterns that at gives.
func (l likeFunc) each(b *scalar.Batch, pattern func(i int) *likePattern) {
	x := b.Arg(0)
	var folded []byte
	for k := range selected(b) {
		i := at(b, k)
		s := x.At(i)
		if l.blanks.Mod >= 4 {
			s = []byte(padded(string(s), l.blanks))
		}
		if l.fold {
			folded = appendFolded(folded[:0], s)
			s = folded
		}
		ok, err := pattern(i).match(s)
		if err != nil {
			b.Fail(i, err)
			continue
		}
		b.Out.Bools[i] = bit(ok != l.not)
	}
}

func appendFolded(dst, s []byte) []byte {
	for at := 0; at < len(s); {
		if s[at] < utf8.RuneSelf {
			dst = append(dst, asciiLower(s[at]))
			at++
			continue
		}
		r, size := utf8.DecodeRune(s[at:])
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		at += size
	}
	return dst
}

// likePattern is a pattern in the form in which it is matched: most are a plain text with percent signs around.
type likePattern struct {
	pattern  []byte
	general  bool
	bytewise bool
	// Else: plain is matched whole, or as a beginning, an end, or a part.
	plain           []byte
	anyPre, anyPost bool
}

func (p *likePattern) set(pattern []byte, l likeFunc) {
	if l.fold {
		pattern = appendFolded(nil, pattern)
	}
	*p = likePattern{pattern: pattern, bytewise: l.bytewise}
	rest := pattern
	for len(rest) > 0 && rest[0] == '%' {
		p.anyPre, rest = true, rest[1:]
	}
	for len(rest) > 0 && rest[len(rest)-1] == '%' {
		p.anyPost, rest = true, rest[:len(rest)-1]
	}
	if len(rest) == 0 {
		p.anyPre, p.anyPost = p.anyPre || p.anyPost, p.anyPre || p.anyPost
	}
	p.plain = rest
	p.general = bytes.ContainsAny(rest, `%_\`)
}

// likeFails says whether a pattern ends with an escape character that escapes nothing.
func likeFails(pattern []byte) bool {
	n := 0
	for n < len(pattern) && pattern[len(pattern)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func (p *likePattern) match(s []byte) (bool, *pgerr.Error) {
	switch {
	case p.general:
		return matchLike(s, p.pattern, p.bytewise)
	case p.anyPre && p.anyPost:
		return bytes.Contains(s, p.plain), nil
	case p.anyPre:
		return bytes.HasSuffix(s, p.plain), nil
	case p.anyPost:
		return bytes.HasPrefix(s, p.plain), nil
	}
	return bytes.Equal(s, p.plain), nil
}

// matchLike goes back only to the last percent sign, since an earlier one can do nothing that it cannot. So the
// time is at most the product of the lengths.
func matchLike(s, p []byte, bytewise bool) (bool, *pgerr.Error) {
	i, j := 0, 0
	starI, starJ := -1, -1
	for {
		if j < len(p) {
			switch c := p[j]; {
			case c == '%':
				starI, starJ = i, j
				j++
				continue
			case c == '\\' && j+1 == len(p):
				// As in PostgreSQL, only a match that gets so far fails.
				if i < len(s) || starJ == j-1 && starJ >= 0 {
					return false, errLikeEscape
				}
			case i == len(s):
			case c == '_':
				i += charLen(s[i:], bytewise)
				j++
				continue
			case c == '\\':
				if s[i] == p[j+1] {
					i, j = i+1, j+2
					continue
				}
			case s[i] == c:
				i, j = i+1, j+1
				continue
			}
		} else if i == len(s) {
			return true, nil
		}
		if starJ < 0 || starI >= len(s) {
			return false, nil
		}
		starI += charLen(s[starI:], bytewise)
		i, j = starI, starJ+1
	}
}

func charLen(s []byte, bytewise bool) int {
	if bytewise || s[0] < utf8.RuneSelf {
		return 1
	}
	_, size := utf8.DecodeRune(s)
	return size
}

// likeEscape rewrites a pattern whose escape character is another one, or none, for the backslash.
func likeEscape(bytewise bool) rowFunc {
	return func(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
		pattern, escape := a[0].Bytes(), a[1].Bytes()
		if len(escape) > 0 && charLen(escape, bytewise) != len(escape) {
			return vec.Null, pgerr.New(pgerr.InvalidEscapeSequence, "invalid escape string").
				WithHint("Escape string must be empty or one character.")
		}
		if string(escape) == `\` {
			return a[0], nil
		}
		out := make([]byte, 0, len(pattern))
		escaped := false
		for len(pattern) > 0 {
			c := pattern[:charLen(pattern, bytewise)]
			pattern = pattern[len(c):]
			switch {
			case bytes.Equal(c, escape) && !escaped:
				out = append(out, '\\')
				escaped = true
				continue
			case c[0] == '\\' && !escaped:
				out = append(out, '\\', '\\')
			default:
				out = append(out, c...)
			}
			escaped = false
		}
		return vec.BytesOf(out), nil
	}
}
