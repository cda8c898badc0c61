package arrange

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/tributary-db/tributary/storage/tvc"
)

// model is a spine too dumb to be wrong: every update ever inserted.
type model []struct {
	row  string
	time uint64
	diff int64
}

func (m model) at(t uint64, prefix string) map[string]int64 {
	sum := map[string]int64{}
	for _, u := range m {
		if u.time <= t && len(u.row) >= len(prefix) && u.row[:len(prefix)] == prefix {
			sum[u.row] += u.diff
		}
	}
	for k, d := range sum {
		if d == 0 {
			delete(sum, k)
		}
	}
	return sum
}

func read(c *Cursor) (rows []string, sums map[string]int64) {
	sums = map[string]int64{}
	for c.Next() {
		rows = append(rows, string(c.Row()))
		sums[string(c.Row())] = c.Diff()
	}
	return rows, sums
}

// mergeAll merges what is to be merged, as many small inserts would.
func mergeAll(s *Spine) {
	s.schedule()
	s.step(1 << 20)
	s.publish()
}

// kept counts the updates that a spine keeps.
func kept(s *Spine) int {
	n := 0
	for _, r := range s.Runs() {
		n += r.rows
	}
	return n
}

func randomRow(r *rand.Rand, keys int) string {
	return fmt.Sprintf("k%03d|%c%s", r.IntN(keys), 'a'+rune(r.IntN(4)), bytes.Repeat([]byte("x"), r.IntN(12)))
}

// TestSpineIsItsUpdates holds promise A3 and A4 against the model, forward and back, by key and whole, at
// every time that may be read, with holds that keep times apart and ticks of many times.
func TestSpineIsItsUpdates(t *testing.T) {
	for seed := uint64(0); seed < 60; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Spine
		var b Builder
		var m model
		now, keys := uint64(10), 1+r.IntN(40)
		for tick := range 60 {
			lower := now
			multi := r.IntN(3) == 0
			now += 1 + uint64(r.IntN(5))
			b.Reset(tvc.Time(now-1), multi)
			n := r.IntN(30)
			if r.IntN(10) == 0 {
				n = 600
			}
			for range n {
				row, diff, at := randomRow(r, keys), int64(r.IntN(3)-1), now-1
				if multi {
					at = lower + r.Uint64N(now-lower)
				}
				b.Data = append(b.Data, row...)
				b.End(diff, at)
				m = append(m, struct {
					row  string
					time uint64
					diff int64
				}{row, at, diff})
			}
			runs := b.Finish()
			for _, run := range runs {
				run.Check()
			}
			s.Insert(runs)
			if r.IntN(2) == 0 {
				s.Advance(tvc.Frontier(uint64(s.since) + r.Uint64N(now-uint64(s.since))))
			}
			if tick%7 == 0 {
				mergeAll(&s)
			}
			for _, run := range s.Runs() {
				run.Check()
			}
			checkReads(t, seed, r, &s, m, now, keys)
		}
	}
}

func checkReads(t *testing.T, seed uint64, r *rand.Rand, s *Spine, m model, now uint64, keys int) {
	t.Helper()
	at := uint64(s.since) + r.Uint64N(now-uint64(s.since))
	var c Cursor
	c.Open(s.Runs(), tvc.Time(at))
	for _, prefix := range []string{"", fmt.Sprintf("k%03d|", r.IntN(keys))} {
		want := m.at(at, prefix)
		wantRows := make([]string, 0, len(want))
		for k := range want {
			wantRows = append(wantRows, k)
		}
		sort.Strings(wantRows)
		c.Seek([]byte(prefix), nil)
		rows, sums := read(&c)
		if !slices.Equal(rows, wantRows) || fmt.Sprint(sums) != fmt.Sprint(want) {
			t.Fatalf("seed %d: read of %q at %d gives %v %v, want %v %v", seed, prefix, at, rows, sums, wantRows, want)
		}
		c.SeekLast([]byte(prefix), nil)
		back, _ := read(&c)
		slices.Reverse(back)
		if !slices.Equal(back, wantRows) {
			t.Fatalf("seed %d: backward read of %q at %d gives %v, want %v", seed, prefix, at, back, wantRows)
		}
		if len(wantRows) > 0 {
			k := r.IntN(len(wantRows))
			c.Seek([]byte(prefix), []byte(wantRows[k]))
			if rows, _ := read(&c); !slices.Equal(rows, wantRows[k:]) {
				t.Fatalf("seed %d: read from %q gives %v, want %v", seed, wantRows[k], rows, wantRows[k:])
			}
			c.SeekLast([]byte(prefix), []byte(wantRows[k]))
			rows, _ := read(&c)
			slices.Reverse(rows)
			if !slices.Equal(rows, wantRows[:k+1]) {
				t.Fatalf("seed %d: backward read from %q gives %v, want %v", seed, wantRows[k], rows, wantRows[:k+1])
			}
		}
	}
}

// TestSortIsByteOrder compares the radix sort with the plain one on rows that share long prefixes, end
// within the padding, and contain zeros.
func TestSortIsByteOrder(t *testing.T) {
	for seed := uint64(0); seed < 40; seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 1 + r.IntN(3000)
		s := sorter{offs: []uint32{0}}
		rows := make([]string, n)
		for i := range rows {
			row := bytes.Repeat([]byte{byte(r.IntN(2))}, r.IntN(20))
			for range r.IntN(6) {
				row = append(row, byte(r.IntN(256)>>r.IntN(8)))
			}
			rows[i] = string(row)
			s.data = append(s.data, row...)
			s.offs = append(s.offs, uint32(len(s.data)))
		}
		ents := make([]entry, n)
		for i := range ents {
			ents[i].idx = uint32(i)
		}
		s.sort(ents)
		sort.Strings(rows)
		for i, e := range ents {
			if string(s.row(e)) != rows[i] {
				t.Fatalf("seed %d: row %d is %q, want %q", seed, i, s.row(e), rows[i])
			}
		}
	}
}

// TestRunsStayFew holds the bound on the number of runs, and that no insert steps more than its share
// (promise A5).
func TestRunsStayFew(t *testing.T) {
	var s Spine
	var b Builder
	for i := range 200_000 {
		b.Reset(tvc.Time(i), false)
		b.Data = append(b.Data, fmt.Sprintf("%09d", (i*7919)%1_000_003)...)
		b.End(1, 0)
		s.Advance(tvc.Frontier(i))
		s.Insert(b.Finish())
		if n := len(s.Runs()); n > 30 {
			t.Fatalf("%d runs after %d inserts", n, i+1)
		}
	}
	if n := kept(&s); n != 200_000 {
		t.Fatalf("%d rows, want 200000", n)
	}
}

// TestALargeTickLeavesNoArena: what a tick of many rows needs is given back when it ends, in every share of every
// operator; what a small one needs is kept.
func TestALargeTickLeavesNoArena(t *testing.T) {
	var b Builder
	fill := func(rows int) int {
		b.Reset(1, true)
		for i := range rows {
			b.Data = fmt.Appendf(b.Data, "row %09d", i)
			b.End(1, 1)
		}
		b.Finish()
		return cap(b.Data) + 4*cap(b.offs) + 8*cap(b.diffs) + 8*cap(b.times) + 16*cap(b.ents) + 16*cap(b.sort.scratch)
	}
	if n := fill(1_000_000); n > smallBytes {
		t.Errorf("%d bytes are kept after a large tick", n)
	}
	if n := fill(1000); n == 0 || n > 4*smallBytes {
		t.Errorf("%d bytes are kept after a small tick", n)
	}
}

func TestCancelledRowsVanish(t *testing.T) {
	var s Spine
	var b Builder
	for _, diff := range []int64{1, -1} {
		b.Reset(1, false)
		for i := range 1000 {
			b.Data = append(b.Data, fmt.Sprintf("%04d", i)...)
			b.End(diff, 0)
		}
		s.Insert(b.Finish())
	}
	s.Advance(5)
	mergeAll(&s)
	if len(s.Runs()) != 0 {
		t.Fatalf("%d rows in %d runs are left of what was deleted", kept(&s), len(s.Runs()))
	}
}

func BenchmarkBuild(b *testing.B) {
	const n = 1 << 20
	rows := make([]byte, 0, n*18)
	r := rand.New(rand.NewPCG(1, 1))
	for range n {
		row := [18]byte{0: 1, 9: 1}
		for i := 4; i < 9; i++ {
			row[i] = byte(r.Uint32())
		}
		rows = append(rows, row[:]...)
	}
	b.SetBytes(n * 18)
	var bl Builder
	for b.Loop() {
		bl.Reset(1, false)
		for i := range n {
			bl.Data = append(bl.Data, rows[i*18:i*18+18]...)
			bl.End(1, 0)
		}
		bl.Finish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

func BenchmarkInsertOne(b *testing.B) {
	var s Spine
	var bl Builder
	i := 0
	for b.Loop() {
		bl.Reset(tvc.Time(i), false)
		k := uint64(i) * 0x9E3779B97F4A7C15
		bl.Data = append(bl.Data, byte(k>>56), byte(k>>48), byte(k>>40), byte(k>>32), byte(k>>24), byte(k>>16), byte(k>>8), byte(k), 0, 0, 0, 0, 0, 0, 0, 0)
		bl.End(1, 0)
		s.Advance(tvc.Frontier(i))
		s.Insert(bl.Finish())
		i++
	}
	b.ReportMetric(float64(len(s.Runs())), "runs")
}

func BenchmarkSeek(b *testing.B) {
	var s Spine
	var bl Builder
	const n = 1 << 20
	bl.Reset(1, false)
	put := func(i int) {
		k := uint64(i) * 0x9E3779B97F4A7C15
		bl.Data = append(bl.Data, byte(k>>56), byte(k>>48), byte(k>>40), byte(k>>32), byte(k>>24), byte(k>>16), byte(k>>8), byte(k), 0, 0, 0, 0, 0, 0, 0, 0)
		bl.End(1, 0)
	}
	for i := range n {
		put(i)
	}
	s.Insert(bl.Finish())
	for i := n; i < n+5000; i++ {
		bl.Reset(tvc.Time(i), false)
		put(i)
		s.Advance(tvc.Frontier(i))
		s.Insert(bl.Finish())
	}
	var c Cursor
	c.OpenAll(s.Runs())
	i := 0
	var key [8]byte
	for b.Loop() {
		k := uint64(i%n) * 0x9E3779B97F4A7C15
		key = [8]byte{byte(k >> 56), byte(k >> 48), byte(k >> 40), byte(k >> 32), byte(k >> 24), byte(k >> 16), byte(k >> 8), byte(k)}
		c.Seek(key[:], nil)
		if !c.Next() {
			b.Fatal("a row is missing")
		}
		i += 104729
	}
	b.ReportMetric(float64(len(s.Runs())), "runs")
}
