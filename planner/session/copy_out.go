package session

import (
	"slices"

	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/copydata"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
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
	f, err := copydata.ParseOptions(st.Options, false)
	if err != nil {
		return nil, err
	}
	r, err := s.copySource(stmt, st)
	if err != nil {
		return nil, err
	}
	cols := relColumns(r.Columns)
	for i, t := range r.Render(nil, slices.Repeat([]bool{f.Binary()}, len(cols))) {
		cols[i].Type = t
	}
	if err := f.SetColumns(cols); err != nil {
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
