package controller_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/compute/plan/plantest"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/tvc"
)

// faulty counts rows by k; a group of 13 has an error instead of its row.
func faulty(in tvc.ID) *plan.Dataflow {
	agg := &scalar.Agg{Name: "faulty", Ret: types.TInt8, Accum: &scalar.Accum{
		Update: count.Accum.Update,
		Result: func(_ []uint64, rows int64) (vec.Datum, error) {
			if rows == 13 {
				return vec.Null, pgerr.New(pgerr.DivisionByZero, "division by zero")
			}
			return vec.IntOf(rows), nil
		}}}
	return &plan.Dataflow{Name: "faulty", Nodes: []plan.Node{
		{Op: &plan.Get{ID: in}, Cols: two},
		{Op: &plan.Reduce{Keys: 1, Aggs: []plan.Agg{{Func: agg, Filter: -1}}}, Inputs: []plan.NodeID{0}, Cols: two},
	}}
}

// all gives a collection as it is.
func all(in tvc.ID) *plan.Dataflow {
	return &plan.Dataflow{Name: "all", Nodes: []plan.Node{{Op: &plan.Get{ID: in}, Cols: two}}}
}

// negated takes rows back.
func negated(b *vec.Block) *vec.Block {
	out := vec.NewBlock(b.Kinds(), b.Len)
	for i := range b.Len {
		out.AppendFrom(b, i, -b.Diff(i))
	}
	return out
}

// oneRow asks for one row, of an index for that of k = 1.
func (e *env) oneRow(id tvc.ID, isIndex bool) error {
	ctx := context.Background()
	q := &controller.Query{Cluster: cluster, Finishing: plan.Finishing{Limit: 1}, Plan: all(id)}
	if isIndex {
		hold, _, err := e.c.HoldIndex(id)
		e.must(err)
		defer hold.Release()
		key := vec.NewBlock(kv.Kinds()[:1], 1)
		key.AppendRow(1, vec.IntOf(1))
		q.Plan, q.Cols, q.Lookup = nil, two, &plan.Lookup{Index: id, Keys: key, MFP: scalar.Identity(2)}
	}
	q.At = e.readTime()
	rows, err := e.c.Query(ctx, q)
	if err != nil {
		return err
	}
	b, err := rows.Next(ctx)
	if err == nil && (b == nil || b.Len != 1) {
		return errors.New("there is no row")
	}
	return err
}

// storedErrors adds up the errors among a view's rows.
func (e *env) storedErrors(id tvc.ID) (n int64) {
	e.t.Helper()
	e.must(e.c.Wait(context.Background(), []tvc.ID{id}, e.readTime()))
	sh, _ := e.set.Shard(id)
	scan, err := sh.Snapshot(context.Background(), sh.Upper().Last(), shard.ScanOptions{})
	e.must(err)
	defer scan.Close()
	for {
		b, err := scan.Next(context.Background())
		e.must(err)
		if b == nil {
			return n
		}
		for i := range b.Len {
			if !b.Cols[len(b.Cols)-1].IsNull(i) {
				n += b.Diff(i)
			}
		}
	}
}

// TestErrorsAreRows: one group of many cannot be computed. Then whoever reads the view, what is computed from it, or an
// index, gets the error and no row, be it only of another group; the other times are as they were; and when the cause is
// taken back, so is the error. It is stored once, and outlives the process.
// Of what must be kept, this is: errors are rows of a collection like others, and whoever reads it gets one first.
func TestErrorsAreRows(t *testing.T) {
	e := newEnv(t, 4)
	e.must(e.sets.Set("storage_retain_history", "1h"))
	a := e.table(1)
	e.write(map[tvc.ID]*vec.Block{a: numbers(12, 100)})
	e.write(map[tvc.ID]*vec.Block{a: numbers(1, numbersTo(20)...)})
	v := e.view(10, faulty(a))
	collections := []tvc.ID{v, e.view(11, all(v)), e.index(12, all(v), 0), e.index(13, faulty(a), 0)}
	isIndex := map[tvc.ID]bool{collections[2]: true, collections[3]: true}
	sound := func(at tvc.Time) {
		t.Helper()
		want := plantest.Eval(faulty(a), e.live, nil).Rows.String()
		for _, id := range collections {
			if got, err := e.readAt(id, at); err != nil || got.String() != want {
				t.Errorf("%v is at %d\n%s%v, want\n%s", id, at, got, err, want)
			}
		}
	}
	failed := func(err error) bool {
		var told *pgerr.Error
		return errors.As(err, &told) && told.Code == pgerr.DivisionByZero && told.Message == "division by zero"
	}
	broken := func(at tvc.Time) {
		t.Helper()
		for _, id := range collections {
			if got, err := e.readAt(id, at); !failed(err) || len(got) > 0 {
				t.Errorf("%v is at %d\n%s%v, want the error", id, at, got, err)
			}
		}
	}
	for id := range isIndex {
		hold, _, err := e.c.HoldIndex(id)
		e.must(err)
		defer hold.Release()
	}
	before := e.readTime()
	sound(before)
	sub, err := e.c.Subscribe(cluster, controller.SubscribeOptions{Plan: all(v), At: before})
	e.must(err)
	defer sub.Close()
	last := vec.NewBlock(kv.Kinds(), 1)
	last.AppendRow(1, vec.IntOf(100), vec.IntOf(13))
	during := e.write(map[tvc.ID]*vec.Block{a: last})
	broken(during)
	for _, id := range collections {
		if err := e.oneRow(id, isIndex[id]); !failed(err) {
			t.Errorf("who asks %v for a row of another group is told %v", id, err)
		}
	}
	if _, err := e.accumulate(sub, during); !failed(err) {
		t.Errorf("a subscription ends with %v", err)
	}
	after := e.write(map[tvc.ID]*vec.Block{a: negated(last)})
	sound(after)
	broken(during)
	sound(before)
	if n := e.storedErrors(v); n != 0 {
		t.Errorf("%d errors are stored when there is none", n)
	}
	e.write(map[tvc.ID]*vec.Block{a: last})
	e.stop()
	e.start(3)
	broken(0)
	if n := e.storedErrors(v); n != 1 {
		t.Errorf("an error is stored %d times", n)
	}
	e.write(map[tvc.ID]*vec.Block{a: negated(last)})
	sound(0)
	for _, id := range collections {
		e.must(e.oneRow(id, isIndex[id]))
	}
}

// numbersTo lists the numbers from 1 to n without 100.
func numbersTo(n int64) (ks []int64) {
	for k := int64(1); k <= n; k++ {
		if k != 100 {
			ks = append(ks, k)
		}
	}
	return ks
}
