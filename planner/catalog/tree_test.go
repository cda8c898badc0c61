package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTreeIsAMap compares a tree with a Go map under random changes, keeps old versions, and holds the
// differences between any two versions against a comparison of all keys.
func TestTreeIsAMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tr := newTree[int, int](cmp.Compare[int])
	want := map[int]int{}
	type version struct {
		tree tree[int, int]
		want map[int]int
	}
	var kept []version
	for step := range 6000 {
		k := rnd.IntN(400)
		if rnd.IntN(3) > 0 {
			tr, want[k] = tr.set(k, step), step
		} else {
			tr = tr.remove(k)
			delete(want, k)
		}
		if step%500 == 0 {
			kept = append(kept, version{tr, maps.Clone(want)})
		}
	}
	kept = append(kept, version{tr, want})
	for _, v := range kept {
		checkWeights(t, v.tree.root)
		got := map[int]int{}
		last := -1
		for k, x := range v.tree.all {
			if k <= last {
				t.Fatalf("key %d after %d", k, last)
			}
			got[k], last = x, k
		}
		if !maps.Equal(got, v.want) || v.tree.len() != len(v.want) {
			t.Fatalf("tree has %d keys, want %d", len(got), len(v.want))
		}
		var from []int
		v.tree.from(200, func(k, _ int) bool { from = append(from, k); return len(from) < 5 })
		var wantFrom []int
		for _, k := range slices.Sorted(maps.Keys(v.want)) {
			if k >= 200 && len(wantFrom) < 5 {
				wantFrom = append(wantFrom, k)
			}
		}
		if !slices.Equal(from, wantFrom) {
			t.Fatalf("from 200: %v, want %v", from, wantFrom)
		}
	}
	for _, a := range kept {
		for _, b := range kept {
			checkChanges(t, a.tree, b.tree, a.want, b.want)
		}
	}
}

func checkChanges(t *testing.T, from, to tree[int, int], old, new map[int]int) {
	t.Helper()
	var got, want []string
	changes(from, to, func(k, x, y int, hasX, hasY bool) {
		got = append(got, fmt.Sprint(k, x, y, hasX, hasY))
	})
	keys := maps.Clone(old)
	maps.Copy(keys, new)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		x, hasX := old[k]
		y, hasY := new[k]
		if hasX != hasY || x != y {
			want = append(want, fmt.Sprint(k, x, y, hasX, hasY))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("changes\n%v\nwant\n%v", got, want)
	}
}

func checkWeights(t *testing.T, n *node[int, int]) {
	t.Helper()
	if n == nil {
		return
	}
	l, r := n.left.count(), n.right.count()
	if n.size != l+r+1 || l+r > 1 && (l > 3*r || r > 3*l) {
		t.Fatalf("node of %d has sides of %d and %d", n.size, l, r)
	}
	checkWeights(t, n.left)
	checkWeights(t, n.right)
}

// TestChangesSkipWhatIsShared: one change among many keys is found without visiting the others.
func TestChangesSkipWhatIsShared(t *testing.T) {
	compared := 0
	tr := newTree[int, int](func(a, b int) int { compared++; return cmp.Compare(a, b) })
	for i := range 100_000 {
		tr = tr.set(i, i)
	}
	next := tr.set(77_777, 0)
	compared = 0
	found := 0
	changes(tr, next, func(k, _, _ int, _, _ bool) { found++ })
	if found != 1 || compared > 200 {
		t.Errorf("found %d changes with %d comparisons", found, compared)
	}
}
