package shard

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// replayed is a shard's states under random operations, and what is stored of them: an entry for each, a rollup of some.
type replayed struct {
	t       *testing.T
	rng     *rand.Rand
	sh      *Shard
	states  []*state
	entries []consensus.Versioned
	rollups map[int][]byte
	objects uint64
}

func (r *replayed) now() *state { return r.states[len(r.states)-1] }

// do evaluates operations as one unit.
func (r *replayed) do(ops ...Op) {
	r.t.Helper()
	var base *state
	if len(r.states) > 0 {
		base = r.now()
	}
	st := base
	var records []record
	for _, op := range ops {
		more, refusal := st.decide(op, func(upper tvc.Frontier) tvc.Frontier { return upper - min(upper, 9) })
		if refusal != nil {
			r.t.Fatal(refusal)
		}
		if len(more) == 0 {
			continue
		}
		st = st.apply(more)
		st.version = base.versionOf() + 1
		records = append(records, more...)
	}
	if len(records) == 0 {
		return
	}
	r.states = append(r.states, st)
	r.entries = append(r.entries, consensus.Versioned{Version: st.version, Data: encodeEntry(Token{1, r.rng.Uint64()}, records)})
	if r.rng.IntN(5) == 0 {
		r.rollups[len(r.states)-1] = encodeRollup(st)
	}
}

// written makes up parts; of rows only their references matter here.
func (r *replayed) written(lower, upper tvc.Frontier) *Written {
	w := &Written{schema: r.now().schemaID(), stamp: r.rng.IntN(2) == 0}
	if !w.stamp {
		a, b := lower+tvc.Frontier(r.rng.Uint64N(uint64(upper-lower))), lower+tvc.Frontier(r.rng.Uint64N(uint64(upper-lower)))
		w.times = timesOf{min: tvc.Time(min(a, b)), max: tvc.Time(max(a, b)), own: a != b}
	}
	for range r.rng.IntN(3) {
		p := &partRef{schema: w.schema, rows: 1 + r.rng.IntN(100), slot: &slot{}, times: w.times}
		if r.rng.IntN(2) == 0 {
			p.inline = make([]byte, r.rng.IntN(50))
		} else {
			r.objects++
			p.object, p.size = objectName{r.rng.Uint64N(5), r.objects}, r.rng.Int64N(1000)
		}
		w.runs = append(w.runs, run{p})
		w.totals = w.totals.Add(Totals{Rows: int64(p.rows), DiffSum: r.rng.Int64N(100) - 50, Fingerprint: tvc.Fingerprint{r.rng.Uint64(), r.rng.Uint64()}})
	}
	return w
}

func (r *replayed) op() Op {
	st := r.now()
	switch r.rng.IntN(10) {
	case 0:
		return Downgrade{Shard: r.sh, Since: st.upper - min(st.upper, tvc.Frontier(r.rng.IntN(20)))}
	case 1:
		s := st.schema()
		s.Rel.Cols = append(slices.Clip(s.Rel.Cols), types.Column{Name: fmt.Sprint("c", len(s.Rel.Cols)), Type: types.TText, Nullable: true})
		return Evolve{Shard: r.sh, Expect: st.schemaID(), Schema: s}
	case 2, 3:
		if len(st.batches) == 0 {
			break
		}
		from := r.rng.IntN(len(st.batches))
		old := st.batches[from : from+1+r.rng.IntN(len(st.batches)-from)]
		last := old[len(old)-1]
		w := r.written(old[0].lower, last.upper)
		w.totals = Totals{}
		for _, b := range old {
			w.totals = w.totals.Add(b.totals)
		}
		return replace{sh: r.sh, first: old[0].id, last: last.id, since: min(st.upper-1, st.since+1), written: w}
	case 4:
		return setRollup{sh: r.sh, rollup: rollupRef{version: st.version, object: objectName{1, st.rollup.object.n + 1}}}
	}
	upper := st.upper + 1 + tvc.Frontier(r.rng.IntN(30))
	return Append{Shard: r.sh, AnyLower: true, Upper: upper, Token: Token{r.rng.Uint64N(3), r.rng.Uint64N(40)},
		Written: []*Written{r.written(st.upper, upper)}}
}

// TestReplayGivesTheState: whatever has happened to a shard, what its entries say, applied one after the other to the state
// before, or to that of any rollup, is its state.
func TestReplayGivesTheState(t *testing.T) {
	for seed := range uint64(100) {
		r := &replayed{t: t, rng: rand.New(rand.NewPCG(seed, 3)), sh: &Shard{id: "u1"}, rollups: map[int][]byte{}}
		r.do(create{Create: Create{ID: "u1", Schema: schemaOf("a,b?", seed%2 == 0)}, key: tvc.FingerprintKey{seed, 2}})
		for range 60 {
			r.do(r.op())
		}
		check := func(what string, got *state, err error, at int) {
			t.Helper()
			want := r.states[at]
			if err != nil || got.String() != want.String() || !reflect.DeepEqual(got.schemas, want.schemas) || !slices.Equal(got.tokens, want.tokens) {
				t.Fatalf("seed %d: %s, at %d: %v\n%s\nwant\n%s", seed, what, at, err, got, want)
			}
		}
		for at := range r.states {
			got, err := replay(nil, r.entries[:at+1])
			check("from the beginning", got, err, at)
			if at > 0 {
				got, err = replay(r.states[at-1], r.entries[at:at+1])
				check("from the state before", got, err, at)
			}
		}
		for from, data := range r.rollups {
			st, err := decodeRollup(data)
			check("a rollup", st, err, from)
			got, err := replay(st, r.entries[from+1:])
			check(fmt.Sprint("from the rollup of ", from), got, err, len(r.states)-1)
		}
	}
}
