package shard

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// decide says what an operation does to a state (nil if the shard does not exist), as records, none if it has
// been done before; or why it is refused. bound is how far since may go, the given upper being the shard's;
// nil leaves since where it is.
func (s *state) decide(op Op, bound func(upper tvc.Frontier) tvc.Frontier) ([]record, *Refusal) {
	if c, ok := op.(create); ok {
		if s != nil {
			return nil, s.refuse(op, Exists)
		}
		return []record{recCreate{schema: c.Schema, since: c.Since, upper: c.Upper, key: c.key}}, nil
	}
	if s.sealed {
		return nil, s.refuse(op, Sealed)
	}
	switch op := op.(type) {
	case Append:
		return s.decideAppend(op, bound)
	case Evolve:
		if op.Expect != s.schemaID() {
			return nil, s.refuse(op, SchemaMismatch)
		}
		return []record{recEvolve{op.Schema}}, nil
	case Seal:
		return []record{recSeal{}}, nil
	case Downgrade:
		since := max(s.since, min(op.Since, sinceFor(s.since, s.upper, bound)))
		if since == s.since {
			return nil, nil
		}
		return []record{recSince{since}}, nil
	case replace:
		return s.decideReplace(op)
	case setRollup:
		if op.rollup.version <= s.rollup.version {
			return nil, s.refuse(op, Stale)
		}
		return []record{recRollup{op.rollup}}, nil
	}
	panic(fmt.Sprintf("shard: unknown operation %T", op))
}

// create is Create with what a client adds to it.
type create struct {
	Create
	key tvc.FingerprintKey
}

// replace puts what a compaction has made of some neighbouring batches in their place. The compaction has
// moved times to since.
type replace struct {
	sh          *Shard
	first, last uint64
	since       tvc.Frontier
	written     *Written
}

// setRollup names a rollup that was put.
type setRollup struct {
	sh     *Shard
	rollup rollupRef
}

func (o replace) shard() (ID, *Shard)   { return o.sh.id, o.sh }
func (o setRollup) shard() (ID, *Shard) { return o.sh.id, o.sh }

func (replace) kind() OpKind   { return KindCompaction }
func (setRollup) kind() OpKind { return KindRollup }

func (s *state) refuse(op Op, reason Reason) *Refusal {
	id, _ := op.shard()
	return &Refusal{Shard: id, Reason: reason, Upper: s.upper, Since: s.since, Schema: s.schemaID()}
}

// sinceFor is where since goes when upper is the shard's upper: as far as bound lets it, but not past the last
// complete time.
func sinceFor(since, upper tvc.Frontier, bound func(tvc.Frontier) tvc.Frontier) tvc.Frontier {
	if bound == nil || upper == 0 {
		return since
	}
	return max(since, min(bound(upper), upper-1))
}

func (s *state) decideAppend(op Append, bound func(tvc.Frontier) tvc.Frontier) ([]record, *Refusal) {
	if op.Token != (Token{}) && slices.Contains(s.tokens, op.Token) {
		return nil, nil
	}
	lower := op.Lower
	if op.AnyLower {
		lower = s.upper
		if s.upper >= op.Upper {
			return nil, s.refuse(op, UpperMismatch)
		}
	}
	if lower != s.upper {
		return nil, s.refuse(op, UpperMismatch)
	}
	if op.Upper < lower {
		invariants.Failf("append to %s of [%v, %v)", op.Shard.id, lower, op.Upper)
	}
	r := recAppend{token: op.Token, upper: op.Upper, since: sinceFor(s.since, op.Upper, bound)}
	for _, w := range op.Written {
		if len(w.runs) == 0 {
			continue
		}
		if w.schema != s.schemaID() {
			return nil, s.refuse(op, SchemaMismatch)
		}
		r.runs = append(r.runs, w.stamped(lower, op.Upper)...)
		r.totals = r.totals.Add(w.totals)
	}
	if op.Upper == lower {
		if len(r.runs) > 0 {
			invariants.Failf("append to %s of updates in the empty interval at %v", op.Shard.id, lower)
		}
		return nil, nil
	}
	return []record{r}, nil
}

// stamped gives the runs of w for an append of [lower, upper): parts without times get its last one.
func (w *Written) stamped(lower, upper tvc.Frontier) []run {
	if !w.stamp {
		if tvc.Frontier(w.times.min) < lower || !upper.Past(w.times.max) {
			invariants.Failf("append of [%v, %v) with updates at %d to %d", lower, upper, w.times.min, w.times.max)
		}
		return w.runs
	}
	out := make([]run, len(w.runs))
	for i, r := range w.runs {
		out[i] = make(run, len(r))
		for k, p := range r {
			q := *p
			q.times = timesOf{min: upper.Last(), max: upper.Last()}
			out[i][k] = &q
		}
	}
	return out
}

func (s *state) decideReplace(op replace) ([]record, *Refusal) {
	from, to, ok := s.find(op.first, op.last)
	if !ok {
		return nil, s.refuse(op, Stale)
	}
	var was Totals
	for _, b := range s.batches[from:to] {
		was = was.Add(b.totals)
	}
	// What is wrong here can never be made right again, so this is always checked.
	if now := op.written.totals; now.DiffSum != was.DiffSum || now.Fingerprint != was.Fingerprint {
		invariants.Failf("compaction of %s changed the contents: Σdiff %d is now %d, fingerprint %v is now %v",
			op.sh.id, was.DiffSum, now.DiffSum, was.Fingerprint, now.Fingerprint)
	}
	since := max(s.since, op.since)
	last := s.batches[to-1]
	return []record{recReplace{first: op.first, last: op.last, since: since, runs: op.written.moved(since, last.upper)}}, nil
}

// moved gives the runs of a compaction. Parts without times are at since, if their batch reaches that far, else
// at its last time.
func (w *Written) moved(since, upper tvc.Frontier) []run {
	if !w.stamp {
		return w.runs
	}
	at := min(tvc.Time(since), upper.Last())
	return w.stamped(tvc.Frontier(at), tvc.After(at))
}

// checkEvolution says whether a schema may follow another: it adds nullable columns at the end and makes
// columns nullable, nothing else.
func checkEvolution(from, to Schema) error {
	if from.Errors != to.Errors {
		return fmt.Errorf("a shard cannot change whether it stores errors")
	}
	if len(to.Rel.Cols) < len(from.Rel.Cols) {
		return fmt.Errorf("a shard cannot lose columns")
	}
	for i, c := range to.Rel.Cols {
		if i >= len(from.Rel.Cols) {
			if !c.Nullable {
				return fmt.Errorf("added column %q is not nullable", c.Name)
			}
			continue
		}
		if was := from.Rel.Cols[i]; was.Name != c.Name || !was.Type.Equal(c.Type) || was.Nullable && !c.Nullable {
			return fmt.Errorf("column %q cannot become %v", was.Name, types.Rel{Cols: to.Rel.Cols[i : i+1]})
		}
	}
	return nil
}

// versionOf is the version of the register of a shard in this state.
func (s *state) versionOf() consensus.Version {
	if s == nil {
		return 0
	}
	return s.version
}
