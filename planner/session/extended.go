package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tributary-db/tributary/planner/copydata"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// prepared is a prepared statement, of the protocol's or of PREPARE's.
type prepared struct {
	name string
	stmt parser.Statement // its AST is nil if the text was empty
	// params are the types of the parameters; cols the result's columns, nil if it has no rows.
	params  []types.T
	cols    []Column
	fromSQL bool
	at      time.Time
}

// portal is a prepared statement with arguments, ready to be run.
type portal struct {
	name    string
	of      *prepared
	args    *arguments
	formats []int16
	// reader has the rows that a limit has left, once it has been run; tag makes its tag.
	reader *blockReader
	tag    func(rows int64) string
	result *Result
	ran    bool
}

// arguments are the values of a statement's parameters.
type arguments struct {
	types  []types.T
	values []vec.Datum
	// cols is what the statement was said to give; nil if nothing was said.
	cols []Column
	said bool
}

// inner gives the arguments for a query inside of the statement, of whose columns nothing was said.
func (a *arguments) inner() *arguments {
	if a == nil {
		return nil
	}
	return &arguments{types: a.types, values: a.values}
}

// Limits of what a session keeps for its client.
const (
	// MaxPrepared bounds a session's prepared statements: a client that never closes any must hear of it.
	MaxPrepared = 10_000
	// MaxPortals bounds its open portals and cursors.
	MaxPortals = 1_000
)

// Prepare is the protocol's Parse: a statement under a name, with the types that the client gives for its
// parameters (0: to be found out).
func (s *Session) Prepare(ctx context.Context, name, sql string, oids []types.OID) error {
	return s.guard(ctx, sql, func(stmt *statement) error {
		if name != "" && s.prepared[name] != nil {
			return pgerr.Newf(pgerr.DuplicatePreparedStatement, "prepared statement %q already exists", name)
		}
		list, err := s.parse(sql)
		if err != nil {
			return err
		}
		if len(list) > 1 {
			return pgerr.New(pgerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
		}
		p := &prepared{name: name, at: stmt.at}
		if len(list) == 1 {
			p.stmt = list[0]
		}
		for _, oid := range oids {
			t := types.TUnknown
			if oid != 0 {
				if !types.Known(oid) {
					return pgerr.Newf(pgerr.UndefinedObject, "type with OID %d does not exist", oid)
				}
				t = types.Of(oid)
			}
			p.params = append(p.params, t)
		}
		return s.keep(p)
	})
}

// keep describes a prepared statement and keeps it under its name.
func (s *Session) keep(p *prepared) error {
	if len(s.prepared) >= MaxPrepared {
		return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "more than %d prepared statements", MaxPrepared)
	}
	if p.stmt.AST != nil {
		if s.tx != nil && s.tx.failed && !endsTxn(p.stmt.AST) {
			return aborted()
		}
		var err error
		if p.params, p.cols, err = s.describe(p.stmt.AST, p.params); err != nil {
			return err
		}
	}
	s.prepared[p.name] = p
	return nil
}

// guard runs a step of the extended protocol that is not the execution of a statement.
func (s *Session) guard(ctx context.Context, text string, step func(stmt *statement) error) error {
	stmt, err := s.begin(ctx, text, nil)
	if err == nil {
		err = step(stmt)
		s.end(stmt)
	}
	if err != nil {
		s.failTxn()
	}
	return err
}

// Described is what a prepared statement takes and gives.
type Described struct {
	Params  []types.T
	Columns []Column
	// Formats are the formats of the columns, as Bind gave them; nil for a statement.
	Formats []int16
}

// DescribeStatement says what a prepared statement takes and gives.
func (s *Session) DescribeStatement(name string) (*Described, error) {
	p, err := s.statement(name)
	if err != nil {
		s.failTxn()
		return nil, err
	}
	return &Described{Params: p.params, Columns: p.cols}, nil
}

func (s *Session) statement(name string) (*prepared, error) {
	if p := s.prepared[name]; p != nil {
		return p, nil
	}
	if name == "" {
		return nil, pgerr.New(pgerr.InvalidStatementName, "unnamed prepared statement does not exist")
	}
	return nil, pgerr.Newf(pgerr.InvalidStatementName, "prepared statement %q does not exist", name)
}

// Binding is what the protocol's Bind says.
type Binding struct {
	Portal, Statement string
	// Params are the values, nil for NULL; ParamFormats their formats: none, one for all, or one each.
	Params       [][]byte
	ParamFormats []int16
	// Formats are those of the result's columns, likewise.
	Formats []int16
}

// Bind makes a portal of a prepared statement. What b points to is not kept.
func (s *Session) Bind(ctx context.Context, b *Binding) error {
	return s.guard(ctx, "", func(stmt *statement) error {
		p, err := s.statement(b.Statement)
		if err != nil {
			return err
		}
		if s.tx != nil && s.tx.failed && (p.stmt.AST == nil || !endsTxn(p.stmt.AST)) {
			return aborted()
		}
		if b.Portal != "" && s.portals[b.Portal] != nil {
			return pgerr.Newf(pgerr.DuplicateCursor, "cursor %q already exists", b.Portal)
		}
		if len(s.portals)+len(s.cursors) >= MaxPortals {
			return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "more than %d portals and cursors", MaxPortals)
		}
		args, err := readArguments(p, b)
		if err != nil {
			return err
		}
		if n := len(b.Formats); n > 1 && n != len(p.cols) {
			return pgerr.Newf(pgerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", n, len(p.cols))
		}
		s.closePortal(b.Portal)
		s.needTxn()
		s.portals[b.Portal] = &portal{name: b.Portal, of: p, args: args, formats: slices.Clone(b.Formats)}
		return nil
	})
}

func readArguments(p *prepared, b *Binding) (*arguments, error) {
	if len(b.Params) != len(p.params) {
		return nil, pgerr.Newf(pgerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(b.Params), p.name, len(p.params))
	}
	if n := len(b.ParamFormats); n > 1 && n != len(b.Params) {
		return nil, pgerr.Newf(pgerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", n, len(b.Params))
	}
	args := &arguments{types: p.params, cols: p.cols, said: true}
	for i, value := range b.Params {
		if value == nil {
			args.values = append(args.values, vec.Null)
			continue
		}
		t := p.params[i]
		to := vec.New(t.Kind(), 1)
		format := int16(0)
		switch len(b.ParamFormats) {
		case 0:
		case 1:
			format = b.ParamFormats[0]
		default:
			format = b.ParamFormats[i]
		}
		var err error
		switch format {
		case 0:
			if err = copydata.CheckText(value); err == nil {
				err = row.ParseText(t, value, &to)
			}
		case 1:
			err = row.ParseBinary(t, value, &to)
		default:
			err = pgerr.Newf(pgerr.InvalidParameterValue, "unsupported format code: %d", format)
		}
		if err != nil {
			return nil, err
		}
		args.values = append(args.values, to.Datum(0))
	}
	return args, nil
}

// DescribePortal says what a portal gives.
func (s *Session) DescribePortal(name string) (*Described, error) {
	p := s.portals[name]
	if p == nil {
		s.failTxn()
		return nil, noPortal(name)
	}
	return &Described{Columns: p.of.cols, Formats: p.formats}, nil
}

func noPortal(name string) error {
	return pgerr.Newf(pgerr.InvalidCursorName, "portal %q does not exist", name)
}

// Execute runs a portal, or runs it on, for at most limit rows (0: all). last says that a Sync follows, so that the
// transaction ends with this statement if nothing else is in it. The formats are those of the result's columns. A nil
// Result is that of an empty statement.
func (s *Session) Execute(ctx context.Context, name string, limit int64, last bool) (*Result, []int16, error) {
	p := s.portals[name]
	if p == nil {
		s.failTxn()
		return nil, nil, noPortal(name)
	}
	if p.of.stmt.AST == nil {
		return nil, nil, nil
	}
	if p.ran {
		r, err := s.resume(ctx, p, limit)
		return r, p.formats, err
	}
	if limit < 0 {
		limit = 0
	}
	r, err := s.start1(ctx, p.of.stmt, last, p.args)
	if err != nil {
		return nil, nil, err
	}
	p.ran = true
	r.limit, r.portal = limit, p
	r.commit = last
	p.reader, p.tag, p.result = r.rows, r.tag, r
	return r, p.formats, nil
}

// resume runs a portal on.
func (s *Session) resume(ctx context.Context, p *portal, limit int64) (*Result, error) {
	stmt, err := s.begin(ctx, p.of.stmt.Text, p.of.stmt.AST)
	if err != nil {
		s.failTxn()
		return nil, err
	}
	old := p.result
	r := &Result{Columns: old.Columns, CopyOut: old.CopyOut, Stream: old.Stream, s: s, stmt: stmt, rows: p.reader, tag: p.tag,
		limit: max(limit, 0), portal: p}
	if p.reader == nil {
		if old.rows == nil {
			s.end(stmt)
			s.failTxn()
			return nil, pgerr.Newf(pgerr.ObjectNotInPrerequisiteState, "portal %q cannot be run", p.name)
		}
		r.rows = &blockReader{rows: &fixedRows{}}
	}
	p.result = r
	return r, nil
}

// ClosePrepared forgets a prepared statement; one that is not there is forgotten already.
func (s *Session) ClosePrepared(name string) { delete(s.prepared, name) }

// ClosePortal forgets a portal; one that is not there is forgotten already.
func (s *Session) ClosePortal(name string) { s.closePortal(name) }

func (s *Session) closePortal(name string) {
	if p := s.portals[name]; p != nil {
		p.reader.close()
		delete(s.portals, name)
	}
}

func (s *Session) closePortals() {
	for _, name := range slices.Sorted(maps.Keys(s.portals)) {
		s.closePortal(name)
	}
}

// Sync ends what the messages since the last Sync have begun: an implicit transaction is committed.
func (s *Session) Sync(ctx context.Context) error {
	if s.tx == nil || !s.tx.implicit {
		return nil
	}
	return s.guard(ctx, "", func(stmt *statement) error { return s.commit(stmt.ctx) })
}

// prepareSQL is PREPARE.
func (s *Session) prepareSQL(stmt *statement, st *ast.Prepare) error {
	if s.prepared[st.Name] != nil {
		return pgerr.Newf(pgerr.DuplicatePreparedStatement, "prepared statement %q already exists", st.Name)
	}
	p := &prepared{name: st.Name, stmt: parser.Statement{AST: st.Statement, Text: stmt.text}, fromSQL: true, at: stmt.at}
	for _, t := range st.Types {
		typ, err := s.resolveType(t)
		if err != nil {
			return err
		}
		p.params = append(p.params, typ)
	}
	return s.keep(p)
}

// executeSQL is EXECUTE.
func (s *Session) executeSQL(stmt *statement, st *ast.Execute) (*Result, error) {
	p, err := s.statement(st.Name)
	if err != nil {
		return nil, err
	}
	if len(st.Args) != len(p.params) {
		return nil, pgerr.Newf(pgerr.SyntaxError, "wrong number of parameters for prepared statement %q", st.Name).
			WithDetail("Expected %d parameters but got %d.", len(p.params), len(st.Args))
	}
	args := &arguments{types: p.params, cols: p.cols, said: true}
	for i, e := range st.Args {
		v, err := s.constant(stmt, e, p.params[i])
		if err != nil {
			return nil, err
		}
		args.values = append(args.values, v)
	}
	inner := *stmt
	inner.ast = p.stmt.AST
	return s.run(&inner, args)
}

// deallocate is DEALLOCATE.
func (s *Session) deallocate(st *ast.Deallocate) error {
	if st.Name == "" {
		clear(s.prepared)
		return nil
	}
	if _, err := s.statement(st.Name); err != nil {
		return err
	}
	delete(s.prepared, st.Name)
	return nil
}
