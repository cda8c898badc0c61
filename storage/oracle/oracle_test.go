package oracle_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/storage/oracle"
	"github.com/tributary-db/tributary/storage/tvc"
)

// harness is an oracle with a clock that a script moves and a mark that is made durable at once.
type harness struct {
	o        *oracle.Oracle
	now      tvc.Time
	mark     tvc.Time
	renewals int
}

func newHarness(mark, now tvc.Time) *harness {
	h := &harness{now: now, mark: mark}
	h.o = oracle.New(oracle.Options{Clock: func() tvc.Time { return h.now }, Mark: mark, Renew: h.renew})
	return h
}

func (h *harness) renew(context.Context) error {
	if m, ok := h.o.Renewal(); ok {
		h.renewals++
		h.mark = m
		h.o.Renewed(m)
	}
	return nil
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var h *harness
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var at uint64
			if d.HasArg("t") {
				d.ScanArgs(t, "t", &at)
			}
			switch d.Cmd {
			case "start":
				var mark uint64
				d.ScanArgs(t, "mark", &mark)
				h = newHarness(tvc.Time(mark), tvc.Time(at))
				return ""
			case "clock":
				h.now = tvc.Time(at)
				return ""
			case "write":
				return fmt.Sprintf("%d ahead %v\n", h.o.WriteTime(), h.o.Ahead())
			case "apply":
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				if err := h.o.ApplyWrite(ctx, tvc.Time(at)); err != nil {
					return "waits for earlier writes\n"
				}
				return "applied\n"
			case "forget":
				h.o.Forget(tvc.Time(at))
				return ""
			case "read":
				before := h.renewals
				got, err := h.o.ReadTime(context.Background())
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("%d%s\n", got, strings.Repeat(" renewed", h.renewals-before))
			case "closed":
				return fmt.Sprintf("%d\n", h.o.Closed())
			case "crash":
				h = newHarness(h.mark, h.now)
				return fmt.Sprintf("mark %d\n", h.mark)
			case "renewal":
				m, ok := h.o.Renewal()
				return fmt.Sprintf("%d %v\n", m, ok)
			}
			return "unknown command"
		})
	})
}

// TestCrashesDoNotDriveTimesAhead: processes that write once and die soon after each other begin no further ahead of the
// clock than the first of them.
func TestCrashesDoNotDriveTimesAhead(t *testing.T) {
	h := newHarness(0, 1_000_000)
	for life := range 100 {
		h = newHarness(h.mark, h.now)
		if ahead := h.mark - h.now; life > 0 && ahead > 500_000 {
			t.Fatalf("life %d begins %d µs ahead", life, ahead)
		}
		at := h.o.WriteTime()
		if err := h.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.o.ApplyWrite(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if at >= h.mark {
			t.Fatalf("life %d: the write at %d is not below the mark %d", life, at, h.mark)
		}
		h.now += 20_000
	}
}

// TestTimesKeepTheirPromises runs many clients with crashes in between and holds what they got against O1 to O3.
func TestTimesKeepTheirPromises(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		h := newHarness(0, 1_000_000)
		var given, applied tvc.Time
		var open []tvc.Time
		for step := range 500 {
			h.now += tvc.Time(rng.IntN(200_000))
			switch rng.IntN(6) {
			case 0, 1:
				w := h.o.WriteTime()
				if w <= given {
					t.Fatalf("seed %d step %d: write time %d is not above %d", seed, step, w, given)
				}
				given = w
				open = append(open, w)
			case 2:
				if len(open) > 0 {
					// A durable write goes with a mark that covers it.
					if err := h.renew(context.Background()); err != nil {
						t.Fatal(err)
					}
					if err := h.o.ApplyWrite(context.Background(), open[0]); err != nil {
						t.Fatal(err)
					}
					applied, open = open[0], open[1:]
				}
			case 3:
				if len(open) > 0 {
					i := rng.IntN(len(open))
					h.o.Forget(open[i])
					open = append(open[:i], open[i+1:]...)
				}
			case 4:
				r, err := h.o.ReadTime(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if r < applied || r > h.mark || len(open) > 0 && r >= open[0] {
					t.Fatalf("seed %d step %d: read time %d, applied %d, mark %d, open %v", seed, step, r, applied, h.mark, open)
				}
				given = max(given, r)
			case 5:
				if rng.IntN(10) == 0 {
					h = newHarness(h.mark, h.now)
					// Writes that were not made durable are forgotten with the process; their times may come again.
					open, given = nil, min(given, h.mark)
				}
			}
		}
	}
}

func TestConcurrentWritersApplyInOrder(t *testing.T) {
	var mu sync.Mutex
	now := tvc.Time(1)
	var o *oracle.Oracle
	o = oracle.New(oracle.Options{
		Clock: func() tvc.Time { mu.Lock(); defer mu.Unlock(); now += 3; return now },
		Renew: func(context.Context) error {
			if m, ok := o.Renewal(); ok {
				o.Renewed(m)
			}
			return nil
		},
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				w := o.WriteTime()
				if err := o.ApplyWrite(context.Background(), w); err != nil {
					t.Error(err)
				}
				r, err := o.ReadTime(context.Background())
				if err != nil || r < w {
					t.Errorf("read time %d after the write at %d: %v", r, w, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestMarkBytes: the register's bytes are, to the byte, those that earlier programs have written.
func TestMarkBytes(t *testing.T) {
	for mark, want := range map[tvc.Time]string{
		0:                         "\x01\x00\x00\x00\x00\x00\x00\x00\x00",
		1:                         "\x01\x00\x00\x00\x00\x00\x00\x00\x01",
		1_700_000_000_000_000:     "\x01\x00\x06\x0a\x24\x18\x1e\x40\x00",
		0x01_02_03_04_05_06_07_08: "\x01\x01\x02\x03\x04\x05\x06\x07\x08",
	} {
		if got := oracle.EncodeMark(mark); string(got) != want {
			t.Errorf("%d is % x, want % x", mark, got, want)
		}
		if got, err := oracle.DecodeMark([]byte(want)); got != mark || err != nil {
			t.Errorf("% x is %d, %v, want %d", want, got, err, mark)
		}
	}
	for _, bad := range []string{"\x01", "\x02\x00\x00\x00\x00\x00\x00\x00\x01", "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00"} {
		if got, err := oracle.DecodeMark([]byte(bad)); !errors.Is(err, oracle.ErrCorrupt) {
			t.Errorf("% x is taken for %d, %v", bad, got, err)
		}
	}
}

func FuzzDecodeMark(f *testing.F) {
	f.Add(oracle.EncodeMark(12345))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := oracle.DecodeMark(data); err == nil && len(data) > 0 && string(oracle.EncodeMark(m)) != string(data) {
			t.Fatal(m)
		}
	})
}
