package session

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tributary-db/tributary/planner/builtin"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/vec"
)

// onlyCatalog is a coordinator of which nothing but the catalog is asked.
type onlyCatalog struct {
	Coord
	snapshot *catalog.Snapshot
}

func (c onlyCatalog) Catalog() *catalog.Snapshot { return c.snapshot }

// TestEnvAnswersEverything asks every question there is, with arguments of every sort.
func TestEnvAnswersEverything(t *testing.T) {
	system := builtin.New()
	snapshot, _ := catalog.New(system.System(), 1)
	m := NewManager(Options{Coord: onlyCatalog{snapshot: snapshot}, System: system, Settings: settings.NewSet(Settings()...), Version: "1.2.3",
		Now: func() time.Time { return time.UnixMicro(1_700_000_000_000_000) }, Random: strings.NewReader(strings.Repeat("random", 10_000)),
		Log: slog.New(slog.DiscardHandler)})
	s, err := m.Connect(Client{User: "materialize", Database: "materialize"})
	if err != nil {
		t.Fatal(err)
	}
	e := s.newEnv(&statement{at: m.Now()}, snapshot)
	s.needSettings(e)
	for _, q := range scalar.Questions() {
		for _, arg := range []vec.Datum{vec.Null, vec.IntOf(0), vec.IntOf(1259), vec.IntOf(-1), scalar.Ask2(1259, 1), vec.StrOf(""), vec.StrOf("pg_class"),
			vec.StrOf(`"`), vec.StrOf("lower(text)"), vec.BoolOf(true)} {
			// Some arguments make no sense for some questions; all that is asked is that nothing breaks.
			_, _ = e.Ask(q, arg)
		}
	}
	for q, want := range map[scalar.Question]string{
		scalar.AskVersion: "PostgreSQL 15.0 on Tributary 1.2.3", scalar.AskCurrentUser: "materialize",
		scalar.AskCurrentDatabase: "materialize", scalar.AskCurrentSchema: "public",
	} {
		if got, err := e.Ask(q, vec.Null); err != nil || got.Str() != want {
			t.Errorf("question %d: %s, %v", q, got.GoString(), err)
		}
	}
	if got, _ := e.Ask(scalar.AskMzVersionNum, vec.Null); got.Int() != 10203 {
		t.Errorf("version number %d", got.Int())
	}
	if got, _ := e.Ask(scalar.AskSetting, vec.StrOf("timezone")); got.Str() != "UTC" {
		t.Errorf("setting %s", got.GoString())
	}
}
