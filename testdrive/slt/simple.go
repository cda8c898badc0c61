package slt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/testdrive/action"
)

// simple sends one message of the simple protocol and compares all that comes back.
func (e *execution) simple(ctx context.Context, r record, c *simple) error {
	user := c.user
	if user == "" {
		user = e.user
	}
	if user == action.SystemUser && e.env.Server.Postgres {
		user = ""
	}
	session, err := e.sessionOf(user, c.password, c.conn)
	if err != nil {
		return err
	}
	conn, err := session.Conn(ctx)
	if err != nil {
		return err
	}
	session.Note(r.sql)
	var lines []string
	reader := conn.Exec(ctx, r.sql)
	for reader.NextResult() {
		result := reader.ResultReader()
		first := len(lines)
		for result.NextRow() {
			cells := make([]string, len(result.Values()))
			for i, v := range result.Values() {
				cells[i] = "NULL"
				if v != nil {
					cells[i] = string(v)
				}
			}
			lines = append(lines, strings.Split(strings.Join(cells, ","), "\n")...)
		}
		tag, err := result.Close()
		if err != nil {
			continue // The reader gives the same error at its end.
		}
		if c.sort == rowSort {
			slices.Sort(lines[first:])
		}
		lines = append(lines, fmt.Sprintf("COMPLETE %d", tag.RowsAffected()))
	}
	if err := reader.Close(); err != nil {
		lines = append(lines, strings.Split(errorText(err), "\n")...)
	}
	for i, l := range lines {
		lines[i] = e.replace(l)
	}
	if slices.Equal(c.lines, lines) {
		return nil
	}
	if e.o.Rewrite {
		span := c.expected
		edited := lines
		if span.First == span.Last && e.file.lines[span.First-1] != separator {
			edited = append([]string{separator}, lines...)
		}
		e.edits = append(e.edits, edit{span, edited})
		return nil
	}
	return errors.New("result differs\n" + action.Diff("line", c.lines, lines))
}
