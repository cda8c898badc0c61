package ast

func (p *printer) with(w *With) {
	if w != nil {
		w.format(p)
		p.str(" ")
	}
}

func (p *printer) returning(items []SelectItem) {
	if items != nil {
		p.str(" RETURNING ")
		p.items(items)
	}
}

func (p *printer) asAlias(name string) {
	if name != "" {
		p.str(" AS ")
		p.ident(name)
	}
}

func (s *Insert) format(p *printer) {
	p.with(s.With)
	p.str("INSERT INTO ")
	s.Table.format(p)
	p.asAlias(s.Alias)
	p.columns(s.Columns)
	p.str(" ")
	if s.Source == nil {
		p.str("DEFAULT VALUES")
	} else {
		s.Source.format(p)
	}
	p.returning(s.Returning)
}

func (s *Update) format(p *printer) {
	p.with(s.With)
	p.str("UPDATE ")
	s.Table.format(p)
	p.asAlias(s.Alias)
	p.str(" SET ")
	p.list(len(s.Sets), func(i int) {
		a := s.Sets[i]
		p.when(a.Multi, "(")
		p.idents(a.Columns)
		p.when(a.Multi, ")")
		p.clause(" = ", a.Value)
	})
	p.tables(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	p.returning(s.Returning)
}

func (s *Delete) format(p *printer) {
	p.with(s.With)
	p.str("DELETE FROM ")
	s.Table.format(p)
	p.asAlias(s.Alias)
	p.tables(" USING ", s.Using)
	p.clause(" WHERE ", s.Where)
	p.returning(s.Returning)
}

func (s *Copy) format(p *printer) {
	p.str("COPY ")
	if s.Source != nil {
		p.paren(s.Source)
	} else {
		s.Table.format(p)
		p.columns(s.Columns)
	}
	p.when(s.From, " FROM ")
	p.when(!s.From, " TO ")
	switch s.Target {
	case CopyStdin:
		p.str("STDIN")
	case CopyStdout:
		p.str("STDOUT")
	case CopyFile:
		s.File.format(p)
	case CopyProgram:
		p.clause("PROGRAM ", s.File)
	}
	p.options(" WITH ", s.Options)
	p.clause(" WHERE ", s.Where)
}

func (s *Subscribe) format(p *printer) {
	p.str("SUBSCRIBE TO ")
	if s.Query != nil {
		p.paren(s.Query)
	} else {
		s.Relation.format(p)
	}
	p.options(" WITH ", s.Options)
	if s.AsOf != nil {
		p.str(" ")
		s.AsOf.format(p)
	}
	p.clause(" UP TO ", s.UpTo)
	if s.Envelope != EnvelopeNone {
		p.when(s.Envelope == EnvelopeUpsert, " ENVELOPE UPSERT (KEY (")
		p.when(s.Envelope == EnvelopeDebezium, " ENVELOPE DEBEZIUM (KEY (")
		p.idents(s.Key)
		p.str("))")
	}
	p.orderBy(" WITHIN TIMESTAMP ORDER BY ", s.Within)
}

func (s *Declare) format(p *printer) {
	p.str("DECLARE ")
	p.ident(s.Name)
	hold := ""
	for _, o := range s.Options {
		if o == "WITH HOLD" || o == "WITHOUT HOLD" {
			hold = " " + o
			continue
		}
		p.str(" " + o)
	}
	p.str(" CURSOR" + hold + " FOR ")
	s.Source.format(p)
}

func (s *Fetch) format(p *printer) {
	p.str("FETCH " + [...]string{
		FetchForward: "FORWARD ", FetchBackward: "BACKWARD ", FetchAbsolute: "ABSOLUTE ", FetchRelative: "RELATIVE ",
	}[s.Direction])
	if s.All {
		p.str("ALL")
	} else {
		p.int(s.Count)
	}
	p.str(" FROM ")
	p.ident(s.Name)
	p.options(" WITH ", s.Options)
}

func (s *CloseCursor) format(p *printer) { p.nameOrAll("CLOSE ", s.Name) }

func (p *printer) nameOrAll(lead, name string) {
	p.str(lead)
	if name == "" {
		p.str("ALL")
	} else {
		p.ident(name)
	}
}

func (s *Explain) format(p *printer) {
	p.str("EXPLAIN")
	switch s.Kind {
	case ExplainTimestamp:
		p.str(" TIMESTAMP")
	case ExplainFilterPushdown:
		p.str(" FILTER PUSHDOWN")
	case ExplainAnalyze:
		p.str(" ANALYZE")
	}
	plan := s.Kind == ExplainPlan && (s.Stage != "" || s.Format != "" || s.Statement == nil)
	if s.Stage != "" {
		p.str(" " + s.Stage)
	}
	p.when(plan, " PLAN")
	if plan || s.Kind != ExplainPlan {
		p.options(" WITH ", s.Options)
	} else {
		p.options(" ", s.Options)
	}
	if s.Format != "" {
		p.str(" AS " + s.Format)
	}
	p.when(plan || s.Kind != ExplainPlan, " FOR")
	p.str(" ")
	if s.Statement != nil {
		s.Statement.format(p)
		return
	}
	p.str(s.Object.String() + " ")
	s.Name.format(p)
}

func (s *SetVar) format(p *printer) {
	p.str("SET ")
	p.when(s.Scope == ScopeSession, "SESSION ")
	p.when(s.Scope == ScopeLocal, "LOCAL ")
	p.assignment(s.Name, s.Values)
}

func (p *printer) assignment(name string, values []Expr) {
	p.variable(name)
	if len(values) == 0 {
		p.str(" TO DEFAULT")
		return
	}
	p.str(" = ")
	p.list(len(values), func(i int) {
		if c, ok := values[i].(*Cast); ok { // SET TIME ZONE takes an interval, spelled as a literal
			p.str("INTERVAL ")
			c.Arg.format(p)
			p.when(c.Type.Fields != "", " "+c.Type.Fields)
			return
		}
		values[i].format(p)
	})
}

// variable writes the name of a setting, whose dots are part of it.
func (p *printer) variable(name string) {
	start := 0
	for i := range len(name) {
		if name[i] == '.' {
			p.ident(name[start:i])
			p.str(".")
			start = i + 1
		}
	}
	p.ident(name[start:])
}

func (p *printer) variableOrAll(lead, name string) {
	p.str(lead)
	if name == "" {
		p.str("ALL")
	} else {
		p.variable(name)
	}
}

func (s *ResetVar) format(p *printer) { p.variableOrAll("RESET ", s.Name) }

func (p *printer) modes(modes []TransactionMode) {
	p.list(len(modes), func(i int) {
		m := modes[i]
		switch {
		case m.Isolation != "":
			p.str("ISOLATION LEVEL " + upper(m.Isolation))
		case m.Access != "":
			p.str(m.Access)
		default:
			p.str(m.Deferrable)
		}
	})
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func (s *SetTransaction) format(p *printer) {
	p.str("SET ")
	p.when(s.Session, "SESSION CHARACTERISTICS AS ")
	p.str("TRANSACTION ")
	p.modes(s.Modes)
}

func (s *Begin) format(p *printer) {
	p.str("BEGIN")
	p.when(len(s.Modes) > 0, " ")
	p.modes(s.Modes)
}

func (s *Commit) format(p *printer) {
	p.str("COMMIT")
	p.when(s.Chain, " AND CHAIN")
}

func (s *Rollback) format(p *printer) {
	p.str("ROLLBACK")
	p.when(s.Chain, " AND CHAIN")
}

func (s *Prepare) format(p *printer) {
	p.str("PREPARE ")
	p.ident(s.Name)
	if s.Types != nil {
		p.str(" (")
		p.list(len(s.Types), func(i int) { s.Types[i].format(p) })
		p.str(")")
	}
	p.str(" AS ")
	s.Statement.format(p)
}

func (s *Execute) format(p *printer) {
	p.str("EXECUTE ")
	p.ident(s.Name)
	if s.Args != nil {
		p.str(" (")
		p.exprs(s.Args)
		p.str(")")
	}
}

func (s *Deallocate) format(p *printer) { p.nameOrAll("DEALLOCATE ", s.Name) }
func (s *Discard) format(p *printer)    { p.str("DISCARD " + s.What) }
func (s *ShowVar) format(p *printer)    { p.variableOrAll("SHOW ", s.Name) }

func (s *ShowObjects) format(p *printer) {
	p.str("SHOW " + s.Kind.Plural())
	from := func(lead string, n Name) {
		if n.Given() {
			p.str(lead)
			n.format(p)
		}
	}
	from(" FROM ", s.From)
	if s.Kind == KindColumn {
		from(" FROM ", s.On)
	} else {
		from(" ON ", s.On)
	}
	p.inCluster(s.Cluster)
	p.filter(s.Like, s.Where)
}

func (p *printer) inCluster(name string) {
	if name != "" {
		p.str(" IN CLUSTER ")
		p.ident(name)
	}
}

func (p *printer) filter(like *string, where Expr) {
	if like != nil {
		p.str(" LIKE " + QuoteString(*like))
	}
	p.clause(" WHERE ", where)
}

func (s *ShowCreate) format(p *printer) {
	p.str("SHOW ")
	p.when(s.Redacted, "REDACTED ")
	p.str("CREATE " + s.Kind.String() + " ")
	s.Name.format(p)
}

func (s *ShowPrivileges) format(p *printer) {
	p.str("SHOW ")
	p.when(s.Default, "DEFAULT ")
	p.when(s.Membership, "ROLE MEMBERSHIP")
	p.when(!s.Membership, "PRIVILEGES")
	if s.On != 0 {
		p.str(" ON " + s.On.Plural())
	}
	if s.For != nil {
		p.str(" FOR ")
		s.For.format(p)
	}
	p.filter(s.Like, s.Where)
}
