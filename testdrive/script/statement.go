package script

import (
	"slices"
	"strings"
)

// Once says that a statement is tried one time only, because trying again would not find the same world or
// would hide a failure: FETCH, EXPLAIN of a plan, CREATE, DROP, SET, DISCARD and some forms of ALTER.
func Once(sql string) bool {
	words := Words(sql, 12)
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "FETCH", "CREATE", "DROP", "SET", "DISCARD":
		return true
	case "EXPLAIN":
		return len(words) < 2 || words[1] != "TIMESTAMP"
	case "ALTER":
		return len(words) > 1 && (words[1] == "INDEX" || words[1] == "SINK") || slices.Contains(words, "RENAME")
	}
	return false
}

// FailsOnce says that a statement that must fail is tried one time only.
func FailsOnce(sql string) bool {
	words := Words(sql, 2)
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "COMMIT", "ROLLBACK", "FETCH":
		return true
	}
	return len(words) > 1 && (words[0] == "ALTER" && words[1] == "SINK" || words[0] == "CREATE" && words[1] == "CONNECTION")
}

// Words gives up to n leading words of a statement in upper case, without comments, quoted names, literals and
// punctuation.
func Words(sql string, n int) []string {
	var words []string
	for _, t := range tokens(sql) {
		if len(words) == n {
			break
		}
		if t.kind == wordToken {
			words = append(words, strings.ToUpper(sql[t.begin:t.end]))
		}
	}
	return words
}

// Split cuts a text at the semicolons between statements; empty statements go.
func Split(sql string) []string {
	var out []string
	begin, empty := 0, true
	add := func(end int) {
		if !empty {
			out = append(out, strings.TrimSpace(sql[begin:end]))
		}
		begin, empty = end+1, true
	}
	for _, t := range tokens(sql) {
		switch {
		case t.kind == commentToken:
		case t.kind == otherToken && sql[t.begin] == ';':
			add(t.begin)
		default:
			empty = false
		}
	}
	add(len(sql))
	return out
}

// token is a piece of a statement, as coarse as our questions allow.
type token struct {
	kind       tokenKind
	begin, end int
}

type tokenKind int

const (
	wordToken tokenKind = iota
	quotedToken
	commentToken
	otherToken // one character
)

// tokens cuts a statement by PostgreSQL's lexical rules for comments, quotes and words.
func tokens(sql string) []token {
	var out []token
	for i := 0; i < len(sql); {
		begin := i
		kind := otherToken
		c := sql[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
			continue
		case strings.HasPrefix(sql[i:], "--"):
			kind = commentToken
			i = indexFrom(sql, "\n", i)
		case strings.HasPrefix(sql[i:], "/*"):
			kind = commentToken
			i = endOfComment(sql, i)
		case c == '\'' || c == '"':
			kind = quotedToken
			i = endOfQuote(sql, i, false)
		case (c == 'e' || c == 'E') && i+1 < len(sql) && sql[i+1] == '\'':
			kind = quotedToken
			i = endOfQuote(sql, i+1, true)
		case c == '$' && dollarTag(sql[i:]) != "":
			kind = quotedToken
			tag := dollarTag(sql[i:])
			i = indexFrom(sql, tag, i+len(tag))
		case isWordByte(c) && (c < '0' || c > '9'):
			kind = wordToken
			for i < len(sql) && (isWordByte(sql[i]) || sql[i] == '$') {
				i++
			}
		default:
			i++
		}
		out = append(out, token{kind, begin, i})
	}
	return out
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// indexFrom gives the end of the first occurrence of what at or after from, or the end of the text.
func indexFrom(sql, what string, from int) int {
	if at := strings.Index(sql[from:], what); at >= 0 {
		return from + at + len(what)
	}
	return len(sql)
}

// endOfComment finds the end of a comment that may contain others.
func endOfComment(sql string, i int) int {
	depth := 0
	for i < len(sql) {
		switch {
		case strings.HasPrefix(sql[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(sql[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(sql)
}

// endOfQuote finds the end of a literal or quoted name, in which the quote is doubled, or escaped by a backslash
// in the E” form.
func endOfQuote(sql string, i int, backslash bool) int {
	quote := sql[i]
	for i++; i < len(sql); i++ {
		switch {
		case backslash && sql[i] == '\\':
			i++
		case sql[i] == quote && i+1 < len(sql) && sql[i+1] == quote:
			i++
		case sql[i] == quote:
			return i + 1
		}
	}
	return len(sql)
}

// dollarTag gives "$tag$" if the text begins with one.
func dollarTag(s string) string {
	end := strings.IndexByte(s[1:], '$')
	if end < 0 {
		return ""
	}
	tag := s[:end+2]
	for i := 1; i < len(tag)-1; i++ {
		if !isWordByte(tag[i]) || i == 1 && tag[i] >= '0' && tag[i] <= '9' {
			return ""
		}
	}
	return tag
}
