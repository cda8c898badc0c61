package bind_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/planner/bind/bindtest"
)

func TestGoldens(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		w := bindtest.New(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return w.Golden(d) })
	})
}
