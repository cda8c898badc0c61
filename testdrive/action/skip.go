package action

import (
	"context"
	"strings"
)

// skipIf is $ skip-if: if the query says true, everything up to skip-end or the end of the file is left out.
func skipIf(m *Machine, ctx context.Context, c *call) error {
	if m.skipping {
		return &problem{"malformed action", "skip-if inside a skipped region"}
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	res, err := m.main.query(ctx, strings.Join(c.body, "\n"))
	if err != nil {
		return &problem{"statement failed", describe(ctx, err)}
	}
	if len(res.rows) != 1 || len(res.columns) != 1 || res.rows[0][0] != "true" && res.rows[0][0] != "false" {
		return &problem{"statement must give true or false, once", res.shape()}
	}
	m.skipping = res.rows[0][0] == "true"
	return nil
}

// skipEnd is $ skip-end.
func skipEnd(m *Machine, _ context.Context, _ *call) error {
	m.skipping = false
	return nil
}
