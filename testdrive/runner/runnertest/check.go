// Package runnertest shows that scripts check what they seem to check: it runs them through a proxy that spoils one result,
// and counts those that notice.
package runnertest

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// detectedShare is how many of the files must fail when one of their results is wrong: else the checks do not check.
const detectedShare = 0.95

// Check runs each file through an honest proxy, under which it must hold, and again through one that spoils a result that
// a seed picks. The results before number first belong to whoever runs the files.
func Check(t *testing.T, files []string, first int, run func(t *testing.T, path string, s Spoil) (output string, ok bool)) {
	noticed := 0
	for i, path := range files {
		honest := Spoil{Journal: filepath.Join(t.TempDir(), "honest")}
		if out, ok := run(t, path, honest); !ok {
			t.Errorf("fails through an honest proxy: %s", out)
			continue
		}
		results, _ := honest.read(t)
		for len(results) > 0 && results[0] < first {
			results = results[1:]
		}
		if len(results) == 0 {
			t.Logf("no result to spoil in %s", path)
			continue
		}
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		s := Spoil{
			Journal: filepath.Join(t.TempDir(), "spoilt"), Target: results[rnd.IntN(len(results))], How: rnd.IntN(mutations),
		}
		if _, ok := run(t, path, s); ok {
			_, what := s.read(t)
			t.Logf("not noticed in %s: %s", path, what)
			continue
		}
		noticed++
	}
	t.Logf("%d of %d files noticed a wrong result", noticed, len(files))
	if float64(noticed) < detectedShare*float64(len(files)) {
		t.Errorf("only %d of %d", noticed, len(files))
	}
}
