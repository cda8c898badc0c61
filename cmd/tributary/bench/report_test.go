package bench

import (
	"strings"
	"testing"
)

// TestReport: means, spreads and goals of cells that are known.
func TestReport(t *testing.T) {
	b := &bench{runs: 3}
	for i, p50 := range []float64{10, 40, 20} {
		b.cells = append(b.cells,
			Cell{Table: "x", Way: on.name, Run: i, Values: values{"p50": p50, "puts": 0.5}, Others: float64(i) / 100},
			Cell{Table: "x", Way: off.name, Run: i, Values: values{"p50": 20, "puts": 8}},
			Cell{Table: "another", Way: on.name, Run: i, Values: values{"p50": 1000}, Others: 1})
	}
	r := b.report([]table{{name: "x", title: "some title", ways: []way{off, on}, columns: []column{{"p50", "p50 ms", 1}},
		goals: []goal{{"p50", on.name, off.name, 1.03, "ratio"}, {"puts", on.name, "", 0.4, "puts"}, {"puts", on.name, "", 0.5, "as hoped"}}}},
		"some host")
	var out strings.Builder
	if err := r.text(&out); err != nil {
		t.Fatal(err)
	}
	// The medians are 20 and 20.
	want := `some host; 3 x 0s, 0 MB: mean (least to greatest)

x: some title; others used up to 2% of the processors
        sharing off          sharing on
p50 ms  20.0 (20.0 to 20.0)  23.3 (10.0 to 40.0)
goal: ratio at most 1.03: 1, met
goal: puts at most 0.4: 0.5, MISSED
goal: as hoped at most 0.5: 0.5, met
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestRowNumber reads the lines of a subscription.
func TestRowNumber(t *testing.T) {
	for line, want := range map[string]int{"1796\t1\t42\tabc": 42, "1\t1\t0\t": 0, "1\t1\tx\ty": -1, "1\t1\t5": -1, "": -1} {
		n, err := rowNumber([]byte(line))
		if err != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%q gives %d, want %d", line, n, want)
		}
	}
}

// TestInTurn: each run has all ways, and what comes right before a way is not always the same.
func TestInTurn(t *testing.T) {
	ways := []way{{name: "a"}, {name: "b"}, {name: "c"}}
	for run, want := range []string{"abc", "cba", "bca", "acb", "cab", "bac", "abc"} {
		got := ""
		for _, w := range inTurn(ways, run) {
			got += w.name
		}
		if got != want {
			t.Errorf("run %d has %s, want %s", run, got, want)
		}
	}
	if ways[0].name != "a" || ways[2].name != "c" {
		t.Errorf("the ways were changed: %v", ways)
	}
}
