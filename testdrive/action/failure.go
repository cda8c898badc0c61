package action

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tributary-db/tributary/testdrive/script"
)

// syntaxError is the SQLSTATE of a statement that cannot be parsed: it never gets better.
const syntaxError = "42601"

// runFailure runs a ! block: the statement must give the error.
func (m *Machine) runFailure(ctx context.Context, f *script.Failure, tries *int) error {
	sql, err := m.expand(f.SQL, nil)
	if err != nil {
		return err
	}
	if f.Match == script.Timeout {
		return m.mustTimeOut(ctx, sql)
	}
	want, err := m.expandFailure(f)
	if err != nil {
		return err
	}
	return m.retry(ctx, tries, func(ctx context.Context) (bool, error) {
		inside := m.main.inTransaction()
		res, err := m.main.query(ctx, sql)
		again := !script.FailsOnce(sql) && !inside && !unparsable(err)
		if err == nil {
			return again, &problem{"statement succeeded", "expected " + want.String() + "\nactual: " + res.shape()}
		}
		if ctx.Err() != nil {
			return false, &problem{"statement gave no error", describe(ctx, err)}
		}
		return again, want.compare(err, m.mask)
	})
}

// mustTimeOut holds if the statement still runs when its time is over.
func (m *Machine) mustTimeOut(ctx context.Context, sql string) error {
	tryCtx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	_, err := m.main.query(tryCtx, sql)
	switch {
	case tryCtx.Err() != nil && err != nil:
		return nil
	case err != nil:
		return &problem{"statement failed", "expected it to be still running after " + m.timeout.String() + "\n" +
			describeError(err)}
	}
	return &problem{"statement ended", "expected it to be still running after " + m.timeout.String()}
}

// wanted is an expected error with its variables replaced.
type wanted struct {
	match        script.Match
	text         string
	regex        *regexp.Regexp // for script.Regex
	detail, hint string
}

func (m *Machine) expandFailure(f *script.Failure) (*wanted, error) {
	w := &wanted{match: f.Match}
	var change func(string) string
	if f.Match == script.Regex {
		change = regexp.QuoteMeta
	}
	var err error
	if w.text, err = m.expand(f.Text, change); err != nil {
		return nil, err
	}
	if w.detail, err = m.expand(f.Detail, nil); err != nil {
		return nil, err
	}
	if w.hint, err = m.expand(f.Hint, nil); err != nil {
		return nil, err
	}
	if f.Match == script.Regex {
		if w.regex, err = regexp.Compile(w.text); err != nil {
			return nil, &problem{"malformed regular expression", err.Error()}
		}
	}
	return w, nil
}

func (w *wanted) String() string {
	var b strings.Builder
	switch w.match {
	case script.Contains:
		b.WriteString("an error that contains: ")
	case script.Exact:
		b.WriteString("the error: ")
	case script.Regex:
		b.WriteString("an error that matches: ")
	}
	b.WriteString(w.text)
	if w.detail != "" {
		b.WriteString("\nwith a detail that contains: " + w.detail)
	}
	if w.hint != "" {
		b.WriteString("\nwith a hint that contains: " + w.hint)
	}
	return b.String()
}

// compare holds an error against the expectation: its message, and detail and hint if they matter.
func (w *wanted) compare(err error, mask func(string) string) error {
	message, detail, hint := err.Error(), "", ""
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		message, detail, hint = pgErr.Message, pgErr.Detail, pgErr.Hint
	}
	message = mask(message)
	held := false
	switch w.match {
	case script.Contains:
		held = strings.Contains(message, w.text)
	case script.Exact:
		held = message == w.text
	case script.Regex:
		held = w.regex.MatchString(message)
	}
	held = held && strings.Contains(mask(detail), w.detail) && strings.Contains(mask(hint), w.hint)
	if held {
		return nil
	}
	return &problem{"error differs", fmt.Sprintf("expected %s\nactual: %s", w, mask(describeError(err)))}
}
