package script

import (
	"strings"
)

// parser walks over the lines of a file; next is the index of the first unread one.
type parser struct {
	file *File
	next int
}

func (p *parser) fail(line int, text string) error {
	return &Error{File: p.file.Name, Line: line, Text: text, Source: p.file.Lines[line-1]}
}

func isSigil(c byte) bool { return c == '$' || c == '>' || c == '!' || c == '?' }

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// block reads one block, or skips a line that belongs to none.
func (p *parser) block() error {
	line := p.file.Lines[p.next]
	if isBlank(line) || line[0] == '#' {
		p.next++
		return nil
	}
	if !isSigil(line[0]) {
		return p.fail(p.next+1, "expected a line that begins with $, >, ! or ?")
	}
	b := Block{Line: p.next + 1}
	if strings.HasPrefix(line, "${") {
		return p.fail(b.Line, `a line that begins with ${ would be an action: put a backslash before it`)
	}
	gate, rest, err := parseGate(line[1:])
	if err != nil {
		return p.fail(b.Line, err.Error())
	}
	b.Gate = gate
	first := p.next
	text := p.command(line[0], rest)
	b.Source = strings.Join(p.file.Lines[first:p.next], "\n")
	b.Body = p.body()
	switch line[0] {
	case '$':
		b.Command, err = p.action(b, text)
	case '>':
		b.Command, err = p.query(b, text)
	case '!':
		b.Command, err = p.failure(b, text)
	case '?':
		b.Command, err = p.text(b, text)
	}
	if err != nil {
		return err
	}
	p.file.Blocks = append(p.file.Blocks, b)
	return nil
}

// command reads the first line and the lines that continue it: those indented by two spaces. A statement keeps
// its line breaks and loses the indentation; an action becomes one line.
func (p *parser) command(sigil byte, first string) string {
	var text strings.Builder
	text.WriteString(first)
	p.next++
	for p.next < len(p.file.Lines) {
		at := p.next
		for at < len(p.file.Lines) && strings.HasPrefix(p.file.Lines[at], "#") {
			at++
		}
		if at == len(p.file.Lines) || !strings.HasPrefix(p.file.Lines[at], "  ") {
			break
		}
		if sigil == '$' {
			text.WriteString(p.file.Lines[at][1:])
		} else {
			text.WriteString("\n" + p.file.Lines[at][2:])
		}
		p.next = at + 1
	}
	return strings.TrimSpace(text.String())
}

// body finds the lines up to the next command.
func (p *parser) body() Span {
	s := Span{First: p.next}
	for p.next < len(p.file.Lines) {
		line := p.file.Lines[p.next]
		if line != "" && isSigil(line[0]) {
			break
		}
		p.next++
	}
	s.Last = p.next
	return s
}

// bodyLine is a line that counts, without the backslash that keeps it from looking like a command.
type bodyLine struct {
	number int
	text   string
}

// lines gives the lines of a body without comments, and without blank ones unless they are wanted.
func (p *parser) lines(s Span, blanks bool) []bodyLine {
	var out []bodyLine
	for i := s.First; i < s.Last; i++ {
		line := p.file.Lines[i]
		if strings.HasPrefix(line, "#") || !blanks && isBlank(line) {
			continue
		}
		out = append(out, bodyLine{i + 1, strings.TrimPrefix(line, `\`)})
	}
	return out
}

func (p *parser) action(b Block, text string) (*Action, error) {
	name, args, err := parseAction(text)
	if err != nil {
		return nil, p.fail(b.Line, err.Error())
	}
	a := &Action{Name: name, Args: args}
	for _, l := range p.lines(b.Body, false) {
		a.Body = append(a.Body, l.text)
	}
	return a, nil
}

// statement takes the final semicolon off: the server gets one statement at a time.
func (p *parser) statement(b Block, text string) (string, error) {
	sql := strings.TrimSpace(strings.TrimSuffix(text, ";"))
	if sql == "" {
		return "", p.fail(b.Line, "statement is missing")
	}
	return sql, nil
}

func (p *parser) query(b Block, text string) (*Query, error) {
	sql, err := p.statement(b, text)
	if err != nil {
		return nil, err
	}
	q := &Query{SQL: sql}
	lines := p.lines(b.Body, false)
	if len(lines) >= 2 && isRule(lines[1].text) {
		q.Columns, err = Cells(lines[0].text)
		if err != nil {
			return nil, p.fail(lines[0].number, err.Error())
		}
		lines = lines[2:]
	}
	if len(lines) == 1 {
		if hash, ok := parseHash(lines[0].text); ok {
			q.Hash = &hash
			return q, nil
		}
	}
	for _, l := range lines {
		cells, err := Cells(l.text)
		if err != nil {
			return nil, p.fail(l.number, err.Error())
		}
		q.Rows = append(q.Rows, cells)
	}
	return q, nil
}

// isRule spots the line under the column names.
func isRule(line string) bool {
	line = strings.TrimRight(line, " \t")
	return len(line) >= 3 && strings.Trim(line, "-") == ""
}

func (p *parser) failure(b Block, text string) (*Failure, error) {
	sql, err := p.statement(b, text)
	if err != nil {
		return nil, err
	}
	f := &Failure{SQL: sql}
	lines := p.lines(b.Body, false)
	if len(lines) == 0 {
		return nil, p.fail(b.Line, "expected error is missing: contains:, exact:, regex: or timeout must follow")
	}
	first := strings.TrimSpace(lines[0].text)
	kind, rest, colon := strings.Cut(first, ":")
	f.Text = strings.TrimSpace(rest)
	switch {
	case first == "timeout":
		f.Match = Timeout
	case colon && kind == "contains":
		f.Match = Contains
	case colon && kind == "exact":
		f.Match = Exact
	case colon && kind == "regex":
		f.Match = Regex
	default:
		return nil, p.fail(lines[0].number, "expected contains:, exact:, regex: or timeout")
	}
	lines = lines[1:]
	for _, field := range []struct {
		name string
		to   *string
	}{{"detail:", &f.Detail}, {"hint:", &f.Hint}} {
		if len(lines) == 0 {
			break
		}
		value, found := strings.CutPrefix(strings.TrimSpace(lines[0].text), field.name)
		if !found {
			continue
		}
		*field.to = strings.TrimSpace(value)
		if *field.to == "" {
			return nil, p.fail(lines[0].number, field.name+" needs a text")
		}
		lines = lines[1:]
	}
	if len(lines) > 0 {
		return nil, p.fail(lines[0].number, "expected detail: or hint: (in this order) or the next command")
	}
	if f.Match != Timeout && f.Text == "" {
		return nil, p.fail(b.Line, kind+": needs a text")
	}
	return f, nil
}

func (p *parser) text(b Block, text string) (*Text, error) {
	sql, err := p.statement(b, text)
	if err != nil {
		return nil, err
	}
	var expected strings.Builder
	for _, l := range p.lines(b.Body, true) {
		expected.WriteString(l.text + "\n")
	}
	return &Text{SQL: sql, Expected: strings.TrimRight(expected.String(), "\n") + "\n"}, nil
}

// shortLen bounds how much of a bad line a message shows.
const shortLen = 120

func short(s string) string {
	if r := []rune(s); len(r) > shortLen {
		s = string(r[:shortLen]) + "…"
	}
	return s
}
