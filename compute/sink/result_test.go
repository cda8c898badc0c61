package sink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/compute/dataflow"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

var pair = []types.T{types.TInt8, types.TText}

// given lists what a finished result gives, each row as often as it counts.
func given(t *testing.T, r *Result) []string {
	t.Helper()
	rows, err := r.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for {
		b, err := rows.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.Len {
			for range b.Diff(i) {
				out = append(out, fmt.Sprintf("%#v", b.Row(i, nil)))
			}
		}
	}
}

// TestResultIsWhatSortingAllGives compares results of random rows, orders, offsets, limits and ways to add up with
// all rows sorted and cut.
func TestResultIsWhatSortingAllGives(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		fin := plan.Finishing{Limit: int64(rng.IntN(40)) - 1, Offset: int64(rng.IntN(20))}
		desc := rng.IntN(2) == 0
		if rng.IntN(3) > 0 {
			fin.Order = []plan.Order{{Col: 0, Desc: desc}}
		}
		r := NewResult(pair, fin, 0)
		r.Positive = rng.IntN(2) == 0
		type count struct {
			a    int64
			b    string
			diff int64
		}
		var all []count
		for range 1 + rng.IntN(5) {
			b := vec.NewBlock([]types.Kind{types.Int, types.Bytes}, 0)
			for range rng.IntN(3000) * rng.IntN(4) {
				c := count{int64(rng.IntN(30)), string(rune('a' + rng.IntN(2))), 1}
				if rng.IntN(40) == 0 {
					c.diff = int64(1 + rng.IntN(5))
				}
				at := slices.IndexFunc(all, func(x count) bool { return x.a == c.a && x.b == c.b })
				switch {
				case at < 0:
					all = append(all, c)
				case !r.Positive && all[at].diff > 0 && rng.IntN(2) == 0:
					c.diff = -all[at].diff
					fallthrough
				default:
					all[at].diff += c.diff
				}
				b.AppendRow(c.diff, vec.IntOf(c.a), vec.StrOf(c.b))
			}
			if err := r.Add(b); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(3) == 0 {
				r.addUp()
			}
			if r.bounded() && r.count >= 2*r.want+int64(5*dataflow.RoundRows) {
				t.Fatalf("seed %d: %d rows are kept of %d that are wanted", seed, r.count, r.want)
			}
		}
		slices.SortFunc(all, func(x, y count) int {
			if x.a != y.a && desc {
				return int(y.a - x.a)
			}
			if x.a != y.a {
				return int(x.a - y.a)
			}
			return strings.Compare(x.b, y.b)
		})
		var want []string
		for _, c := range all {
			for range c.diff {
				want = append(want, fmt.Sprintf("%#v", []vec.Datum{vec.IntOf(c.a), vec.StrOf(c.b)}))
			}
		}
		total := len(want)
		want = want[min(int(fin.Offset), len(want)):]
		if fin.Limit >= 0 {
			want = want[:min(int(fin.Limit), len(want))]
		}
		got := given(t, r)
		if fin.Order == nil && (fin.Limit >= 0 || fin.Offset > 0) {
			// Which rows come is open, how many is not.
			if len(got) != len(want) {
				t.Fatalf("seed %d: %d rows, want %d of %d", seed, len(got), len(want), total)
			}
			continue
		}
		if fin.Order == nil {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %+v gives %d rows, want %d\n%.200v\n%.200v", seed, fin, len(got), len(want), got, want)
		}
	}
}

// TestLimitBoundsWhatIsKept: rows far beyond the maximum go through a LIMIT, ordered or not, whatever their order.
func TestLimitBoundsWhatIsKept(t *testing.T) {
	for _, order := range [][]plan.Order{nil, {{Col: 0}}, {{Col: 0, Desc: true}}} {
		r := NewResult(pair, plan.Finishing{Order: order, Limit: 3, Offset: 1}, 1<<20)
		r.Positive = true
		for i := range 12 {
			if err := r.Add(rows(i*dataflow.RoundRows, dataflow.RoundRows, 1)); err != nil {
				t.Fatalf("order %v: block %d: %v", order, i, err)
			}
			if n := int64(cap(r.builder.Data)); n > 8<<20 {
				t.Fatalf("order %v: %d bytes are taken", order, n)
			}
		}
		got := strings.Join(given(t, r), " ")
		last := 12*dataflow.RoundRows - 1
		want := `[]vec.Datum{1, "value 1"} []vec.Datum{2, "value 2"} []vec.Datum{3, "value 3"}`
		if order != nil && order[0].Desc {
			want = fmt.Sprintf(`[]vec.Datum{%[1]d, "value %[1]d"} []vec.Datum{%[2]d, "value %[2]d"} []vec.Datum{%[3]d, "value %[3]d"}`,
				last-1, last-2, last-3)
		}
		if got != want {
			t.Errorf("order %v: %s\nwant %s", order, got, want)
		}
	}
}

// TestMaxSizeCountsWhatIsKept: rows that cancel count for nothing; what remains and is too large is refused.
func TestMaxSizeCountsWhatIsKept(t *testing.T) {
	for _, order := range [][]plan.Order{nil, {{Col: 0}}} {
		r := NewResult(pair, plan.Finishing{Order: order, Limit: -1}, 1<<20)
		for range 6 {
			for _, diff := range []int64{-1, 1} {
				if err := r.Add(rows(0, dataflow.RoundRows, diff)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := given(t, r); len(got) != 0 {
			t.Errorf("order %v: %d rows are left of those that cancel", order, len(got))
		}
		full := NewResult(pair, plan.Finishing{Order: order, Limit: -1}, 1<<20)
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = full.Add(rows(i*dataflow.RoundRows, dataflow.RoundRows, 1))
		}
		var e *pgerr.Error
		if !errors.As(err, &e) || e.Code != pgerr.ConfigurationLimitExceeded || e.Hint != "Add a LIMIT, or raise max_query_result_size." {
			t.Errorf("order %v: error is %#v", order, err)
		}
		// What is found too large only when it is finished is refused then.
		late := NewResult(pair, plan.Finishing{Order: order, Limit: -1}, 1<<20)
		late.checkAt = math.MaxInt64
		if err := late.Add(rows(0, 10*dataflow.RoundRows, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := late.Finish(); !errors.As(err, &e) || e.Code != pgerr.ConfigurationLimitExceeded {
			t.Errorf("order %v: finished with error %v", order, err)
		}
	}
}

// TestLargeRowsComeInBlocksOfTheirOwn: a result's blocks are bounded in bytes, whether they are sorted, as they came, or
// added up.
func TestLargeRowsComeInBlocksOfTheirOwn(t *testing.T) {
	large := func(id int64, diff int64) *vec.Block {
		b := vec.NewBlock(viewSchema.Rel.Kinds(), 1)
		b.AppendRow(diff, vec.IntOf(id), vec.StrOf(strings.Repeat("x", joinBytes/2)))
		return b
	}
	for _, order := range [][]plan.Order{nil, {{Col: 0}}} {
		for _, diffs := range [][]int64{{1}, {-1, 2}} {
			r := NewResult(pair, plan.Finishing{Order: order, Limit: -1, Project: []int{0, 1}}, 0)
			for _, diff := range diffs {
				for id := range int64(9) {
					if err := r.Add(large(id, diff)); err != nil {
						t.Fatal(err)
					}
				}
			}
			rows, err := r.Finish()
			if err != nil {
				t.Fatal(err)
			}
			var ids []int64
			for {
				b, err := rows.Next(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if b == nil {
					break
				}
				if b.Size() >= 2*joinBytes {
					t.Errorf("order %v, diffs %v: a block of %d rows has %d bytes", order, diffs, b.Len, b.Size())
				}
				ids = append(ids, b.Cols[0].Ints[:b.Len]...)
			}
			if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(ids, want) {
				t.Errorf("order %v, diffs %v: rows %v, want %v", order, diffs, ids, want)
			}
		}
	}
}

func TestRowsTakenBackInAPositiveResultAreInvalid(t *testing.T) {
	r := NewResult(pair, plan.Finishing{Order: []plan.Order{{Col: 0}}, Limit: 1}, 0)
	r.Positive = true
	if err := r.Add(rows(0, 1, -1)); !errors.Is(err, errNegative) {
		t.Fatalf("error is %v", err)
	}
}

// TestLimitStopsTheTick: a LIMIT over plain rows leaves the rest of them unread, but for errors met so far.
func TestLimitStopsTheTick(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		failed bool
		blocks int
	}{{limit: 10, blocks: 1}, {limit: 10, failed: true, blocks: 1}, {limit: dataflow.RoundRows + 1, blocks: 2}, {limit: 0, blocks: 1}, {limit: -1, blocks: 20}} {
		r := NewResult(pair, plan.Finishing{Limit: c.limit}, 0)
		get := &plan.Dataflow{Nodes: []plan.Node{{Op: &plan.Get{}, Cols: pair}}}
		if got := r.Bound(get, false); got != (c.limit >= 0) {
			t.Fatalf("limit %d: consolidated is %v", c.limit, got)
		}
		df := dataflow.New(4, dataflow.NewScheduler())
		src := df.Source([]types.Kind{types.Int, types.Bytes})
		df.Operator(nil, []dataflow.Port{{From: src, Route: dataflow.ToFirst()}}, nil, r)
		read := 0
		next := func(context.Context) (*vec.Block, error) {
			if read == 20 {
				return nil, nil
			}
			read++
			if c.failed {
				fail := vec.NewBlock([]types.Kind{types.Bytes}, 1)
				fail.AppendRow(1, vec.BytesOf(pgerr.New(pgerr.DivisionByZero, "division by zero").Encode(nil)))
				df.Fail(fail)
			}
			return rows(read*dataflow.RoundRows, dataflow.RoundRows, 1), nil
		}
		if err := df.Tick(context.Background(), dataflow.Tick{Upper: 11, At: 10}, []dataflow.Feed{{Source: src, Next: next}}); err != nil {
			t.Fatal(err)
		}
		if read != c.blocks {
			t.Errorf("limit %d: %d blocks are read, want %d", c.limit, read, c.blocks)
		}
		if c.failed {
			var e *pgerr.Error
			if _, err := r.Finish(); !errors.As(err, &e) || e.Code != pgerr.DivisionByZero {
				t.Errorf("error is %v", err)
			}
		} else if n := len(given(t, r)); c.limit >= 0 && n != int(c.limit) {
			t.Errorf("limit %d gives %d rows", c.limit, n)
		}
		failing := NewResult(pair, plan.Finishing{Limit: c.limit}, 0)
		if failing.Bound(get, true); failing.StopsWhenFull {
			t.Error("errors that may be stored are left unread")
		}
	}
}
