package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// ErrCorrupt says that bytes of a shard's register or rollup are not what was written.
var ErrCorrupt = errors.New("corrupt shard state")

// Versions of the formats, see FORMAT.md.
const (
	entryVersion  = 1
	rollupVersion = 1
)

// castagnoli is the table of the checksum of entries.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kinds of records.
const (
	tagCreate = iota + 1
	tagAppend
	tagSince
	tagReplace
	tagEvolve
	tagSeal
	tagRollup
)

// Flags of a part.
const (
	partObject    = 1 << 0 // an object, else inline
	partOwnTimes  = 1 << 1 // each row has its time
	partOtherTime = 1 << 2 // all rows at one time that is not the append's last
)

// encodeEntry gives the bytes of one version's records. token is the unit's: it makes the bytes unique.
func encodeEntry(token Token, records []record) []byte {
	e := encoder{buf: make([]byte, 5, 128)}
	e.buf[0] = entryVersion
	e.token(token)
	for _, r := range records {
		e.record(r)
	}
	binary.LittleEndian.PutUint32(e.buf[1:], crc32.Checksum(e.buf[5:], castagnoli))
	return e.buf
}

// encoder appends to buf.
type encoder struct{ buf []byte }

func (e *encoder) uint(x uint64)           { e.buf = binary.AppendUvarint(e.buf, x) }
func (e *encoder) int(x int64)             { e.buf = binary.AppendVarint(e.buf, x) }
func (e *encoder) byte(x byte)             { e.buf = append(e.buf, x) }
func (e *encoder) frontier(f tvc.Frontier) { e.uint(uint64(f)) }
func (e *encoder) token(t Token)           { e.uint(t.Epoch); e.uint(t.N) }
func (e *encoder) object(o objectName)     { e.uint(o.epoch); e.uint(o.n) }

func (e *encoder) bytes(x []byte) {
	e.uint(uint64(len(x)))
	e.buf = append(e.buf, x...)
}

func (e *encoder) pair(x [2]uint64) {
	e.buf = binary.LittleEndian.AppendUint64(e.buf, x[0])
	e.buf = binary.LittleEndian.AppendUint64(e.buf, x[1])
}

func (e *encoder) record(r record) {
	switch r := r.(type) {
	case recCreate:
		e.byte(tagCreate)
		e.schema(r.schema)
		e.frontier(r.since)
		e.frontier(r.upper)
		e.pair(r.key)
	case recAppend:
		e.byte(tagAppend)
		e.frontier(r.upper)
		e.uint(uint64(r.upper - r.since))
		e.token(r.token)
		e.runs(r.runs, r.upper.Last())
		if len(r.runs) > 0 {
			e.sums(r.totals)
		}
	case recSince:
		e.byte(tagSince)
		e.frontier(r.since)
	case recReplace:
		e.byte(tagReplace)
		e.uint(r.first)
		e.int(int64(r.last - r.first)) // ids are not in order: a merged batch has a later one
		e.frontier(r.since)
		e.runs(r.runs, noTime)
	case recEvolve:
		e.byte(tagEvolve)
		e.schema(r.schema)
	case recSeal:
		e.byte(tagSeal)
	case recRollup:
		e.byte(tagRollup)
		e.uint(uint64(r.rollup.version))
		e.object(r.rollup.object)
	default:
		panic(fmt.Sprintf("shard: unknown record %T", r))
	}
}

// noTime is no part's time.
const noTime = tvc.Time(math.MaxUint64)

// sums are the totals that cannot be had by counting rows.
func (e *encoder) sums(t Totals) {
	e.int(t.DiffSum)
	e.pair(t.Fingerprint)
}

// runs encodes runs of parts; a part all of whose rows are at the time implied does not say so.
func (e *encoder) runs(runs []run, implied tvc.Time) {
	e.uint(uint64(len(runs)))
	for _, r := range runs {
		e.uint(uint64(len(r)))
		for _, p := range r {
			e.part(p, implied)
		}
	}
}

func (e *encoder) part(p *partRef, implied tvc.Time) {
	flags := byte(0)
	if !p.isInline() {
		flags |= partObject
	}
	switch {
	case p.times.own:
		flags |= partOwnTimes
	case p.times.min != implied:
		flags |= partOtherTime
	}
	e.byte(flags)
	e.uint(uint64(p.schema))
	e.uint(uint64(p.rows))
	switch {
	case p.times.own:
		e.uint(uint64(p.times.min))
		e.uint(uint64(p.times.max - p.times.min))
	case p.times.min != implied:
		e.uint(uint64(p.times.min))
	}
	if p.isInline() {
		e.bytes(p.inline)
		return
	}
	e.object(p.object)
	e.uint(uint64(p.size))
	e.buf = part.AppendStats(e.buf, p.stats)
}

// decodeEntry reads what encodeEntry wrote.
func decodeEntry(data []byte) (Token, []record, error) {
	if len(data) < 5 || data[0] != entryVersion {
		return Token{}, nil, fmt.Errorf("%w: entry of an unknown version", ErrCorrupt)
	}
	if crc32.Checksum(data[5:], castagnoli) != binary.LittleEndian.Uint32(data[1:]) {
		return Token{}, nil, fmt.Errorf("%w: entry's checksum does not match", ErrCorrupt)
	}
	d := decoder{data: data[5:]}
	token := d.token()
	var records []record
	for len(d.data) > 0 {
		records = append(records, d.record())
	}
	if d.failed {
		return Token{}, nil, fmt.Errorf("%w: entry", ErrCorrupt)
	}
	return token, records, nil
}

// decoder reads from data; after a failure data is empty and what it gives means nothing.
type decoder struct {
	data   []byte
	failed bool
}

func (d *decoder) fail() { d.failed, d.data = true, nil }

func (d *decoder) uint() uint64 {
	x, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return x
}

func (d *decoder) int() int64 {
	x, n := binary.Varint(d.data)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[n:]
	return x
}

// count reads a number of things of at least one byte each.
func (d *decoder) count() int {
	x := d.uint()
	if x > uint64(len(d.data)) {
		d.fail()
		return 0
	}
	return int(x)
}

// number reads a number that fits an int.
func (d *decoder) number() int {
	x := d.uint()
	if x > math.MaxInt64 {
		d.fail()
		return 0
	}
	return int(x)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.data) {
		d.fail()
		return nil
	}
	x := d.data[:n:n]
	d.data = d.data[n:]
	return x
}

func (d *decoder) byte() byte {
	if x := d.take(1); len(x) == 1 {
		return x[0]
	}
	return 0
}

func (d *decoder) pair() [2]uint64 {
	x := d.take(16)
	if d.failed {
		return [2]uint64{}
	}
	return [2]uint64{binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[8:])}
}

func (d *decoder) frontier() tvc.Frontier { return tvc.Frontier(d.uint()) }
func (d *decoder) bytes() []byte          { return d.take(d.count()) }
func (d *decoder) token() Token           { return Token{Epoch: d.uint(), N: d.uint()} }
func (d *decoder) object() objectName     { return objectName{epoch: d.uint(), n: d.uint()} }

func (d *decoder) record() record {
	switch d.byte() {
	case tagCreate:
		return recCreate{schema: d.schema(), since: d.frontier(), upper: d.frontier(), key: d.pair()}
	case tagAppend:
		r := recAppend{upper: d.frontier()}
		behind := d.uint()
		if behind > uint64(r.upper) {
			d.fail()
		}
		r.since = r.upper - tvc.Frontier(behind)
		r.token = d.token()
		r.runs = d.runs(r.upper.Last())
		if len(r.runs) > 0 {
			r.totals = d.sums()
		}
		return r
	case tagSince:
		return recSince{d.frontier()}
	case tagReplace:
		r := recReplace{first: d.uint()}
		r.last = r.first + uint64(d.int())
		r.since = d.frontier()
		r.runs = d.runs(noTime)
		return r
	case tagEvolve:
		return recEvolve{d.schema()}
	case tagSeal:
		return recSeal{}
	case tagRollup:
		return recRollup{rollupRef{version: consensus.Version(d.uint()), object: d.object()}}
	}
	d.fail()
	return recSeal{}
}

func (d *decoder) sums() Totals {
	return Totals{DiffSum: d.int(), Fingerprint: d.pair()}
}

func (d *decoder) runs(implied tvc.Time) []run {
	runs := make([]run, d.count())
	for i := range runs {
		runs[i] = make(run, d.count())
		for k := range runs[i] {
			runs[i][k] = d.part(implied)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return runs
}

func (d *decoder) part(implied tvc.Time) *partRef {
	flags := d.byte()
	p := &partRef{schema: SchemaID(d.uint()), rows: d.number(), slot: &slot{}}
	switch {
	case flags&partOwnTimes != 0:
		p.times.own = true
		p.times.min = tvc.Time(d.uint())
		p.times.max = p.times.min + tvc.Time(d.uint())
	case flags&partOtherTime != 0:
		p.times.min = tvc.Time(d.uint())
		p.times.max = p.times.min
	default:
		p.times.min, p.times.max = implied, implied
	}
	if flags&partObject == 0 {
		// The entry's bytes are the caller's to keep, and so is the part's piece of them.
		p.inline = d.bytes()
		if p.inline == nil {
			p.inline = []byte{}
		}
		return p
	}
	p.object = d.object()
	p.size = int64(d.number())
	stats, rest, err := part.DecodeStats(d.data)
	if err != nil {
		d.fail()
		return p
	}
	p.stats, d.data = stats, rest
	return p
}

// encodeRollup gives the bytes of a whole state.
func encodeRollup(s *state) []byte {
	e := encoder{buf: make([]byte, 9, 1024)}
	e.buf[0] = rollupVersion
	e.uint(uint64(s.version))
	e.frontier(s.since)
	e.frontier(s.upper)
	sealed := byte(0)
	if s.sealed {
		sealed = 1
	}
	e.byte(sealed)
	e.pair(s.key)
	e.uint(uint64(len(s.schemas)))
	for _, sc := range s.schemas {
		e.schema(sc)
	}
	e.uint(uint64(len(s.tokens)))
	for _, t := range s.tokens {
		e.token(t)
	}
	e.uint(uint64(s.rollup.version))
	e.object(s.rollup.object)
	e.uint(s.nextBatch)
	e.uint(uint64(len(s.batches)))
	for _, b := range s.batches {
		e.uint(b.id)
		e.frontier(b.lower)
		e.frontier(b.upper)
		e.sums(b.totals)
		e.runs(b.runs, b.upper.Last())
	}
	binary.LittleEndian.PutUint64(e.buf[1:], xxh3.Hash(e.buf[9:]))
	return e.buf
}

// decodeRollup reads what encodeRollup wrote.
func decodeRollup(data []byte) (*state, error) {
	if len(data) < 9 || data[0] != rollupVersion {
		return nil, fmt.Errorf("%w: rollup of an unknown version", ErrCorrupt)
	}
	if xxh3.Hash(data[9:]) != binary.LittleEndian.Uint64(data[1:]) {
		return nil, fmt.Errorf("%w: rollup's checksum does not match", ErrCorrupt)
	}
	d := decoder{data: data[9:]}
	s := &state{version: consensus.Version(d.uint()), since: d.frontier(), upper: d.frontier(), sealed: d.byte() != 0, key: d.pair()}
	for range d.count() {
		s.schemas = append(s.schemas, d.schema())
	}
	for range d.count() {
		s.tokens = append(s.tokens, d.token())
	}
	s.rollup = rollupRef{version: consensus.Version(d.uint()), object: d.object()}
	s.nextBatch = d.uint()
	for range d.count() {
		b := &batch{id: d.uint(), lower: d.frontier(), upper: d.frontier(), totals: d.sums()}
		b.runs = d.runs(b.upper.Last())
		for _, r := range b.runs {
			if len(r) == 0 {
				return nil, fmt.Errorf("%w: rollup", ErrCorrupt)
			}
		}
		b.count()
		s.batches = append(s.batches, b)
		s.totals = s.totals.Add(b.totals)
		s.inlineBytes += b.inline
		s.objectRuns += b.objectRuns
	}
	if d.failed || len(d.data) > 0 || len(s.schemas) == 0 {
		return nil, fmt.Errorf("%w: rollup", ErrCorrupt)
	}
	return s, nil
}
