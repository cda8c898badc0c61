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

// ParseEntryKey takes a key of Pebble's apart, EntryKey makes one.
func ParseEntryKey(k []byte) (key string, v Version, err error) { return parseEntryKey(k) }

func EntryKey(key string, v Version) []byte { return entryKey(nil, key, v) }
