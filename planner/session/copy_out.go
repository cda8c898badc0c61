package session

import (
	"bytes"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/vec"
)

// copy is COPY.
func (s *Session) copy(stmt *statement, st *ast.Copy) (*Result, error) {
	switch st.Target {
	case ast.CopyFile:
		return nil, pgerr.Unsupported("COPY from and to files on the server").
			WithHint(`psql's \copy command works for anyone.`).At(st.Position())
	case ast.CopyProgram:
		return nil, pgerr.Unsupported("COPY PROGRAM").At(st.Position())
	}
	if st.From {
		return s.copyIn(stmt, st)
	}
	f, err := copyFormat(st.Options, false)
	if err != nil {
		return nil, err
	}
	r, err := s.copySource(stmt, st)
	if err != nil {
		return nil, err
	}
	if err := f.bindColumns(r.Columns); err != nil {
		r.rows.close()
		return nil, err
	}
	r.CopyOut, r.tag = f, counted("COPY")
	return r, nil
}

// copySource starts the query whose rows are copied out.
func (s *Session) copySource(stmt *statement, st *ast.Copy) (*Result, error) {
	switch src := st.Source.(type) {
	case *ast.Query:
		return s.query(stmt, src, nil)
	case *ast.Subscribe:
		return s.subscribe(stmt, src, nil)
	case *ast.Insert, *ast.Update, *ast.Delete:
		r, err := s.write(stmt, src, nil)
		if err == nil && r.rows == nil {
			return nil, pgerr.New(pgerr.FeatureNotSupported, "COPY query must have a RETURNING clause").At(src.Position())
		}
		return r, err
	case nil:
		return s.queryOf(stmt, nil, func(e *bind.Env) (*bind.Query, error) { return bind.CopyTo(e, st) })
	}
	return nil, pgerr.Unsupported("COPY of this statement").At(st.Source.Position())
}

// Header says whether the columns' names come first.
func (f *CopyFormat) Header() bool { return f.header }

// AppendHeader writes the line of the columns' names.
func (f *CopyFormat) AppendHeader(to []byte) []byte {
	for i, c := range f.cols {
		if i > 0 {
			to = append(to, f.delim)
		}
		if f.csv {
			to = f.appendQuoted(to, []byte(c.Name), false)
		} else {
			to = f.appendEscaped(to, []byte(c.Name))
		}
	}
	return append(to, '\n')
}

// AppendRow writes row i of a block as a line.
func (f *CopyFormat) AppendRow(to []byte, b *vec.Block, i int) []byte {
	for c := range b.Cols {
		if c > 0 {
			to = append(to, f.delim)
		}
		v := &b.Cols[c]
		if v.IsNull(i) {
			to = append(to, f.null...)
			continue
		}
		f.scratch = row.AppendText(f.scratch[:0], f.cols[c].Type, v, i)
		if f.csv {
			to = f.appendQuoted(to, f.scratch, f.quoteCols[c])
		} else {
			to = f.appendEscaped(to, f.scratch)
		}
	}
	return append(to, '\n')
}

// appendEscaped writes a value in text format.
func (f *CopyFormat) appendEscaped(to, value []byte) []byte {
	from := 0
	for i, c := range value {
		var escape byte
		switch c {
		case '\b':
			escape = 'b'
		case '\f':
			escape = 'f'
		case '\n':
			escape = 'n'
		case '\r':
			escape = 'r'
		case '\t':
			escape = 't'
		case '\v':
			escape = 'v'
		case '\\', f.delim:
			escape = c
		default:
			continue
		}
		to = append(to, value[from:i]...)
		to = append(to, '\\', escape)
		from = i + 1
	}
	return append(to, value[from:]...)
}

// appendQuoted writes a value in csv format, with quotes if it would not read back without.
func (f *CopyFormat) appendQuoted(to, value []byte, force bool) []byte {
	alone := len(f.cols) == 1 && string(value) == `\.`
	if !force && !alone && string(value) != f.null && !bytes.ContainsAny(value, "\r\n") &&
		bytes.IndexByte(value, f.delim) < 0 && bytes.IndexByte(value, f.quote) < 0 {
		return append(to, value...)
	}
	to = append(to, f.quote)
	for _, c := range value {
		if c == f.quote || c == f.escape {
			to = append(to, f.escape)
		}
		to = append(to, c)
	}
	return append(to, f.quote)
}
