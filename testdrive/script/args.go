package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// parseAction reads "name key=value …".
func parseAction(text string) (string, []Arg, error) {
	tokens, err := argTokens(text)
	if err != nil {
		return "", nil, err
	}
	if len(tokens) == 0 {
		return "", nil, errors.New("action has no name")
	}
	var args []Arg
	for _, token := range tokens[1:] {
		key, value, has := strings.Cut(token, "=")
		if !isKey(key) {
			return "", nil, fmt.Errorf("argument name %s may have lower-case letters, digits and hyphens only",
				strconv.Quote(short(key)))
		}
		for _, a := range args {
			if a.Key == key {
				return "", nil, fmt.Errorf("argument %s is given twice", key)
			}
		}
		args = append(args, Arg{Key: key, Value: value, HasValue: has})
	}
	return tokens[0], args, nil
}

func isKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != ""
}

// argTokens cuts at blanks that are neither in quotes nor in brackets. Quotes outside brackets go; in them, \"
// is a quote and any other backslash is itself, so that patterns need no doubling. What stands in {} or [] is
// kept as it is.
func argTokens(text string) ([]string, error) {
	var tokens []string
	var token strings.Builder
	begun, quoted, depth := false, false, 0
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case quoted && c == '\\' && i+1 < len(runes) && runes[i+1] == '"':
			token.WriteByte('"')
			i++
		case c == '"' && depth == 0:
			quoted = !quoted
			begun = true
		case quoted:
			token.WriteRune(c)
		case depth == 0 && unicode.IsSpace(c):
			if begun {
				tokens = append(tokens, token.String())
				token.Reset()
				begun = false
			}
		default:
			switch c {
			case '{', '[':
				depth++
			case '}', ']':
				if depth > 0 {
					depth--
				}
			}
			token.WriteRune(c)
			begun = true
		}
	}
	switch {
	case quoted:
		return nil, errors.New("quote is not closed")
	case depth > 0:
		return nil, errors.New("bracket is not closed")
	case begun:
		tokens = append(tokens, token.String())
	}
	return tokens, nil
}
