package catalog

import (
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/parser"
)

// CreateSQL is a statement that makes the item anew: full names, and nothing left to the session's
// settings. It reads back as it stands. It is "" for the system's tables, which no statement makes.
func (s *Snapshot) CreateSQL(it *Item) string {
	var b strings.Builder
	name := s.FullName(it)
	switch it.Kind {
	case Table:
		fmt.Fprintf(&b, "CREATE TABLE %s (", name)
		for i, c := range it.Rel.Cols {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(ast.QuoteIdent(c.Name) + " " + c.Type.String())
			if !c.Nullable {
				b.WriteString(" NOT NULL")
			}
			if d := it.Default(i); d != "" {
				b.WriteString(" DEFAULT " + d)
			}
		}
		b.WriteString(")")
		if it.Retain != 0 {
			b.WriteString(" WITH (" + retainSQL(it) + ")")
		}
	case View, SystemView:
		fmt.Fprintf(&b, "CREATE VIEW %s %s AS %s", name, columnList(it), s.SQL(it.Query))
	case MaterializedView:
		retain := ""
		if it.Retain != 0 {
			retain = ", " + retainSQL(it)
		}
		fmt.Fprintf(&b, "CREATE MATERIALIZED VIEW %s %s IN CLUSTER %s WITH (REFRESH = ON COMMIT%s) AS %s",
			name, columnList(it), ast.QuoteIdent(s.Cluster(it.Cluster).Name), retain, s.SQL(it.Query))
	case Index:
		fmt.Fprintf(&b, "CREATE INDEX %s IN CLUSTER %s ON %s USING arrangement (%s)",
			ast.QuoteIdent(it.Name), ast.QuoteIdent(s.Cluster(it.Cluster).Name), s.FullName(s.Item(it.On)), s.KeySQL(it))
	case SystemTable:
		return ""
	default:
		panic(fmt.Sprintf("catalog: create sql of %v", it.Kind))
	}
	return b.String()
}

// retainSQL is the option that says how much history is kept.
func retainSQL(it *Item) string {
	return "RETAIN HISTORY = FOR '" + adt.Interval{Micros: it.Retain.Microseconds()}.String() + "'"
}

func columnList(it *Item) string {
	names := make([]string, len(it.Rel.Cols))
	for i, c := range it.Rel.Cols {
		names[i] = ast.QuoteIdent(c.Name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// KeySQL is an index's key as SQL, without the brackets around it.
func (s *Snapshot) KeySQL(it *Item) string {
	parts := make([]string, len(it.Key))
	for i := range it.Key {
		parts[i] = s.KeyPartSQL(it, i)
	}
	return strings.Join(parts, ", ")
}

// KeyPartSQL is one part of an index's key as CREATE INDEX takes it: in parentheses unless it is a column or a call.
func (s *Snapshot) KeyPartSQL(it *Item, i int) string {
	k := it.Key[i]
	if k.Column >= 0 {
		return ast.QuoteIdent(s.Item(it.On).Rel.Cols[k.Column].Name)
	}
	e, err := parser.Expr(k.SQL)
	if err == nil {
		switch e.(type) {
		case *ast.Call, *ast.Special:
			return k.SQL
		}
	}
	return "(" + k.SQL + ")"
}
