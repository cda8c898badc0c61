package ast

func (q *Query) format(p *printer) {
	if q.With != nil {
		q.With.format(p)
		p.str(" ")
	}
	formatBody(p, q.Body)
	p.orderBy(" ORDER BY ", q.OrderBy)
	p.clause(" LIMIT ", q.Limit)
	p.clause(" OFFSET ", q.Offset)
	if q.AsOf != nil {
		p.str(" ")
		q.AsOf.format(p)
	}
}

// formatBody writes a body where one stands alone or on the left of a set operation; a Query is kept in
// parentheses.
func formatBody(p *printer, b QueryBody) {
	if q, ok := b.(*Query); ok {
		p.paren(q)
		return
	}
	b.format(p)
}

func (a *AsOf) format(p *printer) {
	p.str("AS OF ")
	p.when(a.AtLeast, "AT LEAST ")
	a.At.format(p)
}

func (s *Select) format(p *printer) {
	p.str("SELECT")
	if s.DistinctOn != nil {
		p.str(" DISTINCT ON (")
		p.exprs(s.DistinctOn)
		p.str(")")
	} else {
		p.when(s.Distinct, " DISTINCT")
	}
	p.when(len(s.Items) > 0, " ")
	p.items(s.Items)
	p.tables(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	if s.GroupBy != nil {
		p.str(" GROUP BY ")
		p.exprs(s.GroupBy)
	}
	p.clause(" HAVING ", s.Having)
	if s.Windows != nil {
		p.str(" WINDOW ")
		p.list(len(s.Windows), func(i int) {
			p.ident(s.Windows[i].Name)
			p.str(" AS ")
			s.Windows[i].Window.format(p)
		})
	}
	p.clause(" QUALIFY ", s.Qualify)
	p.options(" OPTIONS ", s.Options)
}

func (p *printer) items(items []SelectItem) {
	p.list(len(items), func(i int) {
		items[i].Expr.format(p)
		if a := items[i].Alias; a != "" {
			p.str(" AS ")
			p.ident(a)
		}
	})
}

func (p *printer) tables(lead string, ts []TableExpr) {
	if len(ts) > 0 {
		p.str(lead)
		p.list(len(ts), func(i int) { ts[i].format(p) })
	}
}

// setLevel is how strongly a body binds: INTERSECT before UNION and EXCEPT.
func setLevel(b QueryBody) int {
	if s, ok := b.(*SetOp); ok {
		if s.Kind == Intersect {
			return 1
		}
		return 0
	}
	return 2
}

func (s *SetOp) format(p *printer) {
	mine := setLevel(s)
	side := func(b QueryBody, atLeast int) {
		if setLevel(b) < atLeast {
			p.paren(b)
			return
		}
		formatBody(p, b)
	}
	side(s.Left, mine)
	p.str(" " + s.Kind.String() + " ")
	p.when(s.All, "ALL ")
	side(s.Right, mine+1)
}

func (v *Values) format(p *printer) {
	p.str("VALUES ")
	p.list(len(v.Rows), func(i int) {
		p.str("(")
		p.exprs(v.Rows[i])
		p.str(")")
	})
}

func (w *With) format(p *printer) {
	p.str("WITH ")
	p.when(w.Mutual, "MUTUALLY ")
	p.when(w.Recursive || w.Mutual, "RECURSIVE ")
	if len(w.Options) > 0 {
		p.options("", w.Options)
		p.str(" ")
	}
	p.list(len(w.CTEs), func(i int) { w.CTEs[i].format(p) })
}

func (c *CTE) format(p *printer) {
	p.ident(c.Name)
	if c.Columns != nil {
		p.str(" (")
		p.names(c.Columns)
		p.str(")")
	}
	if c.Defs != nil {
		p.str(" ")
		p.defs(c.Defs)
	}
	p.str(" AS ")
	p.when(c.Materialize == MaterializeAlways, "MATERIALIZED ")
	p.when(c.Materialize == MaterializeNever, "NOT MATERIALIZED ")
	p.paren(c.Query)
}

func (p *printer) defs(defs []ColumnDef) {
	p.str("(")
	p.list(len(defs), func(i int) { defs[i].format(p) })
	p.str(")")
}

func (a *Alias) format(p *printer) {
	p.str(" AS")
	if a.Name != "" {
		p.str(" ")
		p.ident(a.Name)
	}
	if a.Columns != nil {
		p.str(" (")
		p.names(a.Columns)
		p.str(")")
	}
	if a.Defs != nil {
		p.str(" ")
		p.defs(a.Defs)
	}
}

func (p *printer) alias(a *Alias) {
	if a != nil {
		a.format(p)
	}
}

func (t *TableRef) format(p *printer) {
	t.Name.format(p)
	p.alias(t.Alias)
}

func (t *Derived) format(p *printer) {
	p.when(t.Lateral, "LATERAL ")
	p.paren(t.Query)
	p.alias(t.Alias)
}

func (t *TableFunc) format(p *printer) {
	p.when(t.Lateral, "LATERAL ")
	p.when(t.RowsFrom, "ROWS FROM (")
	p.list(len(t.Calls), func(i int) {
		// What looks like a function may stand here as it is; CAST does, x::t does not.
		if c, ok := t.Calls[i].Call.(*Cast); ok {
			p.clause("CAST(", c.Arg)
			p.str(" AS ")
			c.Type.format(p)
			p.str(")")
		} else {
			t.Calls[i].Call.format(p)
		}
		if d := t.Calls[i].Defs; d != nil {
			p.str(" AS ")
			p.defs(d)
		}
	})
	p.when(t.RowsFrom, ")")
	p.when(t.Ordinality, " WITH ORDINALITY")
	p.alias(t.Alias)
}

func (j *Join) format(p *printer) {
	p.when(j.Alias != nil, "(")
	j.Left.format(p)
	p.str(" ")
	p.when(j.Natural, "NATURAL ")
	p.str(j.Kind.String() + " ")
	if right, ok := j.Right.(*Join); ok && right.Alias == nil {
		p.paren(right)
	} else {
		j.Right.format(p)
	}
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.str(" USING (")
		p.idents(j.Using)
		p.str(")")
		if j.UsingAlias != "" {
			p.str(" AS ")
			p.ident(j.UsingAlias)
		}
	}
	p.when(j.Alias != nil, ")")
	p.alias(j.Alias)
}
