package consensus

import "testing"

// Setting gives what a session of the store has for a parameter of PostgreSQL's.
func (p *Postgres) Setting(tb testing.TB, name string) string {
	tb.Helper()
	var value string
	if err := p.pool.QueryRow(tb.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
		tb.Fatal(err)
	}
	return value
}
