package slt

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/testdrive/script"
)

// ourNames are what skipif and onlyif may call us.
var ourNames = []string{"postgresql", "materialize", "tributary"}

// autoViewName is what skipif calls a run of queries as views: the record runs, but not as a view.
const autoViewName = "auto-view"

// parser walks over the lines; at is the index of the first unread one.
type parser struct {
	file *file
	at   int
	mode mode
	skip bool // the next record, by skipif or onlyif
	// noView: the next record, by skipif auto-view
	noView bool
}

// parse reads a file; name is for messages only.
func parse(name, text string) (*file, error) {
	f := &file{name: name}
	if text != "" {
		f.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	for i, l := range f.lines {
		f.lines[i] = strings.TrimSuffix(l, "\r")
	}
	p := &parser{file: f}
	for p.at < len(f.lines) {
		if blank(f.lines[p.at]) || strings.HasPrefix(f.lines[p.at], "#") {
			p.at++
			continue
		}
		if err := p.record(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// record reads one directive and what belongs to it.
func (p *parser) record() error {
	r := record{line: p.at + 1, mode: p.mode}
	line := p.file.lines[p.at]
	words := strings.Fields(line)
	p.at++
	var err error
	switch words[0] {
	case "statement":
		r.do, err = p.statement(&r, words, line)
	case "query":
		r.do, err = p.query(&r, words, line)
	case "simple":
		r.do, err = p.simple(&r, words)
	case "copy":
		if len(words) != 3 {
			return p.file.errorf(r.line, "copy needs a table and a file")
		}
		r.do = &copyFile{table: words[1], path: words[2]}
	case "skipif", "onlyif":
		return p.condition(r, words)
	case "mode":
		return p.setMode(r, words)
	case "subtest", "kv-batch-size", "skip_on_retry":
		return nil
	case "let":
		p.sql()
		return nil
	default:
		r.do, err = p.setting(r, words, line)
	}
	if err != nil {
		return err
	}
	r.skip = r.skip || p.skip
	if q, ok := r.do.(*query); ok {
		q.noView = q.noView || p.noView
	}
	p.skip, p.noView = false, false
	p.file.records = append(p.file.records, r)
	return nil
}

// setting reads the directives of one line.
func (p *parser) setting(r record, words []string, line string) (command, error) {
	switch words[0] {
	case "user":
		if len(words) < 2 {
			return nil, p.file.errorf(r.line, "user needs a name")
		}
		return &setUser{name: words[1]}, nil
	case "reset-server":
		return &resetServer{}, nil
	case "halt":
		return &halt{}, nil
	case "hash-threshold":
		if len(words) == 2 {
			if n, err := strconv.Atoi(words[1]); err == nil && n >= 0 {
				return &setThreshold{values: n}, nil
			}
		}
		return nil, p.file.errorf(r.line, "hash-threshold needs a number")
	case "replace":
		return p.replace(r, line)
	}
	if words[0] == separator {
		return nil, p.file.errorf(r.line, "there is no statement above this line: a blank line ends a record")
	}
	return nil, p.file.errorf(r.line, "unknown directive %s", words[0])
}

// replacement separates pattern and replacement: two blanks or more, so that a pattern may have single ones.
var replacement = regexp.MustCompile(`^replace\s+(.+?)(?:\s{2,}|\t)(.*)$`)

func (p *parser) replace(r record, line string) (command, error) {
	m := replacement.FindStringSubmatch(line)
	if m == nil {
		return nil, p.file.errorf(r.line, "replace needs a pattern, two blanks and a replacement")
	}
	re, err := regexp.Compile(m[1])
	if err != nil {
		return nil, p.file.errorf(r.line, "malformed pattern: %v", err)
	}
	return &addReplace{match: re, with: m[2]}, nil
}

func (p *parser) condition(r record, words []string) error {
	if len(words) < 2 {
		return p.file.errorf(r.line, "%s needs a name", words[0])
	}
	if words[1] == autoViewName {
		p.noView = p.noView || words[0] == "skipif"
		return nil
	}
	ours := slices.Contains(ourNames, words[1])
	p.skip = p.skip || ours == (words[0] == "skipif")
	return nil
}

func (p *parser) setMode(r record, words []string) error {
	switch {
	case len(words) == 2 && words[1] == "standard":
		p.mode = standard
	case len(words) == 2 && words[1] == "cockroach":
		p.mode = cockroach
	default:
		return p.file.errorf(r.line, "mode must be standard or cockroach")
	}
	return nil
}

// separator stands between a statement and its expected result.
const separator = "----"

// sql reads a statement: up to a blank line, the separator or the end.
func (p *parser) sql() string {
	first := p.at
	for p.at < len(p.file.lines) && !blank(p.file.lines[p.at]) && p.file.lines[p.at] != separator {
		p.at++
	}
	return strings.TrimSpace(strings.Join(p.file.lines[first:p.at], "\n"))
}

func (p *parser) needSQL(r *record) error {
	r.sql = p.sql()
	if r.sql == "" {
		return p.file.errorf(r.line, "statement is missing")
	}
	return nil
}

func (p *parser) statement(r *record, words []string, line string) (command, error) {
	if err := p.needSQL(r); err != nil {
		return nil, err
	}
	s := &statement{}
	kind := ""
	if len(words) > 1 {
		kind = words[1]
	}
	switch kind {
	case "ok":
	case "count":
		if len(words) < 3 {
			return nil, p.file.errorf(r.line, "statement count needs a number")
		}
		n, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return nil, p.file.errorf(r.line, "statement count needs a number, not %q", words[2])
		}
		s.count = &n
	case "error":
		var err error
		if s.fails, err = p.failure(r, line); err != nil {
			return nil, err
		}
	default:
		return nil, p.file.errorf(r.line, "statement must be ok, count or error")
	}
	return s, nil
}

var failureLine = regexp.MustCompile(`^(?:statement|query)\s+error\s*(?:pgcode\s+(\S+)\s*)?(.*)$`)

// failure reads what follows "statement error" or "query error". A PostgreSQL error record may repeat its text after a
// separator; it is read over.
func (p *parser) failure(r *record, line string) (*failure, error) {
	m := failureLine.FindStringSubmatch(line)
	if m == nil {
		return nil, p.file.errorf(r.line, "malformed expected error")
	}
	f := &failure{code: m[1], text: strings.TrimSpace(m[2])}
	var err error
	if f.match, err = regexp.Compile(f.text); err != nil {
		return nil, p.file.errorf(r.line, "malformed pattern: %v", err)
	}
	if p.atSeparator() {
		p.at++
		p.resultLines()
	}
	return f, nil
}

func (p *parser) atSeparator() bool {
	return p.at < len(p.file.lines) && p.file.lines[p.at] == separator
}

// resultLines reads an expected result: up to a blank line.
func (p *parser) resultLines() (lines []string, span script.Span) {
	span.First = p.at
	for p.at < len(p.file.lines) && !blank(p.file.lines[p.at]) {
		p.at++
	}
	span.Last = p.at
	return p.file.lines[span.First:span.Last], span
}

// multiline reads an expected result that may have blank lines: up to a line "EOF". Without one the records below would
// be taken for the result, and be lost when it is rewritten.
func (p *parser) multiline(r *record) (lines []string, span script.Span, err error) {
	n := slices.Index(p.file.lines[p.at:], "EOF")
	if n < 0 {
		return nil, span, p.file.errorf(r.line, "multiline needs a line EOF at the end of the result")
	}
	span = script.Span{First: p.at, Last: p.at + n}
	p.at = span.Last + 1
	return p.file.lines[span.First:span.Last], span, nil
}

var optionArgs = regexp.MustCompile(`\([^)]*\)`)

func (p *parser) query(r *record, words []string, line string) (command, error) {
	if err := p.needSQL(r); err != nil {
		return nil, err
	}
	if len(words) < 2 {
		return nil, p.file.errorf(r.line, "query needs column types or error")
	}
	q := &query{}
	if words[1] == "error" {
		var err error
		q.fails, err = p.failure(r, line)
		return q, err
	}
	q.types = words[1]
	if i := strings.IndexFunc(q.types, func(c rune) bool { return !strings.ContainsRune("TIRFBO", c) }); i >= 0 {
		return nil, p.file.errorf(r.line, "unknown column type in %s", q.types)
	}
	if len(words) > 2 {
		for option := range strings.SplitSeq(optionArgs.ReplaceAllString(words[2], ""), ",") {
			if !q.option(r, option) {
				return nil, p.file.errorf(r.line, "unknown option %s", option)
			}
		}
	}
	if len(words) > 3 && !strings.HasPrefix(words[3], "#") {
		q.label = words[3]
	}
	return q, p.result(r, q)
}

// option sets one option of a query, or says that there is none of that name.
func (q *query) option(r *record, name string) bool {
	switch name {
	case "nosort":
		q.sort = noSort
	case "rowsort", "partialsort":
		q.sort = rowSort
	case "valuesort":
		q.sort = valueSort
	case "colnames":
		q.colnames = true
	case "multiline":
		q.multiline = true
	case "retry":
	case "noticetrace":
		r.skip = true
	case "noview":
		q.noView = true
	default:
		return false
	}
	return true
}

// result reads the expected rows of a query.
func (p *parser) result(r *record, q *query) error {
	q.expected = script.Span{First: p.at, Last: p.at}
	if !p.atSeparator() {
		return nil
	}
	q.hasRows = true
	p.at++
	if q.multiline {
		lines, span, err := p.multiline(r)
		q.expected = span
		if len(lines) > 0 {
			q.values = []string{strings.Join(lines, "\n")}
		}
		return err
	}
	lines, span := p.resultLines()
	q.expected = span
	if q.colnames && len(lines) > 0 {
		q.columns = strings.Fields(lines[0])
		lines = lines[1:]
	}
	if len(lines) == 1 {
		if h, ok := parseHash(lines[0]); ok {
			q.hash = &h
			return nil
		}
	}
	if r.mode == standard {
		for _, l := range lines {
			q.values = append(q.values, unescape(l))
		}
		return nil
	}
	for i, l := range lines {
		cells := []string{strings.TrimSpace(l)}
		if len(q.types) != 1 {
			cells = strings.Fields(l)
		}
		if len(cells) != len(q.types) {
			return p.file.errorf(q.expected.First+i+1, "row has %d of %d values", len(cells), len(q.types))
		}
		for _, c := range cells {
			q.values = append(q.values, unescape(c))
		}
	}
	return nil
}

var hashLine = regexp.MustCompile(`^(\d+) values hashing to ([0-9a-f]{32})$`)

func parseHash(line string) (script.Hash, bool) {
	m := hashLine.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return script.Hash{}, false
	}
	n, err := strconv.Atoi(m[1])
	return script.Hash{Count: n, MD5: m[2]}, err == nil
}

// simpleOptions are those of the form key=value.
func (p *parser) simple(r *record, words []string) (command, error) {
	if err := p.needSQL(r); err != nil {
		return nil, err
	}
	s := &simple{}
	multiline := false
	if len(words) > 1 {
		for option := range strings.SplitSeq(words[1], ",") {
			key, value, _ := strings.Cut(option, "=")
			switch key {
			case "conn":
				s.conn = value
			case "user":
				s.user = value
			case "password":
				s.password = value
			case "rowsort":
				s.sort = rowSort
			case "multiline":
				multiline = true
			default:
				return nil, p.file.errorf(r.line, "unknown option %s", option)
			}
		}
	}
	s.expected = script.Span{First: p.at, Last: p.at}
	if !p.atSeparator() {
		return s, nil
	}
	p.at++
	if multiline {
		var err error
		s.lines, s.expected, err = p.multiline(r)
		return s, err
	}
	s.lines, s.expected = p.resultLines()
	return s, nil
}
