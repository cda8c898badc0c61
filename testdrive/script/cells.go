package script

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Null is how a NULL is written in an expected row.
const Null = "<null>"

// Cells cuts an expected row: at blanks, but for what is in quotes. A closing quote ends the cell at once. In
// quotes \n, \t, \r and \0 are those characters and a backslash before anything else means that; outside them
// a backslash is itself.
func Cells(line string) ([]string, error) {
	var cells []string
	var cell strings.Builder
	quoted, escaped := false, false
	for _, c := range line {
		switch {
		case escaped:
			cell.WriteRune(unescape(c))
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case quoted && c == '"':
			cells = append(cells, cell.String())
			cell.Reset()
			quoted = false
		case quoted:
			cell.WriteRune(c)
		case c == '"':
			quoted = true
		case unicode.IsSpace(c):
			if cell.Len() > 0 {
				cells = append(cells, cell.String())
				cell.Reset()
			}
		default:
			cell.WriteRune(c)
		}
	}
	if quoted {
		return nil, errors.New("quote is not closed")
	}
	if cell.Len() > 0 {
		cells = append(cells, cell.String())
	}
	return cells, nil
}

func unescape(c rune) rune {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '0':
		return 0
	}
	return c
}

// FormatRow writes a row so that Cells reads it back and no line looks like a command, a comment or an escape.
func FormatRow(cells []string) string {
	var out strings.Builder
	for i, cell := range cells {
		if i > 0 {
			out.WriteByte(' ')
		}
		writeCell(&out, cell, i == 0)
	}
	return out.String()
}

func writeCell(out *strings.Builder, cell string, first bool) {
	plain := cell != "" && !strings.ContainsFunc(cell, func(c rune) bool {
		return c == '"' || c == 0 || unicode.IsSpace(c)
	})
	if plain && !isRule(cell) && !(first && strings.ContainsRune(`$>!?#\`, rune(cell[0]))) {
		out.WriteString(cell)
		return
	}
	out.WriteByte('"')
	for _, c := range cell {
		switch c {
		case '\n':
			out.WriteString(`\n`)
		case '\t':
			out.WriteString(`\t`)
		case '\r':
			out.WriteString(`\r`)
		case 0:
			out.WriteString(`\0`)
		case '"', '\\':
			out.WriteRune('\\')
			out.WriteRune(c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteByte('"')
}

var hashLine = regexp.MustCompile(`^(\d+) values hashing to ([0-9a-fA-F]{32})$`)

// parseHash reads "N values hashing to MD5".
func parseHash(line string) (Hash, bool) {
	m := hashLine.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return Hash{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return Hash{}, false
	}
	return Hash{Count: n, MD5: strings.ToLower(m[2])}, true
}

func (h Hash) String() string { return fmt.Sprintf("%d values hashing to %s", h.Count, h.MD5) }
