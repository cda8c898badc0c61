package slt

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/script"
)

// labelShown is how many rows of a result with a label are kept for a message.
const labelShown = 20

// answer is what a query gave, formatted.
type answer struct {
	columns []string
	values  []string // row by row
	rows    int
}

// query runs a query record, and as views if L3 is asked for.
func (e *execution) query(ctx context.Context, r record, q *query) error {
	session, err := e.session()
	if err != nil {
		return err
	}
	got, err := e.ask(ctx, session, r.sql, q, r.mode)
	if q.fails != nil {
		if err == nil {
			return errors.New("query succeeded\nexpected " + q.fails.String())
		}
		e.fillIn(r, "query", q.fails, err)
		if err := e.compareFailure(q.fails, err); err != nil {
			return err
		}
		return e.autoView(ctx, session, r, q, nil)
	}
	if err != nil {
		return fmt.Errorf("query failed\n%s", actualText(err))
	}
	got.arrange(q.sort, len(q.types))
	expected := &answer{values: q.values}
	expected.arrange(q.sort, len(q.types))
	q.values = expected.values
	if err := e.checkLabel(r, q, got); err != nil {
		return err
	}
	if err := e.compare(r, q, got); err != nil {
		return err
	}
	return e.autoView(ctx, session, r, q, got)
}

// ask runs a query through the extended protocol.
func (e *execution) ask(ctx context.Context, session *action.Session, sql string, q *query, m mode) (*answer, error) {
	conn, err := session.Conn(ctx)
	if err != nil {
		return nil, err
	}
	session.Note(sql)
	reader := conn.ExecParams(ctx, sql, nil, nil, nil, nil)
	a := &answer{}
	var oids []uint32
	for _, f := range reader.FieldDescriptions() {
		a.columns = append(a.columns, f.Name)
		oids = append(oids, f.DataTypeOID)
	}
	for reader.NextRow() {
		for i, v := range reader.Values() {
			letter := byte('T')
			if i < len(q.types) {
				letter = q.types[i]
			}
			a.values = append(a.values, e.replace(formatValue(letter, oids[i], v, m)))
		}
		a.rows++
	}
	if _, err := reader.Close(); err != nil {
		return nil, err
	}
	if q.fails == nil && len(a.columns) != len(q.types) {
		return nil, fmt.Errorf("the number of its columns is %d, the record says %d", len(a.columns), len(q.types))
	}
	return a, nil
}

// arrange sorts the values as the record says.
func (a *answer) arrange(s sortMode, columns int) {
	switch s {
	case rowSort:
		rows := slices.Collect(slices.Chunk(a.values, max(columns, 1)))
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, slices.Compare)
		a.values = slices.Concat(rows...)
	case valueSort:
		slices.Sort(a.values)
	case noSort:
	}
}

// digest is the hash of values, each ended by a line break.
func digest(values []string) string {
	h := md5.New()
	for _, v := range values {
		h.Write([]byte(v + "\n")) // A hash never fails to take bytes.
	}
	return hex.EncodeToString(h.Sum(nil))
}

// labelled is the first result with a label.
type labelled struct {
	digest string
	lines  []string // the result, as much of it as a message shows
	from   int      // the line of its record
}

// checkLabel holds a result against the first one of its label.
func (e *execution) checkLabel(r record, q *query, got *answer) error {
	if q.label == "" {
		return nil
	}
	now := labelled{digest: digest(got.values), from: r.line}
	now.lines = e.layout(got.values[:min(len(got.values), labelShown*len(q.types))], q, r.mode)
	first, seen := e.labels[q.label]
	if !seen {
		e.labels[q.label] = now
		return nil
	}
	if first.digest != now.digest {
		difference := fmt.Sprintf("the first %d rows are the same", labelShown)
		if !slices.Equal(first.lines, now.lines) {
			difference = action.Diff("line", first.lines, now.lines)
		}
		return fmt.Errorf("result differs from that of line %d, which has the same label %s\n%s", first.from, q.label, difference)
	}
	return nil
}

// compare holds the answer against the record, or writes it there.
func (e *execution) compare(r record, q *query, got *answer) error {
	problem := ""
	switch {
	case q.multiline:
		actual := strings.Join(got.values, "\n")
		if expected := strings.Join(q.values, "\n"); strings.TrimRight(actual, "\n") != strings.TrimRight(expected, "\n") {
			problem = action.Diff("line", strings.Split(expected, "\n"), strings.Split(actual, "\n"))
		}
	case q.colnames && got.rows > 0 && !slices.Equal(q.columns, fields(got.columns)):
		problem = action.Diff("line", []string{strings.Join(q.columns, " ")}, []string{strings.Join(got.columns, " ")})
	case q.hash != nil:
		actual := script.Hash{Count: len(got.values), MD5: digest(got.values)}
		if actual != *q.hash {
			problem = action.Diff("line", []string{q.hash.String()}, []string{actual.String()})
		}
	case !slices.Equal(q.values, got.values):
		problem = action.Diff("row", e.layout(q.values, q, r.mode), e.layout(got.values, q, r.mode))
	}
	if problem == "" {
		return nil
	}
	if e.o.Rewrite {
		e.edits = append(e.edits, edit{q.expected, e.expectation(r, q, got)})
		return nil
	}
	return errors.New("result differs\n" + problem)
}

// fields cuts names at blanks, as the names in a file are.
func fields(names []string) []string { return strings.Fields(strings.Join(names, " ")) }

// layout gives a result as a file's lines.
func (e *execution) layout(values []string, q *query, m mode) []string {
	columns := len(q.types)
	if m == standard {
		columns = 1
	}
	var lines []string
	for row := range slices.Chunk(values, columns) {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = escape(v, m, columns)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}

// expectation is what a rewritten record has below its statement.
func (e *execution) expectation(r record, q *query, got *answer) []string {
	var lines []string
	if !q.hasRows {
		lines = append(lines, separator)
	}
	if q.colnames && got.rows > 0 {
		lines = append(lines, strings.Join(got.columns, " "))
	}
	switch {
	case q.multiline:
		lines = append(lines, strings.Split(strings.TrimRight(strings.Join(got.values, "\n"), "\n"), "\n")...)
	case e.threshold > 0 && len(got.values) > e.threshold:
		lines = append(lines, script.Hash{Count: len(got.values), MD5: digest(got.values)}.String())
	default:
		lines = append(lines, e.layout(got.values, q, r.mode)...)
	}
	return lines
}
