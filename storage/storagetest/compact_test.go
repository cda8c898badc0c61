package storagetest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// TestACompactionOfUnknownOutcomeLosesNothing: what must be kept when nobody can tell whether the state names a
// compaction's objects or still the old ones, is both. The next process knows, and its sweep removes those of the others.
func TestACompactionOfUnknownOutcomeLosesNothing(t *testing.T) {
	const pass = storagetest.Pass
	for name, c := range map[string]struct {
		// first is what becomes of the compaction's commit, later of all commits after it.
		first, later storagetest.Verdict
		// stops says that the process is told to stop while it tries to find out.
		stops bool
		// happened says whether the state names the new objects in the end; unknown, whether the process cannot tell.
		happened, unknown bool
	}{
		"done and found out":               {storagetest.Hide, pass, false, true, false},
		"lost and done again":              {storagetest.Lose, pass, false, true, false},
		"refused":                          {storagetest.Fail, pass, false, false, false},
		"done, then the process stops":     {storagetest.Hide, storagetest.Fail, true, true, true},
		"lost, then the process stops":     {storagetest.Lose, storagetest.Fail, true, false, true},
		"lost, then a full disk":           {storagetest.Lose, storagetest.Full, false, false, true},
		"a full disk":                      {storagetest.Full, pass, false, false, true},
		"done, then the process dies":      {storagetest.Hide, storagetest.DieBefore, false, true, true},
		"lost, then the process dies":      {storagetest.Lose, storagetest.DieBefore, false, false, true},
		"the process dies with it done":    {storagetest.DieAfter, pass, false, true, true},
		"the process dies with it not yet": {storagetest.DieBefore, pass, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			disk := storagetest.NewDisk()
			x := newTable(t, disk)
			for i := range int64(3) {
				x.add(i*4000, 5000, true)
			}
			rows, old := contents(t, x.sh), keysOf(x.objects())
			commits := 0
			x.p.Faults.Follow(func(call storagetest.Call) storagetest.Verdict {
				if call.Op != "commit" {
					return pass
				}
				if commits++; commits == 1 {
					return c.first
				}
				if c.stops {
					x.p.Set.Group().Stop()
				}
				return c.later
			})
			err := x.sh.CompactAll(ctx, x.p.Submit)
			if failed := c.unknown || c.first == storagetest.Fail; (err != nil) != failed {
				t.Fatal(err)
			}
			if told := errors.Is(err, consensus.ErrIndeterminate); told && !c.unknown {
				t.Fatal(err)
			}
			both := keysOf(x.objects())
			for _, key := range old {
				if !slices.Contains(both, key) {
					t.Errorf("%s is gone", key)
				}
			}
			if want := len(old) + 1; len(both) != want && (c.happened || c.unknown) {
				t.Errorf("%v are there, want %d objects", both, want)
			}

			x = x.again(disk.Crash(0, 0))
			report, err := x.p.Set.Client().Check(ctx, "u7")
			if err != nil || len(report.Faults) > 0 {
				t.Fatal(report.Faults, err)
			}
			named := slices.Sorted(slices.Values(report.Objects))
			if isNew := !slices.Equal(named, old); isNew != c.happened {
				t.Errorf("the state names %v; the old objects are %v", named, old)
			}
			before := keysOf(x.objects())
			swept, err := x.p.Set.Client().Sweep(ctx)
			if err != nil || swept != len(before)-len(named) {
				t.Errorf("%d of %v were swept, %v; the state names %v", swept, before, err, named)
			}
			if left := keysOf(x.objects()); !slices.Equal(left, named) {
				t.Errorf("%v are left, the state names %v", left, named)
			}
			if got := contents(t, x.sh); !maps.Equal(got, rows) {
				t.Errorf("%d rows, want %d", len(got), len(rows))
			}
			if err := x.p.Check(ctx); err != nil {
				t.Error(err)
			}
			x.p.Stop(t)
		})
	}
}

func keysOf(infos []blob.Info) (keys []string) {
	for _, info := range infos {
		keys = append(keys, info.Key)
	}
	return keys
}
