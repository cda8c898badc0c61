package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/cmd/tributary/bench"
)

// runBench runs "tributary bench view-sink" and gives what it says.
func runBench(t *testing.T, args ...string) (out, progress string, err error) {
	t.Helper()
	cmd := rootCommand()
	var stdout, stderr bytes.Buffer
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SetArgs(append([]string{"bench", "view-sink", "--dir", t.TempDir()}, args...))
	err = cmd.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

// TestBenchMeasuresAllWays: the values that do not depend on the machine are as they must be, an interrupted run goes on,
// and drawings are made.
func TestBenchMeasuresAllWays(t *testing.T) {
	dir := t.TempDir()
	state, file, plots := filepath.Join(dir, "state"), filepath.Join(dir, "out.json"), filepath.Join(dir, "plots")
	args := []string{"--quick", "--table", "small,groups-32,idle,replicas,slow,hydrate-narrow,bulk", "--state", state}
	if _, _, err := runBench(t, args...); err != nil {
		t.Fatal(err)
	}
	// As if the run had been killed while it wrote its last cell.
	lines, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.LastIndexByte(lines[:len(lines)-1], '\n') + 5
	if err := os.WriteFile(state, lines[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	out, progress, err := runBench(t, append(args, "--json", file, "--plots", plots)...)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(progress, "\n"); n != 1 || !strings.HasPrefix(progress, "bulk, ") {
		t.Errorf("the run that went on measured\n%s", progress)
	}
	if !strings.Contains(out, "goal: objects put by an append at most 0.05: 0, which --quick cannot tell\n") {
		t.Errorf("the tables are\n%s", out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	has := map[string]float64{}
	for _, table := range r.Tables {
		if _, err := os.Stat(filepath.Join(plots, table.Name+".svg")); err != nil {
			t.Error(err)
		}
		for _, w := range table.Ways {
			for k, v := range w.Values {
				has[table.Name+"/"+w.Way+"/"+k] = v.Mean
			}
		}
	}
	for key, want := range map[string]float64{
		"small/baseline_per_worker/inline_parts": 8, "small/baseline_barrier/inline_parts": 1,
		"small/sharing off/inline_parts": 8, "small/sharing on/inline_parts": 1, "small/sharing on/puts": 0,
		"groups-32/baseline_barrier/inline_parts": 4, "groups-32/sharing on/inline_parts": 1,
		"slow/sharing on/object_parts":      1,
		"hydrate-narrow/sharing on/appends": 1, "hydrate-narrow/baseline_per_worker/object_parts": 8,
	} {
		if got, ok := has[key]; !ok || got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	for _, key := range []string{"hydrate-narrow/sharing on/cpu", "hydrate-narrow/sharing on/wait", "bulk/sharing off/cpu", "bulk/sharing off/append"} {
		if has[key] <= 0 {
			t.Errorf("%s is %v, which takes time", key, has[key])
		}
	}
}

// TestBenchRefusesWhatItCannotDo names what is wrong.
func TestBenchRefusesWhatItCannotDo(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(bad, []byte("no cell\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`there is no table "none"`: {"--table", "none"},
		bad + ":1: ":               {"--state", bad},
		"[full quick]":             {"--full", "--quick"},
		"-1 runs: from 1 to 1000":  {"--runs", "-1"},
		"1001 runs":                {"--runs", "1001"},
		`there is no table ""`:     {"--table", ""},
		"none/out.json":            {"--quick", "--table", "small", "--json", filepath.Join(filepath.Dir(bad), "none", "out.json")},
		bad + ": not a directory":  {"--quick", "--table", "small", "--plots", bad},
		"not a directory":          {"--quick", "--table", "small", "--dir", filepath.Join(bad, "none")},
	} {
		if _, progress, err := runBench(t, args...); err == nil || !strings.Contains(err.Error(), want) || progress != "" {
			t.Errorf("%v gives %v, want %s, before it measures\n%s", args, err, want, progress)
		}
	}
}
