package bind

import (
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
)

// Set-returning functions in a list of results: the row is repeated for each row that they give; several go
// side by side, the shorter ones filled up with NULLs.

// groupSets has the functions' arguments over the grouped row.
func (s *selection) groupSets(g *grouping) error {
	for i, f := range s.sets {
		args := make([]scalar.Expr, len(f.args))
		for k, a := range f.args {
			e, err := g.expr(a)
			if err != nil {
				return err
			}
			args[k] = e
		}
		s.sets[i].args = args
	}
	return nil
}

// placeSets puts the functions on the row, and their columns into expressions.
func (s *selection) placeSets(p *placing, exprs []scalar.Expr) ([]scalar.Expr, error) {
	if len(s.sets) == 0 {
		return exprs, nil
	}
	for i, f := range s.sets {
		s.sets[i].args = p.exprs(f.args)
	}
	if p.err != nil {
		return nil, p.err
	}
	at := make([]int, len(s.sets))
	if len(s.sets) == 1 {
		f := s.sets[0]
		at[0] = logical.Arity(p.rel)
		p.rel = logical.NewTableFunc(p.rel, f.fn, f.args, false, f.cols)
	} else {
		var parts []calledTable
		for _, f := range s.sets {
			args := make([]scalar.Expr, len(f.args))
			for k, a := range f.args {
				args[k] = inward(a)
			}
			parts = append(parts, calledTable{fn: f.fn, args: args, cols: f.cols, in: logical.NewUnit()})
		}
		next := logical.Arity(p.rel)
		for i, f := range s.sets {
			at[i] = next
			next += len(f.cols)
		}
		p.rel = logical.NewApply(logical.ApplyInner, p.rel, zip(parts))
	}
	out := make([]scalar.Expr, len(exprs))
	var err error
	for i, e := range exprs {
		out[i] = scalar.Rewrite(e, func(e scalar.Expr) scalar.Expr {
			c, ok := e.(*scalar.Col)
			if !ok || c.Index < setCol {
				return e
			}
			f := s.sets[c.Index-setCol]
			if len(f.cols) != 1 {
				err = pgerr.Unsupported("a function of several columns in a list of results")
				return e
			}
			return &scalar.Col{Index: at[c.Index-setCol], T: c.T}
		})
	}
	return out, err
}
