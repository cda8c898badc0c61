package action

import (
	"context"
	"strings"

	"github.com/tributary-db/tributary/testdrive/script"
)

// runText runs a ? block: one row of one text, compared as it is.
func (m *Machine) runText(ctx context.Context, b script.Block, c *script.Text, tries *int) error {
	sql, err := m.expand(c.SQL, nil)
	if err != nil {
		return err
	}
	expected, err := m.expand(c.Expected, nil)
	if err != nil {
		return err
	}
	var last *string
	err = m.retry(ctx, tries, func(ctx context.Context) (bool, error) {
		inside := m.main.inTransaction()
		last = nil
		res, err := m.main.query(ctx, sql)
		if err != nil {
			return failedAgain(sql, inside, err), &problem{"statement failed", describe(ctx, err)}
		}
		if len(res.rows) != 1 || len(res.columns) != 1 {
			return !script.Once(sql), &problem{"statement must give one row of one column", res.shape()}
		}
		actual := strings.TrimRight(m.mask(res.rows[0][0]), "\n") + "\n"
		last = &actual
		if actual == expected {
			return false, nil
		}
		return !script.Once(sql), &problem{"text differs", Diff("line", lines(expected), lines(actual))}
	})
	if err != nil && m.o.Rewrite && last != nil {
		m.edits = append(m.edits, m.file.TextEdit(b, *last))
		return nil
	}
	return err
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
