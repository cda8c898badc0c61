package storagetest_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/storage/tvc"
)

// request is what a client asks of a process, and reply what it is told. They go through pipes when the process is a real one.
type request struct {
	// Op is "open", "append", "read", "since", "hold", "downgrade" or "maintain".
	Op string
	// Process numbers the processes in the order in which they are started.
	Process int
	Shard   int
	// Both has an append go to both shards, or to none.
	Both bool
	// AnyLower, Lower and Upper are an append's; Upper is also where a hold is downgraded to.
	AnyLower     bool
	Lower, Upper tvc.Frontier
	// Rows are the keys of an append's rows; that of a row that is taken back is negative.
	Rows []int64
	// Object has the rows of an append in an object.
	Object bool
	// AsOf is when to read, 0 the latest complete time.
	AsOf tvc.Time
	// Hold numbers the holds of a shard.
	Hold int
}

type reply struct {
	Status status
	// Refused is the shard that refused an append, Upper its upper; of a read, Upper is that of the shard.
	Refused int
	Upper   tvc.Frontier
	// Since is where a shard can be read from, or a hold was taken; an open tells of all shards.
	Since [shards]tvc.Frontier
	// Sum is the fingerprint of the contents that were read.
	Sum uint64
	Err string
}

type status string

const (
	done    status = "done"
	refused status = "refused"
	// failed: determinately nothing has happened.
	failed status = "failed"
	// unknown: it has happened or not.
	unknown status = "unknown"
	// fenced: another process has taken over.
	fenced status = "fenced"
	// gone: what was to be read is no longer there.
	gone status = "gone"
)

// shards and holds are how many shards there are, and holds on each.
const shards, holds = 2, 2

// sumOf is a fingerprint of rows that is the sum of those of the rows, so that a multiset has one.
func sumOf(rows []int64) uint64 {
	sum := uint64(0)
	for _, k := range rows {
		var key [8]byte
		binary.LittleEndian.PutUint64(key[:], uint64(max(k, -k)))
		if h := xxh3.Hash(key[:]); k > 0 {
			sum += h
		} else {
			sum -= h
		}
	}
	return sum
}

// spec is what a shard is to its clients: a log of appends that are complete, of which what is before since may be forgotten.
// It says nothing of how.
type spec struct {
	// owner is the process that may write.
	owner int
	// since is the latest that was told. It may be later in truth, but not later than a hold.
	since tvc.Frontier
	holds [holds]tvc.Frontier
	log   *past
}

// past is the shard after an append, and before it. It is never changed.
type past struct {
	upper  tvc.Frontier
	sum    uint64 // of all rows up to here
	hash   uint64 // of all that is in the log
	before *past
}

func (s spec) equal(t spec) bool {
	return s.owner == t.owner && s.since == t.since && s.holds == t.holds && s.log.hash == t.log.hash
}

// nobody is the owner when none of the processes that are known is.
const nobody = -1

func newSpec() spec {
	return spec{owner: nobody, holds: [holds]tvc.Frontier{tvc.Done, tvc.Done}, log: &past{}}
}

// held is how far since may have gone.
func (s spec) held() tvc.Frontier {
	f := max(s.log.upper, 1) - 1
	for _, h := range s.holds {
		f = min(f, h)
	}
	return f
}

// at gives the sum of the rows at or before a time.
func (s spec) at(t tvc.Time) uint64 {
	p := s.log
	for p.before != nil && p.upper.Last() > t {
		p = p.before
	}
	return p.sum
}

// mayAppend says whether an append must be done by this process now, if it is done at all.
func (s spec) mayAppend(q request) bool {
	if q.AnyLower {
		return s.log.upper < q.Upper
	}
	return s.log.upper == q.Lower
}

func (s spec) append(q request) spec {
	next := &past{upper: q.Upper, sum: s.log.sum + sumOf(q.Rows), before: s.log}
	var buf [24]byte
	binary.LittleEndian.PutUint64(buf[:], s.log.hash)
	binary.LittleEndian.PutUint64(buf[8:], uint64(next.upper))
	binary.LittleEndian.PutUint64(buf[16:], next.sum)
	next.hash = xxh3.Hash(buf[:])
	s.log = next
	return s
}

// step gives the states in which an operation with this answer may leave the shard: none if there can be no such answer.
func (s spec) step(q request, r reply, at int) []spec {
	nothing := []spec{s}
	deposed := s
	deposed.owner = nobody
	switch {
	case q.Op == "open" && r.Status != done:
		// The one before may be fenced, or not.
		return []spec{s, deposed}
	case q.Op == "open" && r.Since[at] < s.since:
		return nil
	case q.Op == "open":
		// Holds end with the process that has them; the next one has its first when it answers.
		s.owner, s.since, s.holds = q.Process, r.Since[at], [holds]tvc.Frontier{r.Since[at], tvc.Done}
		return []spec{s}
	}
	switch r.Status {
	case failed:
		return nothing
	case fenced:
		// Perhaps by one that no client has heard of.
		if s.owner == q.Process {
			return []spec{deposed}
		}
		return nothing
	}
	if s.owner != q.Process {
		// What a process remembers whose time is past may be old. What it writes must not be done.
		if q.Op == "append" && r.Status == done {
			return nil
		}
		return nothing
	}
	switch q.Op {
	case "append":
		return s.stepAppend(q, r, at)
	case "read":
		return s.stepRead(q, r)
	case "since":
		if r.Since[at] < s.since || r.Since[at] > max(s.since, s.held()) {
			return nil
		}
		s.since = r.Since[at]
	case "hold":
		// A new hold in the place of an old one, which is let go only then.
		if r.Since[at] < s.since {
			return nil
		}
		s.holds[q.Hold] = r.Since[at]
	case "downgrade":
		if s.holds[q.Hold] != tvc.Done {
			s.holds[q.Hold] = max(s.holds[q.Hold], q.Upper)
		}
	}
	return []spec{s}
}

func (s spec) stepAppend(q request, r reply, at int) []spec {
	switch {
	case r.Status == unknown && s.mayAppend(q):
		return []spec{s, s.append(q)}
	case r.Status == unknown, r.Status == refused && r.Refused != at:
		return []spec{s}
	case r.Status == refused:
		if s.mayAppend(q) || r.Upper != s.log.upper {
			return nil
		}
		return []spec{s}
	case s.mayAppend(q):
		return []spec{s.append(q)}
	}
	return nil
}

func (s spec) stepRead(q request, r reply) []spec {
	if r.Status == gone {
		if f := tvc.After(q.AsOf); q.AsOf > 0 {
			if f > s.held() {
				return nil
			}
			s.since = max(s.since, f)
		}
		return []spec{s}
	}
	if q.AsOf > 0 {
		if s.at(q.AsOf) != r.Sum {
			return nil
		}
		return []spec{s}
	}
	if r.Upper != s.log.upper || r.Sum != s.log.sum {
		return nil
	}
	return []spec{s}
}

// specOf is the specification of one of the shards, for the checker. What is unknown may have happened or not.
func specOf(shard int) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{newSpec()} },
		Step: func(state, input, output any) []any {
			var next []any
			for _, s := range state.(spec).step(input.(request), output.(reply), shard) {
				next = append(next, s)
			}
			return next
		},
		Equal:             func(a, b any) bool { return a.(spec).equal(b.(spec)) },
		Hash:              func(s any) uint64 { return s.(spec).log.hash },
		DescribeOperation: func(in, out any) string { return describe(in.(request), out.(reply), shard) },
		DescribeState: func(s any) string {
			x := s.(spec)
			return fmt.Sprintf("process %d upper %v since %v holds %v sum %x", x.owner, x.log.upper, x.since, x.holds, x.log.sum)
		},
	}
	return m.ToModel()
}

func describe(q request, r reply, shard int) string {
	text := fmt.Sprintf("%d: %s", q.Process, q.Op)
	switch q.Op {
	case "append":
		lower := fmt.Sprint(q.Lower)
		if q.AnyLower {
			lower = "any"
		}
		text += fmt.Sprintf(" [%s, %v) %v %s", lower, q.Upper, q.Rows, r.Status)
		if r.Status == refused {
			text += fmt.Sprintf(" by shard %d at %v", r.Refused, r.Upper)
		}
	case "read":
		text += fmt.Sprintf(" at %d: %s %x below %v", q.AsOf, r.Status, r.Sum, r.Upper)
	case "downgrade":
		text += fmt.Sprintf(" hold %d to %v", q.Hold, q.Upper)
	case "hold":
		text += fmt.Sprintf(" %d: %s %v", q.Hold, r.Status, r.Since[shard])
	default:
		text += fmt.Sprintf(": %s %v", r.Status, r.Since[shard])
	}
	return text
}

// record is what clients asked, were told, and when, of each shard.
type record struct {
	clock atomic.Int64

	mu struct {
		sync.Mutex
		ops [shards][]porcupine.Operation
	}
}

// ask has a process do something for a client, and notes it. What is unknown may show as late as when the next process opens.
func (h *record) ask(client int, m member, q request) reply {
	call := h.clock.Add(1)
	r := m.do(q)
	back := h.clock.Add(1)
	if r.Status == unknown {
		back = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range shards {
		if i != q.Shard && !q.Both && q.Op != "open" || saysNothing(q, r, i) {
			continue
		}
		h.mu.ops[i] = append(h.mu.ops[i], porcupine.Operation{ClientId: client, Input: q, Output: r, Call: call, Return: back})
	}
	if q.Op != "open" || r.Status != done {
		return r
	}
	for i := range shards {
		for k := range h.mu.ops[i] {
			if o := &h.mu.ops[i][k]; o.Return == math.MaxInt64 && o.Input.(request).Process < q.Process {
				o.Return = back
			}
		}
	}
	return r
}

// checkLimit bounds the search for an order, of which there can be very many. A history that it cuts off proves nothing.
const checkLimit = 20 * time.Second

// saysNothing says that an answer fits every state of a shard and changes none: the checker need not find a place for it.
func saysNothing(q request, r reply, shard int) bool {
	return q.Op == "maintain" || q.Op != "open" && r.Status == failed || r.Status == refused && r.Refused != shard
}

// isLinearizable says whether each shard's operations can be put in an order, each between its call and its return, in which
// the specification gives the same answers. If not, what was recorded is drawn in files.
func (h *record) isLinearizable(tb testing.TB, draw bool) bool {
	tb.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	sound := true
	for i := range shards {
		model := specOf(i)
		result, info := porcupine.CheckOperationsVerbose(model, h.mu.ops[i], checkLimit)
		switch result {
		case porcupine.Ok:
			continue
		case porcupine.Unknown:
			tb.Logf("shard %d: not all orders of %d operations could be tried", i, len(h.mu.ops[i]))
			continue
		}
		sound = false
		if !draw {
			continue
		}
		f, err := os.CreateTemp("", "history-*.html")
		if err != nil {
			tb.Fatal(err)
		}
		if err := porcupine.Visualize(model, info, f); err != nil {
			tb.Error(err)
		}
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
		for _, o := range h.mu.ops[i] {
			tb.Logf("[%d, %d] client %d %s", o.Call, o.Return, o.ClientId, describe(o.Input.(request), o.Output.(reply), i))
		}
		tb.Logf("shard %d is not linearizable, see %s", i, f.Name())
	}
	return sound
}
