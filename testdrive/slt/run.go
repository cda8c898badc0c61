package slt

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-db/tributary/testdrive/action"
	"github.com/tributary-db/tributary/testdrive/runner"
	"github.com/tributary-db/tributary/testdrive/script"
)

// maxShown bounds how many failures of one file are shown.
const maxShown = 20

// execution is the run of one file.
type execution struct {
	o    Options
	env  runner.Env
	file *file

	user     string                     // whose connection is used; empty: the URL's
	sessions map[string]*action.Session // by user, or by "conn=NAME"

	replaces  []*addReplace
	threshold int                 // results of more values are written as a hash; 0: never
	labels    map[string]labelled // the first result of each label
	views     int                 // how many have been made for L3

	errs    []error
	dropped int // failures past maxShown
	edits   []edit
}

// edit replaces expected lines.
type edit struct {
	span  script.Span
	lines []string
}

// errAbandon ends a file: what follows builds on what failed.
var errAbandon = errors.New("rest of the file is left out")

func runFile(ctx context.Context, o Options, env runner.Env) []error {
	f, err := parse(env.Name, env.Text)
	if err != nil {
		return []error{err}
	}
	e := &execution{
		o: o, env: env, file: f, sessions: map[string]*action.Session{}, labels: map[string]labelled{},
	}
	defer e.close(context.WithoutCancel(ctx))
	places := o.Interrupt.In(len(f.records), env.Random)
	for i, r := range f.records {
		if r.skip {
			continue
		}
		if _, stop := r.do.(*halt); stop {
			break
		}
		var err error
		if places.Due(i, e.idle) {
			err = e.restart(ctx)
		}
		if err == nil {
			err = e.record(ctx, r)
		}
		if ctx.Err() != nil {
			return append(e.errs, context.Cause(ctx))
		}
		if err == nil {
			continue
		}
		e.fail(r, err)
		if errors.Is(err, errAbandon) {
			break
		}
	}
	if e.dropped > 0 {
		e.errs = append(e.errs, fmt.Errorf("%s: %d more failures", env.Name, e.dropped))
	}
	if len(e.edits) > 0 {
		e.rewrite()
	}
	return e.errs
}

// idle says that no session would notice a restart of the server.
func (e *execution) idle() bool {
	for _, s := range e.sessions {
		if !s.Idle() {
			return false
		}
	}
	return true
}

// restart ends the server and starts it again.
func (e *execution) restart(ctx context.Context) error {
	call := e.env.Server.Process.Restart
	if e.o.Interrupt.Kill {
		call = e.env.Server.Process.Kill
	}
	err := call(ctx)
	for _, s := range e.sessions {
		s.Abandon(ctx)
	}
	if err != nil {
		return fmt.Errorf("restart of the server failed\n%w\n%w", err, errAbandon)
	}
	return nil
}

func (e *execution) fail(r record, err error) {
	if len(e.errs) >= maxShown {
		e.dropped++
		return
	}
	title, detail, _ := strings.Cut(err.Error(), "\n")
	text := fmt.Sprintf("%s:%d: %s", e.file.name, r.line, title)
	for _, part := range []string{r.sql, detail} {
		if part != "" {
			text += "\n" + indent(part)
		}
	}
	e.errs = append(e.errs, errors.New(text))
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("    "+l, " ")
	}
	return strings.Join(lines, "\n")
}

// record runs one record in its time. What takes longer is cancelled, and is no error that the file may expect.
func (e *execution) record(ctx context.Context, r record) error {
	recordCtx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	err := e.do(recordCtx, r)
	if recordCtx.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("record failed\nit was still running after %v\n%w", e.o.Timeout, errAbandon)
	}
	return err
}

// do runs one record of the closed set.
func (e *execution) do(ctx context.Context, r record) error {
	switch c := r.do.(type) {
	case *statement:
		return e.statement(ctx, r, c)
	case *query:
		return e.query(ctx, r, c)
	case *simple:
		return e.simple(ctx, r, c)
	case *copyFile:
		return e.copyFile(ctx, c)
	case *setUser:
		e.user = c.name
	case *resetServer:
		e.close(ctx)
		return runner.Reset(ctx, e.env.Server)
	case *addReplace:
		e.replaces = append(e.replaces, c)
	case *setThreshold:
		e.threshold = c.values
	default:
		panic(fmt.Sprintf("slt: unknown record %T", c))
	}
	return nil
}

// session gives the connection of the current user.
func (e *execution) session() (*action.Session, error) { return e.sessionOf(e.user, "", "") }

// sessionOf gives the connection of a user, or the one of a name.
func (e *execution) sessionOf(user, password, conn string) (*action.Session, error) {
	key := user
	if conn != "" {
		key = "conn=" + conn
	}
	if s, ok := e.sessions[key]; ok {
		return s, nil
	}
	address := e.env.Server.URL
	if user != "" {
		u, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("parse the server's URL: %w", err)
		}
		u.User = url.User(user)
		if password != "" {
			u.User = url.UserPassword(user, password)
		}
		address = u.String()
	}
	s, err := action.NewSession(address)
	if err != nil {
		return nil, err
	}
	e.sessions[key] = s
	return s, nil
}

// close ends all connections. The server drops what is open with them, so an error of saying good-bye changes nothing.
func (e *execution) close(ctx context.Context) {
	for _, s := range e.sessions {
		_ = s.Close(ctx)
	}
	clear(e.sessions)
}

// replace applies the file's replacements to a text that is compared.
func (e *execution) replace(text string) string {
	for _, r := range e.replaces {
		text = r.match.ReplaceAllString(text, r.with)
	}
	return text
}

// copyFile loads a CSV file that lies beside the script.
func (e *execution) copyFile(ctx context.Context, c *copyFile) error {
	path := c.path
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(e.file.name), path)
	}
	data, err := os.Open(path)
	if err != nil {
		return errors.Join(err, errAbandon)
	}
	s, err := e.session()
	if err == nil {
		err = s.CopyFrom(ctx, data, "COPY "+c.table+" FROM STDIN WITH (FORMAT csv)")
	}
	if err := errors.Join(err, data.Close()); err != nil {
		return fmt.Errorf("copy failed\n%s\n%w", actualText(err), errAbandon)
	}
	return nil
}

// rewrite writes the file with its edits.
func (e *execution) rewrite() {
	var out []string
	at := 0
	for _, edit := range e.edits {
		out = append(out, e.file.lines[at:edit.span.First]...)
		out = append(out, edit.lines...)
		at = edit.span.Last
	}
	out = append(out, e.file.lines[at:]...)
	info, err := os.Stat(e.file.name)
	if err == nil {
		err = os.WriteFile(e.file.name, []byte(strings.Join(out, "\n")+"\n"), info.Mode().Perm())
	}
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("rewrite: %w", err))
	}
}
