package shard

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// byHand is a shard that no writer has made: rows, a state that names them, and the entry that names the state.
//
//	batch 0 [0, 5)    run 0   p1-1, p1-2    at 4
//	batch 1 [5, 10)   run 0   inline        at 6 to 8
//	                  run 1   inline        at 9
type byHand struct {
	t         *testing.T
	blobs     *blob.Memory
	client    *Client
	state     *state
	parts     [4]handPart
	rollups   []rollupRef
	consensus *consensus.Memory
}

// handPart is a part with its rows.
type handPart struct {
	*partRef
	blocks []*vec.Block
}

// The parts of a shard that is made by hand.
const (
	firstObject = iota
	secondObject
	timedInline
	plainInline
)

func newByHand(t *testing.T) *byHand {
	h := &byHand{t: t, blobs: blob.NewMemory(), consensus: consensus.NewMemory()}
	var err error
	h.client, err = NewClient(ClientOptions{Consensus: h.consensus, Blob: h.blobs, Epoch: 1,
		Settings: settings.NewSet(Settings()...), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	schema := Schema{Rel: types.Rel{Cols: []types.Column{{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TText}}}}
	evolved := Schema{Rel: types.Rel{Cols: []types.Column{
		{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TText, Nullable: true}, {Name: "c", Type: types.TBool, Nullable: true}}}}
	at := func(first, last tvc.Time) timesOf { return timesOf{own: first != last, min: first, max: last} }
	h.parts = [4]handPart{
		firstObject:  {&partRef{schema: 1, object: objectName{1, 1}, times: at(4, 4)}, []*vec.Block{handRows("1 a", "3 -"), handRows("5 c")}},
		secondObject: {&partRef{schema: 1, object: objectName{1, 2}, times: at(4, 4)}, []*vec.Block{handRows("7 d", "7 e")}},
		timedInline:  {&partRef{schema: 2, times: at(6, 8)}, []*vec.Block{handRows("1 a -", "1 a -", "2 b -")}},
		plainInline:  {&partRef{schema: 2, times: at(9, 9)}, []*vec.Block{handRows("1 a -", "2 - -")}},
	}
	h.parts[timedInline].blocks[0].Times = []uint64{6, 8, 7}
	h.state = &state{
		version: 1, since: 2, upper: 12, key: tvc.FingerprintKey{1, 2}, schemas: []Schema{schema, evolved}, nextBatch: 2,
		batches: []*batch{
			{id: 0, lower: 0, upper: 5, runs: []run{{h.parts[firstObject].partRef, h.parts[secondObject].partRef}}},
			{id: 1, lower: 5, upper: 10, runs: []run{{h.parts[timedInline].partRef}, {h.parts[plainInline].partRef}}},
		},
	}
	h.rollups = []rollupRef{{version: 1, object: objectName{1, 9}}}
	return h
}

// handRows reads rows of an int, a text and perhaps a bool, with - for NULL.
func handRows(rows ...string) *vec.Block {
	kinds := []types.Kind{types.Int, types.Bytes, types.Bool}
	var b *vec.Block
	for _, r := range rows {
		var a int64
		var text, flag string
		n, _ := fmt.Sscan(r, &a, &text, &flag)
		if b == nil {
			b = vec.NewBlock(kinds[:n], 0)
		}
		row := []vec.Datum{vec.IntOf(a), vec.Null, vec.Null}
		if text != "-" {
			row[1] = vec.StrOf(text)
		}
		b.AppendRow(1, row[:n]...)
	}
	return b
}

// encode encodes the rows and notes in the state what is true of them.
func (h *byHand) encode() {
	codec := h.client.codec.NewEncoder()
	for i, p := range h.parts {
		p.slot, p.rows = &slot{}, 0
		for _, b := range p.blocks {
			p.rows += b.Len
		}
		if i >= timedInline {
			p.inline = part.AppendInline(nil, p.blocks[0])
			continue
		}
		data, err := codec.Encode(p.blocks, part.EncodeOptions{Schema: uint32(p.schema)})
		if err != nil {
			h.t.Fatal(err)
		}
		p.size, p.stats = int64(len(data)), part.StatsOf(p.blocks)
		h.put(partKey("u1", p.object), data)
	}
	sums := tvc.NewFingerprinter(h.state.key, false)
	for i, p := range h.parts {
		for _, b := range p.blocks {
			into := h.state.batches[i/2]
			into.totals = into.totals.Add(totalsOf(sums, migrate(b, p.schema, h.state)))
		}
	}
}

// commit puts the state as a rollup and commits the entries that name it.
func (h *byHand) commit() {
	h.put(rollupKey("u1", objectName{1, 9}), encodeRollup(h.state))
	named := make([]record, len(h.rollups))
	for i, r := range h.rollups {
		named[i] = recRollup{r}
	}
	for i, records := range [][]record{{recCreate{schema: h.state.schemas[0], key: h.state.key}}, named} {
		out, err := h.consensus.Commit(context.Background(), []consensus.Unit{{
			{Key: RegisterKey("u1"), Expect: consensus.Version(i), Data: encodeEntry(Token{1, uint64(i)}, records)}}})
		if err != nil || !out[0].Done {
			h.t.Fatal(out, err)
		}
	}
}

func (h *byHand) put(key string, data []byte) {
	h.t.Helper()
	if err := h.blobs.Put(context.Background(), key, data); err != nil {
		h.t.Fatal(err)
	}
}

func (h *byHand) check() Report {
	h.t.Helper()
	r, err := h.client.Check(context.Background(), "u1")
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// spoilt is one way to spoil a shard that is made by hand, and the one fault that Check then tells.
type spoilt struct {
	name string
	// rows spoils the rows before they are encoded, says what the state says of them.
	rows, says func(h *byHand)
	want       string
}

// spoiltRows are rows that break a promise, of which the state says what is true.
var spoiltRows = []spoilt{
	{name: "rows are not sorted", rows: func(h *byHand) { h.parts[firstObject].blocks[0] = handRows("3 -", "1 a") },
		want: "batch 0, run 0, object u1/p1-1: row 1 is out of order"},
	{name: "rows are not consolidated", rows: func(h *byHand) { h.parts[firstObject].blocks[0] = handRows("1 a", "1 a") },
		want: "batch 0, run 0, object u1/p1-1: row 1 is out of order"},
	{name: "blocks are not sorted", rows: func(h *byHand) { slices.Reverse(h.parts[firstObject].blocks) },
		want: "batch 0, run 0, object u1/p1-1: row 0 is out of order"},
	{name: "a row goes on in the next block", rows: func(h *byHand) { h.parts[firstObject].blocks[1] = handRows("3 -") },
		want: "batch 0, run 0, object u1/p1-1: row 0 is out of order"},
	{name: "parts of a run are not sorted", rows: func(h *byHand) { h.parts[secondObject].blocks[0] = handRows("4 d") },
		want: "batch 0, run 0, object u1/p1-2: row 0 is out of order"},
	{name: "a row goes on in the next part", rows: func(h *byHand) { h.parts[secondObject].blocks[0] = handRows("5 c") },
		want: "batch 0, run 0, object u1/p1-2: row 0 is out of order"},
	{name: "a row goes back in time in the next part", rows: func(h *byHand) {
		h.parts[firstObject].times, h.parts[secondObject].times = timesOf{min: 3, max: 3}, timesOf{min: 2, max: 2}
		h.parts[secondObject].blocks[0] = handRows("5 c")
	}, want: "batch 0, run 0, object u1/p1-2: row 0 is out of order"},
	{name: "times of a row are not sorted", rows: func(h *byHand) { h.parts[timedInline].blocks[0].Times = []uint64{8, 6, 7} },
		want: "batch 1, run 0, inline part of u1: row 1 is out of order"},
	{name: "a row comes twice at a time", rows: func(h *byHand) { h.parts[timedInline].blocks[0].Times = []uint64{6, 6, 8} },
		want: "batch 1, run 0, inline part of u1: row 1 is out of order"},
	{name: "a row counts nothing", rows: func(h *byHand) { h.parts[secondObject].blocks[0].Diffs = []int64{2, 0} },
		want: "batch 0, run 0, object u1/p1-2: row 1 counts nothing"},
	{name: "a time before the part's", rows: func(h *byHand) { h.parts[timedInline].blocks[0].Times[0] = 5 },
		want: "batch 1, run 0, inline part of u1: row 0 is at 5, outside of 6 to 8"},
	{name: "a time after the part's", rows: func(h *byHand) { h.parts[timedInline].blocks[0].Times[1] = 9 },
		want: "batch 1, run 0, inline part of u1: row 1 is at 9, outside of 6 to 8"},
	{name: "times are missing", rows: func(h *byHand) {
		p := &h.parts[timedInline]
		p.blocks[0] = handRows("1 a -", "2 b -")
	}, want: "batch 1, run 0, inline part of u1: times where there should be none, or none where there should be"},
	{name: "times too many", rows: func(h *byHand) { h.parts[plainInline].blocks[0].Times = []uint64{9, 9} },
		want: "batch 1, run 1, inline part of u1: times where there should be none, or none where there should be"},
}

// spoiltStates say of sound rows what is not true.
var spoiltStates = []spoilt{
	{name: "a gap between batches", says: func(h *byHand) { h.state.batches[1].lower = 6 },
		want: "batch 1 is of [6, 10), the one before ends at 5"},
	{name: "the first batch does not begin at 0", says: func(h *byHand) { h.state.batches[0].lower = 1 },
		want: "batch 0 is of [1, 5), the one before ends at 0"},
	{name: "batches overlap", says: func(h *byHand) { h.state.batches[0].upper = 6 },
		want: "batch 1 is of [5, 10), the one before ends at 6"},
	{name: "a batch of no time", says: func(h *byHand) {
		h.state.batches = append(h.state.batches, &batch{id: 2, lower: 10, upper: 10})
	}, want: "batch 2 is of [10, 10), the one before ends at 10"},
	{name: "batches past the upper", says: func(h *byHand) { h.state.upper = 9 },
		want: "batches end at 10, past the upper 9"},
	{name: "since past the upper", says: func(h *byHand) { h.state.since = 13 },
		want: "since 13 is past the upper 12"},
	{name: "a part begins before its batch", says: func(h *byHand) { h.parts[timedInline].times.min = 4 },
		want: "batch 1 [5, 10): inline part of u1 is of times 4 to 8"},
	{name: "a part ends after its batch", says: func(h *byHand) { h.parts[timedInline].times.max = 10 },
		want: "batch 1 [5, 10): inline part of u1 is of times 6 to 10"},
	{name: "a part ends before it begins", says: func(h *byHand) { h.parts[timedInline].times = timesOf{own: true, min: 8, max: 6} },
		want: "batch 1 [5, 10): inline part of u1 is of times 8 to 6"},
	{name: "fewer rows", says: func(h *byHand) { h.parts[plainInline].rows = 1 },
		want: "batch 1: the rows' sums are {Rows:5 DiffSum:5 Fingerprint:088d86360c10a4601955c1415069e6b8}, the state says {Rows:4 DiffSum:5 Fingerprint:088d86360c10a4601955c1415069e6b8}"},
	{name: "another Σdiff", says: func(h *byHand) { h.state.batches[0].totals.DiffSum = 7 },
		want: "batch 0: the rows' sums are {Rows:5 DiffSum:5 Fingerprint:717c54cc1d404dd68093ae80f21b1041}, the state says {Rows:5 DiffSum:7 Fingerprint:717c54cc1d404dd68093ae80f21b1041}"},
	{name: "another fingerprint", says: func(h *byHand) { h.state.batches[0].totals.Fingerprint = tvc.Fingerprint{0, 7} },
		want: "batch 0: the rows' sums are {Rows:5 DiffSum:5 Fingerprint:717c54cc1d404dd68093ae80f21b1041}, the state says {Rows:5 DiffSum:5 Fingerprint:00000000000000000000000000000007}"},
	{name: "a value below the least", says: func(h *byHand) { h.parts[firstObject].stats[0].Min = vec.IntOf(2) },
		want: "batch 0, run 0, object u1/p1-1: row 0, column 0 is outside of its statistics"},
	{name: "a value above the greatest", says: func(h *byHand) { h.parts[firstObject].stats[1].Max = vec.StrOf("b") },
		want: "batch 0, run 0, object u1/p1-1: row 0, column 1 is outside of its statistics"},
	{name: "fewer NULLs than there are", says: func(h *byHand) { h.parts[firstObject].stats[1].Nulls = 0 },
		want: "batch 0, run 0, object u1/p1-1: column 1 is NULL in 1 rows, in 0 by its statistics"},
	{name: "more NULLs than there are", says: func(h *byHand) { h.parts[secondObject].stats[1].Nulls = 2 },
		want: "batch 0, run 0, object u1/p1-2: column 1 is NULL in 0 rows, in 2 by its statistics"},
	{name: "statistics of a column too many", says: func(h *byHand) {
		p := h.parts[secondObject]
		p.stats = append(p.stats, part.ColumnStats{})
	}, want: "batch 0, run 0, object u1/p1-2: statistics of 3 columns, of which there are 2"},
	{name: "an object of fewer rows", says: func(h *byHand) { h.parts[secondObject].rows = 3 },
		want: "object u1/p1-2: corrupt part: 2 rows of schema 1 where the state says 3 of 1"},
	{name: "an object of another schema", says: func(h *byHand) { h.parts[secondObject].schema = 2 },
		want: "object u1/p1-2: corrupt part: 2 rows of schema 1 where the state says 2 of 2"},
	{name: "a column of another kind", says: func(h *byHand) { h.state.schemas[0].Rel.Cols[1].Type = types.TInt8 },
		want: "object u1/p1-1: corrupt part: column 1: binary where int was expected"},
	{name: "an object is missing", says: func(h *byHand) { h.parts[firstObject].object.n = 3 },
		want: "object u1/p1-3: object not found"},
	{name: "an object is damaged", says: func(h *byHand) { h.put("u1/p1-2", make([]byte, 200)) },
		want: "object u1/p1-2: corrupt part: version 0 is not known"},
	{name: "an inline part is damaged", says: func(h *byHand) { h.parts[plainInline].inline[0] = 9 },
		want: "inline part of u1: corrupt part: inline part of an unknown version"},
	{name: "a rollup of another version", says: func(h *byHand) { h.rollups[0].version = 2 },
		want: "u1/r1-9 is of version 1, the state says 2"},
	{name: "the rollup is missing", says: func(h *byHand) { h.nameAnotherRollup() },
		want: "object u1/r1-8: object not found"},
	{name: "the rollup is damaged", says: func(h *byHand) {
		h.nameAnotherRollup()
		h.put("u1/r1-8", []byte("garbage, and enough of it"))
	}, want: "u1/r1-8: corrupt shard state: rollup of an unknown version"},
}

// nameAnotherRollup has the entry name a further rollup, which is the one that counts; the state is still read from the
// first one.
func (h *byHand) nameAnotherRollup() {
	h.rollups = append(h.rollups, rollupRef{version: 1, object: objectName{1, 8}})
}

// TestCheckTellsEachFault: whatever is wrong with a shard, Check says just that, and nothing of a sound one.
func TestCheckTellsEachFault(t *testing.T) {
	sound := newByHand(t)
	sound.encode()
	sound.commit()
	r := sound.check()
	if len(r.Faults) > 0 {
		t.Fatal(r.Faults)
	}
	if want := []string{"u1/p1-1", "u1/p1-2", "u1/r1-9"}; r.Since != 2 || r.Upper != 12 || r.Sealed || r.Batches != 2 ||
		r.Totals.Rows != 10 || r.Totals.DiffSum != 10 || r.InlineBytes != len(sound.parts[timedInline].inline)+len(sound.parts[plainInline].inline) || !slices.Equal(r.Objects, want) {
		t.Fatalf("%+v", r)
	}
	for _, c := range slices.Concat(spoiltRows, spoiltStates) {
		t.Run(c.name, func(t *testing.T) {
			h := newByHand(t)
			if c.rows != nil {
				c.rows(h)
			}
			h.encode()
			if c.says != nil {
				c.says(h)
			}
			h.commit()
			if r := h.check(); len(r.Faults) != 1 || r.Faults[0].Error() != c.want {
				t.Errorf("faults are %v\nwant %s", r.Faults, c.want)
			}
		})
	}
}

// TestCheckKnowsPartsAtOneTime: what a part does not say of each row, since it is the same for all, orders them nevertheless.
func TestCheckKnowsPartsAtOneTime(t *testing.T) {
	h := newByHand(t)
	h.parts[firstObject].times, h.parts[secondObject].times = timesOf{min: 2, max: 2}, timesOf{min: 3, max: 3}
	h.parts[secondObject].blocks[0] = handRows("5 c", "7 e")
	h.encode()
	h.commit()
	if r := h.check(); len(r.Faults) > 0 {
		t.Error(r.Faults)
	}
}

// TestStateKnowsItsSums: what a state carries on from version to version are the sums of its batches.
func TestStateKnowsItsSums(t *testing.T) {
	h := newByHand(t)
	h.encode()
	for _, b := range h.state.batches {
		h.state.totals = h.state.totals.Add(b.totals)
	}
	if faults := h.state.faults(); len(faults) > 0 {
		t.Fatal(faults)
	}
	sums := h.state.totals
	for _, spoil := range []func(*Totals){
		func(t *Totals) { t.Rows++ }, func(t *Totals) { t.DiffSum-- }, func(t *Totals) { t.Fingerprint[1]++ },
	} {
		h.state.totals = sums
		spoil(&h.state.totals)
		want := fmt.Sprintf("the batches' sums are %+v, the state says %+v", sums, h.state.totals)
		if faults := h.state.faults(); len(faults) != 1 || faults[0].Error() != want {
			t.Errorf("faults are %v\nwant %s", faults, want)
		}
	}
}
