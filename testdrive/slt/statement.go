package slt

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/script"
)

// statement runs a statement record; several statements in one run one by one.
func (e *execution) statement(ctx context.Context, r record, s *statement) error {
	session, err := e.session()
	if err != nil {
		return err
	}
	var affected int64
	for _, sql := range script.Split(r.sql) {
		if pretended(sql) {
			continue
		}
		tag, err := execute(ctx, session, sql)
		if err != nil && lenient(sql, err) {
			err = nil
		}
		if err != nil && s.fails == nil {
			return fmt.Errorf("statement failed\n%s\n%w", actualText(err), errAbandon)
		}
		if err != nil {
			e.fillIn(r, "statement", s.fails, err)
			return e.compareFailure(s.fails, err)
		}
		affected = tag.RowsAffected()
	}
	switch {
	case s.fails != nil && !pretended(r.sql):
		return errors.New("statement succeeded\nexpected " + s.fails.String())
	case s.count != nil && *s.count != affected:
		return fmt.Errorf("count differs\nexpected %d, actual %d\n%w", *s.count, affected, errAbandon)
	}
	return nil
}

// pretended names statements of other systems that have no effect on results; files expect them to succeed, or to fail
// for reasons of their own.
func pretended(sql string) bool {
	words := script.Words(sql, 2)
	if len(words) == 0 {
		return false
	}
	return words[0] == "REINDEX" || len(words) == 2 && words[0] == "CREATE" && words[1] == "UNIQUE"
}

// lenient forgives a SET or RESET of a setting that only another system has.
func lenient(sql string, err error) bool {
	words := script.Words(sql, 1)
	var pgErr *pgconn.PgError
	return len(words) == 1 && (words[0] == "SET" || words[0] == "RESET") && errors.As(err, &pgErr) &&
		strings.Contains(pgErr.Message, "unrecognized configuration parameter")
}

// syntaxError is the SQLSTATE of a statement that cannot be parsed.
const syntaxError = "42601"

// execute runs one statement. A CREATE TABLE that cannot be parsed is tried again without CockroachDB's inline
// indexes and column families.
func execute(ctx context.Context, session *action.Session, sql string) (pgconn.CommandTag, error) {
	conn, err := session.Conn(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	session.Note(sql)
	tag, err := conn.ExecParams(ctx, sql, nil, nil, nil, nil).Close()
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == syntaxError {
		if plain, changed := plainTable(sql); changed {
			return conn.ExecParams(ctx, plain, nil, nil, nil, nil).Close()
		}
	}
	return tag, err
}

// plainTable drops INDEX and FAMILY items from a CREATE TABLE.
func plainTable(sql string) (string, bool) {
	words := script.Words(sql, 2)
	open, end := strings.IndexByte(sql, '('), strings.LastIndexByte(sql, ')')
	if len(words) < 2 || words[0] != "CREATE" || words[1] != "TABLE" || open < 0 || end < open {
		return sql, false
	}
	var kept []string
	changed := false
	for _, item := range topLevelItems(sql[open+1 : end]) {
		first := script.Words(item, 2)
		if len(first) > 0 && (first[0] == "INDEX" || first[0] == "FAMILY" || len(first) > 1 && first[1] == "INDEX") {
			changed = true
			continue
		}
		kept = append(kept, item)
	}
	return sql[:open+1] + strings.Join(kept, ",") + sql[end:], changed
}

// topLevelItems cuts at commas outside brackets and quotes.
func topLevelItems(text string) []string {
	var items []string
	depth, begin := 0, 0
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			items = append(items, text[begin:i])
			begin = i + 1
		}
	}
	return append(items, text[begin:])
}

// errorText is the text that patterns of expected errors are held against.
func errorText(err error) string {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err.Error()
	}
	text := "db error: ERROR: " + pgErr.Message
	if pgErr.Detail != "" {
		text += "\nDETAIL: " + pgErr.Detail
	}
	if pgErr.Hint != "" {
		text += "\nHINT: " + pgErr.Hint
	}
	return text
}

// actualText is errorText as a message shows it: with the SQLSTATE.
func actualText(err error) string {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err.Error()
	}
	message, rest, more := strings.Cut(errorText(err), "\n")
	message += " (SQLSTATE " + pgErr.Code + ")"
	if more {
		message += "\n" + rest
	}
	return message
}

func (f *failure) String() string {
	text := "an error"
	if f.code != "" {
		text += " of SQLSTATE " + f.code
	}
	if f.text != "" {
		text += " that matches: " + f.text
	}
	return text
}

// fillIn writes code and message into a record that only says that there is an error, if the file is being rewritten.
func (e *execution) fillIn(r record, kind string, f *failure, err error) {
	var pgErr *pgconn.PgError
	if !e.o.Rewrite || f.code != "" || f.text != "" || !errors.As(err, &pgErr) {
		return
	}
	message, _, _ := strings.Cut(pgErr.Message, "\n")
	directive := fmt.Sprintf("%s error pgcode %s %s", kind, pgErr.Code, regexp.QuoteMeta(message))
	e.edits = append(e.edits, edit{script.Span{First: r.line - 1, Last: r.line}, []string{directive}})
}

func (e *execution) compareFailure(f *failure, err error) error {
	code := ""
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		code = pgErr.Code
	}
	if f.match.MatchString(e.replace(errorText(err))) && (f.code == "" || !e.o.CheckCodes || f.code == code) {
		return nil
	}
	return fmt.Errorf("error differs\nexpected %s\nactual: %s", f, e.replace(actualText(err)))
}
