package action

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/tributary-db/tributary/testdrive/script"
)

// runQuery runs a > block: the rows count, not their order.
func (m *Machine) runQuery(ctx context.Context, b script.Block, q *script.Query, tries *int) error {
	sql, err := m.expand(q.SQL, nil)
	if err != nil {
		return err
	}
	columns, err := m.expandAll(q.Columns)
	if err != nil {
		return err
	}
	expected := make([][]string, len(q.Rows))
	for i, r := range q.Rows {
		if expected[i], err = m.expandAll(r); err != nil {
			return err
		}
	}
	slices.SortFunc(expected, slices.Compare)
	var last *result
	err = m.retry(ctx, tries, func(ctx context.Context) (bool, error) {
		inside := m.main.inTransaction()
		res, err := m.main.query(ctx, sql)
		if err != nil {
			last = nil
			return failedAgain(sql, inside, err), &problem{"statement failed", describe(ctx, err) + m.expectedRows(b, q, err)}
		}
		for _, r := range res.rows {
			for i := range r {
				r[i] = m.mask(r[i])
			}
		}
		slices.SortFunc(res.rows, slices.Compare)
		last = res
		problem := compareRows(q, columns, expected, res)
		if problem == nil {
			return false, nil
		}
		if m.indented(b) {
			problem.detail += indentHint
		}
		return !script.Once(sql), problem
	})
	if err != nil && m.o.Rewrite && last != nil {
		var names []string
		if q.Columns != nil {
			names = last.columns
		}
		edit := m.file.RowsEdit(b, names, last.rows)
		if q.Hash != nil {
			edit = m.file.HashEdit(b, names, hashRows(last.rows))
		}
		m.edits = append(m.edits, edit)
		return nil
	}
	return err
}

// failedAgain says whether a statement that failed is tried again. What cannot be parsed never gets better; what failed
// inside a transaction fails for another reason from then on.
func failedAgain(sql string, inside bool, err error) bool {
	return !script.Once(sql) && !inside && !unparsable(err)
}

// unparsable says that the server could make nothing of the statement's text.
func unparsable(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == syntaxError
}

// indentHint helps who did not indent the second line of a statement by two spaces, which then is a row.
const indentHint = "\nThe lines below it are taken for rows: lines of the statement are indented by two spaces."

// indented says that the line below the statement begins with a blank, but not with two.
func (m *Machine) indented(b script.Block) bool {
	if b.Body.First == b.Body.Last {
		return false
	}
	line := m.file.Lines[b.Body.First]
	return strings.TrimSpace(line) != "" && (line[0] == ' ' || line[0] == '\t')
}

// expectedRows says what a statement that failed should have given.
func (m *Machine) expectedRows(b script.Block, q *script.Query, err error) string {
	switch {
	case q.Hash != nil:
		return "\nexpected " + q.Hash.String()
	case len(q.Rows) == 0:
		return ""
	}
	text := "\nexpected 1 row: " + script.FormatRow(q.Rows[0])
	if n := len(q.Rows); n > 1 {
		text = fmt.Sprintf("\nexpected %d rows, the first: %s", n, script.FormatRow(q.Rows[0]))
	}
	if m.indented(b) || unparsable(err) && strings.Contains(err.Error(), "at end of input") {
		text += indentHint
	}
	return text
}

// compareRows is nil if the rows are the expected ones.
func compareRows(q *script.Query, columns []string, expected [][]string, actual *result) *problem {
	if q.Columns != nil && !slices.Equal(columns, actual.columns) {
		return &problem{"columns differ",
			Diff("line", []string{script.FormatRow(columns)}, []string{script.FormatRow(actual.columns)})}
	}
	if q.Hash != nil {
		got := hashRows(actual.rows)
		if got != *q.Hash {
			return &problem{"rows differ", Diff("line", []string{q.Hash.String()}, []string{got.String()})}
		}
		return nil
	}
	if slices.EqualFunc(expected, actual.rows, slices.Equal) {
		return nil
	}
	return &problem{"rows differ", Diff("row", formatRows(expected), formatRows(actual.rows))}
}

// hashRows digests rows that are sorted already.
func hashRows(rows [][]string) script.Hash {
	h := md5.New()
	for _, r := range rows {
		for _, cell := range r {
			h.Write([]byte(cell)) // A hash never fails to take bytes.
		}
	}
	return script.Hash{Count: len(rows), MD5: hex.EncodeToString(h.Sum(nil))}
}

func formatRows(rows [][]string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = script.FormatRow(r)
	}
	return out
}

// The size of a diff that a person reads.
const (
	diffContext  = 3
	diffMaxLines = 60
)

// Diff shows what is missing (-) and what is too much (+).
func Diff(noun string, expected, actual []string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: terminated(expected), B: terminated(actual),
		FromFile: fmt.Sprintf("expected (%s)", count(len(expected), noun, noun+"s")),
		ToFile:   fmt.Sprintf("actual (%s)", count(len(actual), noun, noun+"s")),
		Context:  diffContext,
	})
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > diffMaxLines {
		more := len(lines) - diffMaxLines
		lines = append(lines[:diffMaxLines], fmt.Sprintf("… and %d more lines", more))
	}
	return strings.Join(lines, "\n")
}

func terminated(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l + "\n"
	}
	return out
}
