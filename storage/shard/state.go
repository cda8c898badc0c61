package shard

import (
	"slices"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// state is what a shard is at one version: a value that is never changed. decide.go says what an operation
// does to it, as records; apply gives the state after a record. Nothing here knows of a clock, a store or a
// lock.
type state struct {
	version consensus.Version
	since   tvc.Frontier
	upper   tvc.Frontier
	sealed  bool
	key     tvc.FingerprintKey
	schemas []Schema // schemas[i] has SchemaID i+1
	// batches hold all updates, in the order of time: each begins where the one before ends; what is between
	// the last one's upper and the shard's upper is empty.
	batches []*batch
	// nextBatch is the id of the next batch.
	nextBatch uint64
	// tokens are those of the last appends that brought one, the newest last.
	tokens []Token
	rollup rollupRef

	// Sums over the batches.
	totals      Totals
	inlineBytes int
	objectRuns  int
}

// tokensKept is how many tokens a state remembers: an append may be tried again until that many others have
// happened.
const tokensKept = 32

// batch is updates at times in [lower, upper). Its id is its place in the order in which the shard's batches
// were made.
type batch struct {
	id           uint64
	lower, upper tvc.Frontier
	runs         []run
	// Rows of totals is how many there are; it and the following are counted from the runs.
	totals     Totals
	bytes      int64
	inline     int
	objectRuns int
}

// run is parts that are, one after the other, one sorted sequence of rows.
type run []*partRef

// partRef is a part as a state names it: inline, or an object.
type partRef struct {
	schema SchemaID
	rows   int
	times  timesOf
	// inline is the encoding of an inline part.
	inline []byte
	// object and size are the name of an object and its bytes.
	object objectName
	size   int64
	stats  part.Stats
	// slot is the part's place in the cache: not part of the value, shared by its copies.
	slot *slot
}

// timesOf says where the times of a part are. As long as it is unset, the part has not been appended.
type timesOf struct {
	// own says that each row has its time in the part; else all are at min.
	own      bool
	min, max tvc.Time
}

// objectName makes an object's key, with the shard's ID. The epoch is that of the process that made it, so that
// a later process can tell what a fenced one has left behind.
type objectName struct {
	epoch, n uint64
}

// rollupRef names the newest rollup: the state at version, as an object.
type rollupRef struct {
	version consensus.Version
	object  objectName
	// size is its bytes, as far as this process has put or read it: it is not stored.
	size int64
}

func (p *partRef) isInline() bool { return p.inline != nil }

// bytes is how large the part is, encoded.
func (p *partRef) bytes() int64 {
	if p.isInline() {
		return int64(len(p.inline))
	}
	return p.size
}

// count counts what the runs have.
func (b *batch) count() {
	b.totals.Rows, b.bytes, b.inline, b.objectRuns = 0, 0, 0, 0
	for _, r := range b.runs {
		if !r[0].isInline() {
			b.objectRuns++
		}
		for _, p := range r {
			b.totals.Rows += int64(p.rows)
			b.bytes += p.bytes()
			b.inline += len(p.inline)
		}
	}
}

func (s *state) schemaID() SchemaID { return SchemaID(len(s.schemas)) }

// schema is the latest one; a sealed shard has none.
func (s *state) schema() Schema {
	if s.sealed {
		return Schema{}
	}
	return s.schemas[len(s.schemas)-1]
}

// record is one change of a state. The set is closed: recCreate, recAppend, recSince, recReplace, recEvolve,
// recSeal, recRollup.
type record interface{ record() }

type recCreate struct {
	schema       Schema
	since, upper tvc.Frontier
	key          tvc.FingerprintKey
}

// recAppend moves the upper, and since along with it, and adds a batch, unless it is empty.
type recAppend struct {
	token        Token // zero: none
	upper, since tvc.Frontier
	runs         []run
	totals       Totals
}

type recSince struct{ since tvc.Frontier }

// recReplace puts one batch in the place of several neighbours. What a compaction has nothing left of has no
// runs.
type recReplace struct {
	first, last uint64 // ids of the first and the last batch to go
	since       tvc.Frontier
	runs        []run
}

type recEvolve struct{ schema Schema }

type recSeal struct{}

type recRollup struct{ rollup rollupRef }

func (recCreate) record()  {}
func (recAppend) record()  {}
func (recSince) record()   {}
func (recReplace) record() {}
func (recEvolve) record()  {}
func (recSeal) record()    {}
func (recRollup) record()  {}

// apply gives the state after one version's records; s is nil before the first. It takes only what decide has
// let pass, so what cannot be is a broken promise.
func (s *state) apply(records []record) *state {
	next := &state{}
	if s != nil {
		*next = *s
	}
	next.version++
	for _, r := range records {
		next.step(r)
	}
	return next
}

// step changes s, a state of its own but for its slices, which are shared.
func (s *state) step(r record) {
	switch r := r.(type) {
	case recCreate:
		s.since, s.upper, s.key = r.since, r.upper, r.key
		s.schemas = []Schema{r.schema}
	case recAppend:
		s.append(r)
	case recSince:
		s.moveSince(r.since)
	case recReplace:
		s.replace(r)
	case recEvolve:
		s.schemas = append(slices.Clip(s.schemas), r.schema)
	case recSeal:
		// What is left is the same whatever was before, so that a register can be cut down to this entry.
		*s = state{version: s.version, sealed: true, since: tvc.Done, upper: tvc.Done}
	case recRollup:
		s.rollup = r.rollup
	default:
		invariants.Failf("shard: unknown record %T", r)
	}
}

func (s *state) moveSince(since tvc.Frontier) {
	if since < s.since {
		invariants.Failf("since went back from %v to %v", s.since, since)
	}
	s.since = since
}

func (s *state) append(r recAppend) {
	if r.upper < s.upper {
		invariants.Failf("upper went back from %v to %v", s.upper, r.upper)
	}
	s.checkSchemas(r.runs)
	if len(r.runs) > 0 {
		lower := tvc.Frontier(0)
		if n := len(s.batches); n > 0 {
			lower = s.batches[n-1].upper
		}
		b := &batch{id: s.nextBatch, lower: lower, upper: r.upper, runs: r.runs, totals: r.totals}
		b.count()
		s.nextBatch++
		s.batches = append(slices.Clip(s.batches), b)
		s.totals = s.totals.Add(b.totals)
		s.inlineBytes += b.inline
		s.objectRuns += b.objectRuns
	}
	s.upper = r.upper
	s.moveSince(r.since)
	if r.token != (Token{}) {
		keep := s.tokens
		if len(keep) == tokensKept {
			keep = keep[1:]
		}
		s.tokens = append(slices.Clip(keep), r.token)
	}
}

// find gives the positions [from, to) of the batches with ids first to last.
func (s *state) find(first, last uint64) (from, to int, ok bool) {
	from = slices.IndexFunc(s.batches, func(b *batch) bool { return b.id == first })
	to = slices.IndexFunc(s.batches, func(b *batch) bool { return b.id == last })
	if from < 0 || to < from {
		return 0, 0, false
	}
	return from, to + 1, true
}

// checkSchemas sees to it that every part is of a schema the shard has, and that no run is empty.
func (s *state) checkSchemas(runs []run) {
	for _, r := range runs {
		if len(r) == 0 {
			invariants.Failf("a run has no parts")
		}
		for _, p := range r {
			if p.schema == 0 || p.schema > s.schemaID() {
				invariants.Failf("a part has schema %d of %d", p.schema, s.schemaID())
			}
		}
	}
}

func (s *state) replace(r recReplace) {
	s.checkSchemas(r.runs)
	from, to, ok := s.find(r.first, r.last)
	if !ok {
		invariants.Failf("batches %d to %d are not there to be replaced", r.first, r.last)
	}
	old := s.batches[from:to]
	b := &batch{id: s.nextBatch, lower: old[0].lower, upper: old[len(old)-1].upper, runs: r.runs}
	s.nextBatch++
	for _, o := range old {
		b.totals.DiffSum += o.totals.DiffSum
		b.totals.Fingerprint = b.totals.Fingerprint.Add(o.totals.Fingerprint)
		s.totals.Rows -= o.totals.Rows
		s.inlineBytes -= o.inline
		s.objectRuns -= o.objectRuns
	}
	b.count()
	s.totals.Rows += b.totals.Rows
	s.inlineBytes += b.inline
	s.objectRuns += b.objectRuns
	batches := slices.Clone(s.batches[:from])
	batches = append(batches, b)
	s.batches = append(batches, s.batches[to:]...)
	s.moveSince(r.since)
}

// objects calls visit for every object that the state names.
func (s *state) objects(id ID, visit func(key string)) {
	for _, b := range s.batches {
		b.objects(id, visit)
	}
	if s.rollup.version > 0 {
		visit(rollupKey(id, s.rollup.object))
	}
}

func (b *batch) objects(id ID, visit func(key string)) {
	for _, r := range b.runs {
		for _, p := range r {
			if !p.isInline() {
				visit(partKey(id, p.object))
			}
		}
	}
}
