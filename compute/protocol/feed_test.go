package protocol_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tributary-db/tributary/compute/protocol"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// delivery has some rows of one time.
func delivery(at tvc.Time, rows int) protocol.Delivery {
	b := vec.NewBlock([]types.Kind{types.Int}, rows)
	for i := range int64(rows) {
		b.AppendRow(1, vec.IntOf(i))
		b.Times = append(b.Times, uint64(at))
	}
	return protocol.Delivery{Rows: b, Upper: tvc.After(at)}
}

// TestSnapshotLeavesRoomForChanges: however much of a snapshot waits for the client, the changes that follow have
// half of the feed to wait in; more than that ends it.
func TestSnapshotLeavesRoomForChanges(t *testing.T) {
	portion, change := delivery(1, 5000), delivery(2, 5000)
	const portions = 12
	f := protocol.NewFeed(int64(portions * portion.Rows.Size()))
	full, cancel := context.WithCancel(context.Background())
	cancel()
	pushed := 0
	for f.PushWhenRoom(full, portion) == nil {
		pushed++
	}
	if pushed != portions/2 {
		t.Fatalf("%d portions of %d wait", pushed, portions)
	}
	for range portions / 2 {
		f.Push(change)
	}
	if f.Ended() {
		t.Fatal("the changes do not fit behind the snapshot")
	}
	for n := range portions {
		d, ok, err := f.Next(full)
		if err != nil || !ok {
			t.Fatalf("delivery %d: %v", n, err)
		}
		if want := tvc.Frontier(2 + n/(portions/2)); d.Upper != want {
			t.Fatalf("delivery %d is below %v, want %v", n, d.Upper, want)
		}
	}
	for range portions + 1 {
		f.Push(change)
	}
	if _, _, err := f.Next(full); !errors.Is(err, protocol.ErrLag) {
		t.Fatalf("too many changes: %v", err)
	}
}

// TestFeedGivesWhatWaitedBeforeItsEnd: what waits is joined in order, and comes before the end or the error, after
// which nothing is taken.
func TestFeedGivesWhatWaitedBeforeItsEnd(t *testing.T) {
	lost := errors.New("lost")
	for _, end := range []error{nil, lost} {
		f := protocol.NewFeed(0)
		f.Push(delivery(1, 2))
		f.Push(delivery(2, 3))
		f.Push(protocol.Delivery{Upper: 9})
		if end == nil {
			f.Finish()
		} else {
			f.Fail(end)
		}
		f.Push(delivery(10, 1))
		if err := f.PushWhenRoom(context.Background(), delivery(11, 1)); err != nil {
			t.Fatal(err)
		}
		d, ok, err := f.Next(context.Background())
		if err != nil || !ok || d.Rows.Len != 5 || d.Rows.Times[1] != 1 || d.Rows.Times[2] != 2 || d.Upper != 9 {
			t.Fatalf("%v, %v, %v", d, ok, err)
		}
		if _, ok, err := f.Next(context.Background()); ok || !errors.Is(err, end) {
			t.Fatalf("the end: %v, %v", ok, err)
		}
	}
}
