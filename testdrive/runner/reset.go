package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/testdrive/action"
)

// Reset gives a server the state it had when it was new: no objects of users, no clusters but the first, settings at
// their defaults. Plain PostgreSQL gets schema public made anew and other schemas dropped; its settings belong to
// sessions.
func Reset(ctx context.Context, server *action.Server) error {
	address, err := server.SystemURL()
	if err != nil {
		return err
	}
	s, err := action.NewSession(address)
	if err != nil {
		return err
	}
	if server.Postgres {
		err = resetPostgres(ctx, s)
	} else {
		err = resetOwn(ctx, s)
	}
	return errors.Join(err, s.Close(ctx))
}

func resetPostgres(ctx context.Context, s *action.Session) error {
	schemas, err := s.Rows(ctx, "SELECT nspname FROM pg_catalog.pg_namespace ORDER BY nspname")
	if err != nil {
		return err
	}
	// Dropping says what went along; nobody wants to know.
	var statements strings.Builder
	statements.WriteString("SET client_min_messages = warning;")
	for _, row := range schemas {
		if !isSystemName(row[0]) {
			fmt.Fprintf(&statements, "DROP SCHEMA %s CASCADE;", quoteName(row[0]))
		}
	}
	statements.WriteString("CREATE SCHEMA public")
	return s.Exec(ctx, statements.String())
}

// firstCluster is the cluster that a new server has.
const firstCluster = "quickstart"

// firstDatabase is the database that a new server has.
const firstDatabase = "materialize"

func resetOwn(ctx context.Context, s *action.Session) error {
	if err := s.Exec(ctx, "ALTER SYSTEM RESET ALL"); err != nil {
		return err
	}
	drops, err := objectDrops(ctx, s)
	if err != nil {
		return err
	}
	for _, list := range []struct{ query, drop, keep string }{
		{"SELECT nspname FROM pg_catalog.pg_namespace ORDER BY nspname", "DROP SCHEMA IF EXISTS %s CASCADE", "public"},
		{"SELECT datname FROM pg_catalog.pg_database ORDER BY datname", "DROP DATABASE IF EXISTS %s CASCADE", firstDatabase},
		{"SELECT name FROM mz_catalog.mz_clusters ORDER BY name", "DROP CLUSTER IF EXISTS %s CASCADE", firstCluster},
	} {
		rows, err := s.Rows(ctx, list.query)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row[0] != list.keep && !isSystemName(row[0]) {
				drops = append(drops, fmt.Sprintf(list.drop, quoteName(row[0])))
			}
		}
	}
	for _, drop := range drops {
		if err := s.Exec(ctx, drop); err != nil {
			return fmt.Errorf("%s: %w", drop, err)
		}
	}
	return nil
}

// objectDrops lists a statement for each relation of users. What depends on one that was dropped before is gone
// already, hence IF EXISTS.
func objectDrops(ctx context.Context, s *action.Session) ([]string, error) {
	rows, err := s.Rows(ctx, `SELECT n.nspname, c.relname, c.relkind
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		ORDER BY c.oid`)
	if err != nil {
		return nil, err
	}
	var drops []string
	for _, row := range rows {
		if isSystemName(row[0]) {
			continue
		}
		kind := ""
		switch row[2] {
		case "r":
			kind = "TABLE"
		case "v":
			kind = "VIEW"
		case "m":
			kind = "MATERIALIZED VIEW"
		default:
			continue // Indexes go with what they are on.
		}
		drops = append(drops, fmt.Sprintf("DROP %s IF EXISTS %s.%s CASCADE", kind, quoteName(row[0]), quoteName(row[1])))
	}
	return drops, nil
}

// isSystemName spots schemas, databases and clusters that belong to the server.
func isSystemName(name string) bool {
	return name == "information_schema" || strings.HasPrefix(name, "pg_") || strings.HasPrefix(name, "mz_")
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
