package shard

import (
	"fmt"

	"github.com/tributary-db/tributary/storage/consensus"
)

// Step evaluates units of operations on top of the newest states, one after the other, so that their entries
// can be committed together. It writes nothing and changes nothing until Install. One goroutine at a time forms
// and commits steps (package txn), so that nothing else moves the states meanwhile.
type Step struct {
	client *Client
	// shards has the newest state of every shard that was touched.
	shards map[ID]*stepShard
	// fresh are the versions of the unit being evaluated.
	unit []*stepShard
}

// stepShard is a shard as a step sees it.
type stepShard struct {
	id ID
	// sh is nil for a shard that the step makes.
	sh   *Shard
	name string
	now  *state
	// records are those of the unit being evaluated, on top of base.
	base    *state
	records []record
	origin  Origin
	// checked says that the unit depends on the state though it does not change it.
	checked bool
}

// NewStep begins a step.
func (c *Client) NewStep() *Step { return &Step{client: c, shards: map[ID]*stepShard{}} }

// Evaluated is a unit that was evaluated and not refused.
type Evaluated struct {
	// Entries make the unit happen when committed.
	Entries consensus.Unit
	// Bytes is their size.
	Bytes  int
	states []evaluatedState
}

type evaluatedState struct {
	id     ID
	sh     *Shard // nil for one that is made
	name   string
	state  *state
	bytes  int
	inline inlineCount
	origin Origin
}

// Add evaluates a unit: what it would commit, or why it is refused; then the step is as before it. The token makes
// the unit's entries unique. An error is the caller's fault or the world's; the unit was not evaluated.
func (s *Step) Add(token Token, ops []Op) (Evaluated, *Refusal, error) {
	s.unit = s.unit[:0]
	for i, op := range ops {
		refusal, err := s.evaluate(op)
		if refusal != nil || err != nil {
			s.rollBack()
			if refusal != nil {
				refusal.Op = i
			}
			return Evaluated{}, refusal, err
		}
	}
	return s.accept(token), nil, nil
}

func (s *Step) evaluate(op Op) (*Refusal, error) {
	sh, err := s.touch(op)
	if err != nil {
		return nil, err
	}
	switch o := op.(type) {
	case Create:
		key, err := s.client.newKey()
		if err != nil {
			return nil, err
		}
		sh.name = label(o.ID, o.Name)
		op = create{Create: o, key: key}
	case Evolve:
		if sh.now.sealed {
			break
		}
		if err := checkEvolution(sh.now.schema(), o.Schema); err != nil {
			return nil, fmt.Errorf("alter shard %s: %w", sh.id, err)
		}
	case replace:
		sh.origin = OriginCompaction
	case setRollup:
		sh.origin = OriginRollup
	}
	records, refusal := sh.now.decide(op, sh.sh.boundOf())
	if refusal != nil {
		return refusal, nil
	}
	sh.checked = true
	if len(records) > 0 {
		// The version is that of the unit: its records make one entry.
		next := sh.now.apply(records)
		next.version = sh.base.versionOf() + 1
		sh.now = next
		sh.records = append(sh.records, records...)
	}
	return nil, nil
}

// touch gives the shard of an operation, and notes that the unit touches it.
func (s *Step) touch(op Op) (*stepShard, error) {
	id, handle := op.shard()
	sh := s.shards[id]
	if sh == nil {
		if err := CheckID(id); err != nil {
			return nil, err
		}
		if handle == nil {
			handle = s.client.open(id)
		}
		sh = &stepShard{id: id, sh: handle}
		if sh.sh != nil {
			sh.now = sh.sh.current()
		}
		s.shards[id] = sh
	}
	for _, u := range s.unit {
		if u == sh {
			return sh, nil
		}
	}
	s.unit = append(s.unit, sh)
	sh.base, sh.records, sh.origin, sh.checked = sh.now, nil, OriginAppend, false
	return sh, nil
}

func (s *Step) rollBack() {
	for _, u := range s.unit {
		u.now = u.base
	}
}

// accept turns the unit's records into entries.
func (s *Step) accept(token Token) Evaluated {
	var out Evaluated
	for _, u := range s.unit {
		entry := consensus.Entry{Key: RegisterKey(u.id), Expect: u.base.versionOf()}
		if len(u.records) > 0 {
			entry.Data = encodeEntry(token, u.records)
			out.states = append(out.states, evaluatedState{
				id: u.id, sh: u.sh, name: u.name, state: u.now, bytes: len(entry.Data), inline: countInline(u.records), origin: u.origin})
		}
		out.Bytes += len(entry.Key) + len(entry.Data)
		out.Entries = append(out.Entries, entry)
	}
	return out
}

func countInline(records []record) (n inlineCount) {
	for _, r := range records {
		a, ok := r.(recAppend)
		if !ok {
			continue
		}
		for _, run := range a.runs {
			for _, p := range run {
				if p.isInline() {
					n.parts++
					n.bytes += len(p.inline)
				}
			}
		}
	}
	return n
}

// inlineCount is how many inline parts there are, and of how many bytes.
type inlineCount struct{ parts, bytes int }

// Install makes what a unit did visible in this process, once it is durable. Units are installed in the order in
// which they were added.
func (c *Client) Install(u Evaluated) {
	for _, e := range u.states {
		sh, wants := e.sh, false
		if sh == nil {
			// An earlier unit of the same step made it.
			sh = c.open(e.id)
		}
		if sh == nil {
			sh = c.keep(newShard(c, e.id, label(e.id, e.name), e.state))
		} else {
			wants = sh.install(e.state)
		}
		sh.metrics.Load().Committed(e.origin, e.bytes, e.inline.parts, e.inline.bytes)
		sh.work[e.origin].consensusBytes.Add(int64(e.bytes))
		if wants {
			c.wake(sh)
		}
	}
}
