package ast

func (s *CreateDatabase) format(p *printer) {
	p.str("CREATE DATABASE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	p.ident(s.Name)
}

func (s *CreateSchema) format(p *printer) {
	p.str("CREATE SCHEMA ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.format(p)
}

func (c *Constraint) format(p *printer) {
	if c.Name != "" {
		p.str("CONSTRAINT ")
		p.ident(c.Name)
		p.str(" ")
	}
	switch c.Kind {
	case NotNull:
		p.str("NOT NULL")
	case Nullable:
		p.str("NULL")
	case DefaultValue:
		p.str("DEFAULT ")
		p.operand(c.Expr, levelOp)
	case PrimaryKey:
		p.str("PRIMARY KEY")
	case Unique:
		p.str("UNIQUE")
	case Check:
		p.str("CHECK ")
		p.paren(c.Expr)
	}
	p.columns(c.Columns)
}

func (d *ColumnDef) format(p *printer) {
	p.ident(d.Name)
	p.str(" ")
	d.Type.format(p)
	if d.Collation.Given() {
		p.str(" COLLATE ")
		d.Collation.format(p)
	}
	for i := range d.Constraints {
		p.str(" ")
		d.Constraints[i].format(p)
	}
}

func (s *CreateTable) format(p *printer) {
	p.str("CREATE ")
	p.when(s.Temporary, "TEMPORARY ")
	p.str("TABLE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.format(p)
	p.str(" (")
	p.list(len(s.Columns)+len(s.Constraints), func(i int) {
		if i < len(s.Columns) {
			s.Columns[i].format(p)
		} else {
			s.Constraints[i-len(s.Columns)].format(p)
		}
	})
	p.str(")")
	p.options(" WITH ", s.Options)
}

func (s *CreateView) format(p *printer) {
	p.str("CREATE ")
	p.when(s.OrReplace, "OR REPLACE ")
	p.when(s.Temporary, "TEMPORARY ")
	p.str("VIEW ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.format(p)
	p.columns(s.Columns)
	p.str(" AS ")
	s.Query.format(p)
}

func (r Refresh) format(p *printer) {
	p.str("REFRESH = ")
	switch r.Kind {
	case RefreshOnCommit:
		p.str("ON COMMIT")
	case RefreshAtCreation:
		p.str("AT CREATION")
	case RefreshAt:
		p.clause("AT ", r.At)
	case RefreshEvery:
		p.clause("EVERY ", r.At)
		p.clause(" ALIGNED TO ", r.AlignedTo)
	}
}

func (s *CreateMaterializedView) format(p *printer) {
	p.str("CREATE ")
	p.when(s.OrReplace, "OR REPLACE ")
	p.when(s.Replaces.Given(), "REPLACEMENT ")
	p.str("MATERIALIZED VIEW ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.format(p)
	if s.Replaces.Given() {
		p.str(" FOR ")
		s.Replaces.format(p)
	}
	p.columns(s.Columns)
	p.inCluster(s.Cluster)
	if s.Replica != "" {
		p.str(" REPLICA ")
		p.ident(s.Replica)
	}
	if n := len(s.Options); n+len(s.Refresh) > 0 {
		p.str(" WITH (")
		p.list(n+len(s.Refresh), func(i int) {
			if i < n {
				s.Options[i].format(p)
			} else {
				s.Refresh[i-n].format(p)
			}
		})
		p.str(")")
	}
	p.str(" AS ")
	s.Query.format(p)
}

func (s *CreateIndex) format(p *printer) {
	p.str("CREATE ")
	p.when(s.Unique, "UNIQUE ")
	p.when(s.Default, "DEFAULT ")
	p.str("INDEX ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	if s.Name.Name != "" {
		p.ident(s.Name.Name)
		p.str(" ")
	}
	if s.Cluster != "" {
		p.str("IN CLUSTER ")
		p.ident(s.Cluster)
		p.str(" ")
	}
	p.str("ON ")
	s.On.format(p)
	if s.Using != "" {
		p.str(" USING ")
		p.ident(s.Using)
	}
	if !s.Default {
		p.str(" (")
		p.list(len(s.Keys), func(i int) {
			// Only names and calls may be keys without parentheses of their own.
			switch e := s.Keys[i].Expr.(type) {
			case *Column, *Call, *Special:
				e.format(p)
			default:
				p.paren(e)
			}
			s.Keys[i].placement(p)
		})
		p.str(")")
	}
	p.options(" WITH ", s.Options)
}

func (s *CreateType) format(p *printer) {
	p.str("CREATE TYPE ")
	s.Name.format(p)
	p.str(" AS ")
	p.when(s.As == ListType, "LIST ")
	p.when(s.As == MapType, "MAP ")
	if s.As == NamedType {
		p.defs(s.Fields)
		return
	}
	p.str("(")
	p.list(len(s.Options), func(i int) {
		p.str(s.Options[i].Name + " = ")
		s.Options[i].Type.format(p)
	})
	p.str(")")
}

func (s *CreateCluster) format(p *printer) {
	p.str("CREATE CLUSTER ")
	p.ident(s.Name)
	p.str(" (")
	p.list(len(s.Options), func(i int) { s.Options[i].format(p) })
	if s.Replicas != nil {
		p.when(len(s.Options) > 0, ", ")
		p.str("REPLICAS (")
		p.list(len(s.Replicas), func(i int) {
			r := s.Replicas[i]
			p.ident(r.Name)
			p.str(" (")
			p.list(len(r.Options), func(i int) { r.Options[i].format(p) })
			p.str(")")
		})
		p.str(")")
	}
	p.str(")")
}

func (s *CreateClusterReplica) format(p *printer) {
	p.str("CREATE CLUSTER REPLICA ")
	MakeName(s.Cluster, s.Name).format(p)
	p.options(" ", s.Options)
}

func (s *CreateSource) format(p *printer) {
	p.str("CREATE SOURCE ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Name.format(p)
	p.inCluster(s.Cluster)
	p.str(" FROM LOAD GENERATOR " + s.Generator)
	p.options(" ", s.GenOptions)
	p.when(s.AllTables, " FOR ALL TABLES")
	if s.Tables != nil {
		p.str(" FOR TABLES (")
		p.list(len(s.Tables), func(i int) {
			s.Tables[i].Reference.format(p)
			if n := s.Tables[i].Name; n.Given() {
				p.str(" AS ")
				n.format(p)
			}
		})
		p.str(")")
	}
	p.options(" WITH ", s.Options)
}

// attributes writes the attributes of a role, whose values stand without a sign.
func (p *printer) attributes(as []Option) {
	for _, a := range as {
		p.str(" " + a.Name)
		p.clause(" ", a.Value)
	}
}

func (s *CreateRole) format(p *printer) {
	p.str("CREATE ROLE ")
	p.ident(s.Name)
	p.attributes(s.Attributes)
}

func (p *printer) behaviour(cascade, restrict bool) {
	p.when(cascade, " CASCADE")
	p.when(restrict, " RESTRICT")
}

func (s *Drop) format(p *printer) {
	p.str("DROP " + s.Kind.String() + " ")
	p.when(s.IfExists, "IF EXISTS ")
	p.objects(s.Names)
	p.behaviour(s.Cascade, s.Restrict)
}

func (s *DropOwned) format(p *printer) {
	p.str("DROP OWNED BY ")
	p.roles(s.Roles)
	p.behaviour(s.Cascade, s.Restrict)
}

func (s *ReassignOwned) format(p *printer) {
	p.str("REASSIGN OWNED BY ")
	p.roles(s.Roles)
	p.str(" TO ")
	s.To.format(p)
}

func (p *printer) alter(kind ObjectKind, ifExists bool, name Name) {
	p.str("ALTER " + kind.String() + " ")
	p.when(ifExists, "IF EXISTS ")
	name.format(p)
}

func (s *Rename) format(p *printer) {
	p.alter(s.Kind, s.IfExists, s.Name)
	p.str(" RENAME ")
	if s.Column != "" {
		p.str("COLUMN ")
		p.ident(s.Column)
		p.str(" ")
	}
	p.str("TO ")
	p.ident(s.To.Name)
}

func (s *Swap) format(p *printer) {
	p.alter(s.Kind, false, s.Name)
	p.str(" SWAP WITH ")
	p.ident(s.With.Name)
}

func (s *AlterOwner) format(p *printer) {
	p.alter(s.Kind, s.IfExists, s.Name)
	p.str(" OWNER TO ")
	s.Owner.format(p)
}

func (s *AlterOptions) format(p *printer) {
	p.alter(s.Kind, s.IfExists, s.Name)
	p.options(" SET ", s.Set)
	if s.Reset != nil {
		p.str(" RESET (")
		// The names of options are words, not identifiers.
		p.list(len(s.Reset), func(i int) { p.str(s.Reset[i].Name) })
		p.str(")")
	}
	p.options(" WITH ", s.With)
}

func (s *AlterCluster) format(p *printer) {
	p.alter(s.Kind, s.IfExists, s.Name)
	p.str(" SET CLUSTER ")
	p.ident(s.Cluster)
}

func (s *AddColumn) format(p *printer) {
	p.alter(KindTable, s.IfExists, s.Table)
	p.str(" ADD COLUMN ")
	p.when(s.IfNotExists, "IF NOT EXISTS ")
	s.Column.format(p)
}

func (s *ApplyReplacement) format(p *printer) {
	p.alter(KindMaterializedView, s.IfExists, s.Name)
	p.str(" APPLY REPLACEMENT ")
	s.Replacement.format(p)
}

func (s *AlterRole) format(p *printer) {
	p.str("ALTER ROLE ")
	s.Name.format(p)
	p.attributes(s.Attributes)
	if s.Set != nil {
		p.str(" ")
		s.Set.format(p)
	}
	if s.Reset != nil {
		p.str(" ")
		s.Reset.format(p)
	}
}

func (s *AlterSystem) format(p *printer) {
	p.str("ALTER SYSTEM ")
	if s.Reset {
		p.variableOrAll("RESET ", s.Name)
		return
	}
	p.str("SET ")
	p.assignment(s.Name, s.Values)
}

func (s *Comment) format(p *printer) {
	p.str("COMMENT ON " + s.Kind.String() + " ")
	s.Name.format(p)
	if s.Text == nil {
		p.str(" IS NULL")
	} else {
		p.str(" IS " + QuoteString(*s.Text))
	}
}

func (p *printer) privileges(revoke bool, ps []string) {
	p.when(!revoke, "GRANT ")
	p.when(revoke, "REVOKE ")
	p.when(len(ps) == 0, "ALL")
	p.list(len(ps), func(i int) { p.str(ps[i]) })
	p.str(" ON ")
}

func (p *printer) grantees(revoke bool, rs []Role) {
	p.when(!revoke, " TO ")
	p.when(revoke, " FROM ")
	p.roles(rs)
}

func (p *printer) within(schemas, databases []Name) {
	if schemas != nil {
		p.str(" IN SCHEMA ")
		p.objects(schemas)
	}
	if databases != nil {
		p.str(" IN DATABASE ")
		p.objects(databases)
	}
}

func (s *Grant) format(p *printer) {
	p.privileges(s.Revoke, s.Privileges)
	switch {
	case s.All:
		p.str("ALL " + s.Kind.Plural())
		p.within(s.InSchemas, s.InDatabases)
	case s.Kind == KindSystem:
		p.str("SYSTEM")
	default:
		p.str(s.Kind.String() + " ")
		p.objects(s.Names)
	}
	p.grantees(s.Revoke, s.Roles)
}

func (s *GrantRole) format(p *printer) {
	p.when(!s.Revoke, "GRANT ")
	p.when(s.Revoke, "REVOKE ")
	p.roles(s.Granted)
	p.grantees(s.Revoke, s.Roles)
}

func (s *AlterDefaultPrivileges) format(p *printer) {
	p.str("ALTER DEFAULT PRIVILEGES")
	p.when(s.ForAll, " FOR ALL ROLES")
	if s.For != nil {
		p.str(" FOR ROLE ")
		p.roles(s.For)
	}
	p.within(s.InSchemas, s.InDatabases)
	p.str(" ")
	p.privileges(s.Revoke, s.Privileges)
	p.str(s.Kind.Plural())
	p.grantees(s.Revoke, s.Roles)
}
