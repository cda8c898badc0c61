package coord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// scene is what looks see: a result that changes as the test likes, and how often it was looked at.
type scene struct {
	t      *testing.T
	rows   map[string]int64 // with their counts
	err    error
	frozen tvc.Time // the time of reads, if not that of the clock
	// takes is how long a query takes.
	takes time.Duration
	looks int
	open  int
	feed  coord.Feed
}

func now() tvc.Time { return tvc.Time(time.Now().UnixMicro()) }

func (s *scene) read(ctx context.Context) (coord.Read, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.open++
	if s.frozen != 0 {
		return &sceneRead{s, s.frozen}, nil
	}
	return &sceneRead{s, now()}, nil
}

type sceneRead struct {
	*scene
	at tvc.Time
}

func (r *sceneRead) At() tvc.Time { return r.at }

func (r *sceneRead) Release() { r.open-- }

func (r *sceneRead) Subscribe(context.Context, *coord.Subscription) (coord.Feed, error) {
	return nil, errors.New("what is looked at was subscribed to")
}

func (r *sceneRead) Query(ctx context.Context, _ *coord.Query) (coord.Cursor, error) {
	r.looks++
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if r.err != nil {
		return nil, r.err
	}
	r.open++
	c := &sceneCursor{scene: r.scene}
	for row, n := range r.rows {
		// Not consolidated, and in blocks.
		for range n {
			b := vec.NewBlock([]types.Kind{types.Bytes}, 1)
			b.AppendRow(1, vec.StrOf(row))
			c.blocks = append(c.blocks, b)
		}
	}
	return c, nil
}

type sceneCursor struct {
	*scene
	blocks []*vec.Block
}

func (c *sceneCursor) Next(context.Context) (*vec.Block, error) {
	if len(c.blocks) == 0 {
		return nil, nil
	}
	b := c.blocks[0]
	c.blocks = c.blocks[1:]
	return b, nil
}

func (c *sceneCursor) Close() { c.open-- }

// start subscribes to the scene.
func (s *scene) start(sub coord.Subscription) {
	s.t.Helper()
	sub.Cols = []types.T{types.TText}
	read, err := s.read(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	defer read.Release()
	s.feed, err = coord.Look(context.Background(), coord.Looking{Subscription: &sub, Now: time.Now, Read: s.read,
		Query: func(coord.Read) *coord.Query { return &coord.Query{} }}, read)
	if err != nil {
		s.t.Fatal(err)
	}
}

// next gives what comes next, and after how long, or how Next fails.
func (s *scene) next(ctx context.Context) string {
	s.t.Helper()
	began := time.Now()
	d, ok, err := s.feed.Next(ctx)
	took := time.Since(began)
	switch {
	case err != nil:
		return fmt.Sprintf("%v: %v", took, err)
	case !ok:
		return fmt.Sprintf("%v: the end", took)
	}
	out := []string{}
	if d.Rows != nil {
		for i := range d.Rows.Len {
			out = append(out, fmt.Sprintf("%+d %s", d.Rows.Diff(i), d.Rows.Cols[0].Datum(i).Str()))
			if tvc.After(tvc.Time(d.Rows.Times[i])) != d.Upper {
				s.t.Errorf("a change is at %v, the upper is %v", d.Rows.Times[i], d.Upper)
			}
		}
	}
	return fmt.Sprintf("%v: %s", took, strings.Join(out, ", "))
}

// looking runs a test in a bubble where time passes only when all wait.
func looking(t *testing.T, f func(t *testing.T, s *scene)) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, rows: map[string]int64{"a": 1, "b": 2}}
		f(t, s)
		if s.feed != nil {
			s.feed.Close()
		}
		if s.open != 0 {
			t.Errorf("%d reads and cursors are open", s.open)
		}
	})
}

// TestLooksGiveWhatChanged: what there is comes at once, then what each second has changed; nobody looks who is not asked.
func TestLooksGiveWhatChanged(t *testing.T) {
	looking(t, func(t *testing.T, s *scene) {
		ctx := context.Background()
		expect := func(want string) {
			t.Helper()
			if got := s.next(ctx); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		s.start(coord.Subscription{})
		expect("0s: +1 a, +2 b")
		expect("1s: ")
		s.rows = map[string]int64{"b": 1, "c": 1}
		expect("1s: -1 a, -1 b, +1 c")
		expect("1s: ")
		// A client that comes late is not kept waiting.
		looks := s.looks
		s.rows["d"] = 3
		time.Sleep(10 * time.Minute)
		if s.looks != looks {
			t.Errorf("%d looks that nobody has asked for", s.looks-looks)
		}
		expect("0s: +3 d")
		// A look that takes long is followed by a pause.
		s.takes = 5 * time.Second
		expect("6s: ")
		expect("6s: ")
	})
}

// TestLooksWithoutASnapshot begin with nothing, and end before UP TO.
func TestLooksWithoutASnapshot(t *testing.T) {
	looking(t, func(t *testing.T, s *scene) {
		s.start(coord.Subscription{NoSnapshot: true, UpTo: tvc.Frontier(now()) + 2_000_000})
		got := s.next(context.Background())
		s.rows["a"]++
		got += "; " + s.next(context.Background())
		s.rows["a"]++
		got += "; " + s.next(context.Background()) + "; " + s.next(context.Background())
		if want := "0s: ; 1s: +1 a; 1s: ; 0s: the end"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.start(coord.Subscription{UpTo: tvc.Frontier(now())})
		if got := s.next(context.Background()); got != "0s: the end" {
			t.Error(got)
		}
	})
}

// TestLooksThatWaitInVain: who stops waiting loses nothing, and a look that is due is taken even so.
func TestLooksThatWaitInVain(t *testing.T) {
	looking(t, func(t *testing.T, s *scene) {
		s.start(coord.Subscription{})
		within := func(d time.Duration) string {
			ctx, cancel := context.WithTimeoutCause(context.Background(), d, coord.ErrWaited)
			defer cancel()
			return s.next(ctx)
		}
		expect := func(got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		expect(within(0), "0s: +1 a, +2 b") // it is there already
		expect(within(0), "0s: "+coord.ErrWaited.Error())
		expect(within(700*time.Millisecond), "700ms: "+coord.ErrWaited.Error())
		s.rows["c"] = 1
		expect(within(700*time.Millisecond), "300ms: +1 c")
		// The query takes longer than there is time to wait.
		s.takes = 5 * time.Second
		delete(s.rows, "c")
		time.Sleep(time.Second)
		expect(within(0), "5s: -1 c")
		// But it ends with the statement.
		why := errors.New("cancelled")
		ctx, cancel := context.WithTimeoutCause(context.Background(), 3*time.Second, why)
		defer cancel()
		expect(s.next(ctx), "3s: cancelled")
		s.takes = 0
		s.rows["d"] = 1
		expect(within(0), "0s: +1 d")
	})
}

// TestLooksFailAndGoOn: an error of the query is told, and the next look may be better. While the clock does not move on,
// nothing changes.
func TestLooksFailAndGoOn(t *testing.T) {
	looking(t, func(t *testing.T, s *scene) {
		ctx := context.Background()
		s.start(coord.Subscription{})
		got := s.next(ctx)
		s.err = errors.New("division by zero")
		got += "; " + s.next(ctx)
		s.err = nil
		s.rows["c"] = 1
		got += "; " + s.next(ctx)
		s.frozen = 1
		s.rows["d"] = 1
		got += "; " + s.next(ctx)
		s.frozen = 0
		got += "; " + s.next(ctx)
		if want := "0s: +1 a, +2 b; 1s: division by zero; 0s: +1 c; 1s: ; 1s: +1 d"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.err = errors.New("division by zero")
		read, err := s.read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer read.Release()
		if _, err := coord.Look(ctx, coord.Looking{Subscription: &coord.Subscription{Cols: []types.T{types.TText}}, Now: time.Now, Read: s.read,
			Query: func(coord.Read) *coord.Query { return &coord.Query{} }}, read); !errors.Is(err, s.err) {
			t.Errorf("a first look that fails says %v", err)
		}
	})
}
