package op_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/op"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

var twoInts = []types.Kind{types.Int, types.Int}

// tally is a sink that adds up rows of two integers, and counts the errors.
type tally struct {
	rows map[[2]int64]int64
	errs int64
}

func (c *tally) Begin(int, *dataflow.Tick) {}

func (c *tally) Absorb(_ *dataflow.Lane, _, _ int, b *vec.Block) {
	for i := range b.Len {
		row := [2]int64{b.Cols[0].Ints[i], b.Cols[1].Ints[i]}
		if c.rows[row] += b.Diff(i); c.rows[row] == 0 {
			delete(c.rows, row)
		}
	}
}

func (c *tally) AbsorbErrors(_ *dataflow.Lane, _ *dataflow.Tick, b *vec.Block) {
	for i := range b.Len {
		c.errs += b.Diff(i)
	}
}

func (c *tally) Emit(*dataflow.Lane, int, *dataflow.Output) bool { return false }
func (c *tally) End(*dataflow.Lane, int)                         {}

// top is a dataflow that is a source, a TopK by the first column in descending order of the second, and a tally.
type top struct {
	tb  testing.TB
	df  *dataflow.Dataflow
	src dataflow.NodeID
	out *tally
	now tvc.Frontier
}

func newTop(tb testing.TB, workers int, limit, offset int64) *top {
	t := &top{tb: tb, df: dataflow.New(workers, dataflow.NewScheduler()), out: &tally{rows: map[[2]int64]int64{}}, now: 1}
	t.src = t.df.Source(twoInts)
	k := op.NewTopK(workers, twoInts, []int{0}, []op.Ordering{{Col: 1, Desc: true}}, limit, offset, "test")
	id := t.df.Operator(twoInts, []dataflow.Port{{From: t.src, Route: dataflow.ByKeys([]int{0})}}, nil, k)
	t.df.Operator(nil, []dataflow.Port{{From: id, Route: dataflow.ToFirst()}}, nil, t.out)
	return t
}

// tick takes rows in; if they have times, these begin at now.
func (t *top) tick(b *vec.Block, times int) {
	t.tb.Helper()
	tick := dataflow.Tick{Lower: t.now, Upper: t.now + tvc.Frontier(times), At: (t.now + tvc.Frontier(times)).Last(), Multi: b.Times != nil}
	t.now = tick.Upper
	err := t.df.Tick(context.Background(), tick, []dataflow.Feed{{Source: t.src, Next: dataflow.Blocks([]*vec.Block{b}), Stable: true}})
	if err != nil {
		t.tb.Fatal(err)
	}
}

// plainTop is the rows [offset, offset+limit) of each group, and whether a row that is needed to know them counts less
// than zero times.
func plainTop(rows map[[2]int64]int64, limit, offset int64) (out map[[2]int64]int64, bad bool) {
	out = map[[2]int64]int64{}
	head := offset
	if limit >= 0 {
		head += limit
	} else {
		maps.Copy(out, rows)
	}
	total, group := int64(0), int64(-1)
	keys := slices.SortedFunc(maps.Keys(rows), func(x, y [2]int64) int {
		if x[0] != y[0] {
			return int(x[0] - y[0])
		}
		return int(y[1] - x[1])
	})
	for _, row := range keys {
		n := rows[row]
		if row[0] != group {
			total, group = 0, row[0]
		}
		if total >= head {
			continue
		}
		if n < 0 {
			bad = true
			continue
		}
		if limit >= 0 {
			out[row] += max(0, min(total+n, head)-max(total, offset))
		} else {
			out[row] -= min(total+n, offset) - total
		}
		if out[row] == 0 {
			delete(out, row)
		}
		total += n
	}
	return out, bad
}

// TestTopKIsItsRows compares random histories, in which rows also come to count less than zero times, with sorting all
// rows anew.
func TestTopKIsItsRows(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit, offset := int64(r.IntN(6))-1, int64(r.IntN(4))
		top := newTop(t, 1+r.IntN(3), limit, offset)
		rows := map[[2]int64]int64{}
		for step := range 30 {
			b, times := vec.NewBlock(twoInts, 0), 1
			if r.IntN(3) == 0 {
				times = 1 + r.IntN(3)
				b.Times = []uint64{}
			}
			for range r.IntN(12) {
				row, diff := [2]int64{int64(r.IntN(3)), int64(r.IntN(12))}, int64(1+r.IntN(2))
				if have := rows[row]; have > 0 && r.IntN(2) == 0 || r.IntN(30) == 0 {
					diff = -max(1, have)
				}
				if rows[row] += diff; rows[row] == 0 {
					delete(rows, row)
				}
				if b.Times != nil {
					b.Times = append(b.Times, uint64(top.now)+r.Uint64N(uint64(times)))
				}
				b.AppendRow(diff, vec.IntOf(row[0]), vec.IntOf(row[1]))
			}
			if b.Times != nil && b.Len == 0 {
				b.Times = nil
			}
			top.tick(b, times)
			want, bad := plainTop(rows, limit, offset)
			if !maps.Equal(top.out.rows, want) || top.out.errs > 0 != bad {
				t.Fatalf("seed %d step %d, limit %d offset %d: %v, %d errors\nwant %v, %v\nrows %v",
					seed, step, limit, offset, top.out.rows, top.out.errs, want, bad, rows)
			}
		}
	}
}

// group is one group's values [from, to).
func group(from, to int) *vec.Block {
	b := vec.NewBlock(twoInts, to-from)
	for v := from; v < to; v++ {
		b.AppendRow(1, vec.IntOf(0), vec.IntOf(int64(v)))
	}
	return b
}

func change(v, diff int64) *vec.Block {
	b := vec.NewBlock(twoInts, 1)
	b.AppendRow(diff, vec.IntOf(0), vec.IntOf(v))
	return b
}

// TestTopKReadsOnlyItsHead is promise O2: a change of a large group reads no more than the head, one behind the head
// nothing, and one within it what comes after.
func TestTopKReadsOnlyItsHead(t *testing.T) {
	const limit = 10
	top := newTop(t, 1, limit, 0)
	top.tick(group(0, 100_000), 1)
	top.df.TakeReads()
	for _, c := range []struct {
		name    string
		b       *vec.Block
		at, max int64
	}{
		{"an insert far behind the head", change(5, 1), 0, 0},
		{"a deletion far behind the head", change(6, -1), 0, 0},
		{"another of the same", change(5, -1), 0, 0},
		{"an insert at the head's end", change(99_990, 1), 1, 1},
		{"an insert before all", change(100_000, 1), limit, limit},
		{"a deletion in the middle", change(99_995, -1), 5, 6},
		{"a deletion at the front", change(100_000, -1), limit, limit + 1},
	} {
		top.tick(c.b, 1)
		if got := top.df.TakeReads(); got < c.at || got > c.max {
			t.Errorf("%s: %d reads, want %d to %d", c.name, got, c.at, c.max)
		}
	}
	want, _ := plainTop(map[[2]int64]int64{{0, 99_999}: 1, {0, 99_998}: 1, {0, 99_997}: 1, {0, 99_996}: 1, {0, 99_994}: 1,
		{0, 99_993}: 1, {0, 99_992}: 1, {0, 99_991}: 1, {0, 99_990}: 2}, limit, 0)
	if !maps.Equal(top.out.rows, want) {
		t.Errorf("the head is %v, want %v", top.out.rows, want)
	}
}

// BenchmarkTopK is the change of one row of a group of 100,000 rows.
func BenchmarkTopK(b *testing.B) {
	for _, limit := range []int64{10, 10_000} {
		for _, c := range []struct {
			where string
			v     int64
		}{{"far behind", 5}, {"last in the head", 100_000 - limit}, {"first", 100_000}} {
			b.Run(fmt.Sprintf("limit %d/%s", limit, c.where), func(b *testing.B) {
				top := newTop(b, 1, limit, 0)
				top.tick(group(0, 100_000), 1)
				diff := int64(1)
				for b.Loop() {
					top.tick(change(c.v, diff), 1)
					diff = -diff
				}
			})
		}
	}
}
