package consensus

// write is one entry that a Commit is to store.
type write struct {
	key     string
	version Version
	data    []byte
}

// refusal is a unit that is not to happen, and the register that stopped it.
type refusal struct {
	unit int
	key  string
	head Version
	// made is set when that head is itself an entry of the same Commit.
	made *write
}

// evaluate decides the units of one Commit in order: the entries to store and the units refused. head gives
// the version of a register's head in the store.
func evaluate(units []Unit, head func(key string) (Version, error)) ([]write, []refusal, error) {
	var writes []write
	var refused []refusal
	// last has, for registers that earlier units wrote, the position in writes of their newest entry.
	var last map[string]int
units:
	for u, unit := range units {
		for _, e := range unit {
			if at, ok := last[e.Key]; ok {
				if w := writes[at]; w.version != e.Expect {
					refused = append(refused, refusal{unit: u, key: e.Key, head: w.version, made: &w})
					continue units
				}
				continue
			}
			v, err := head(e.Key)
			if err != nil {
				return nil, nil, err
			}
			if v != e.Expect {
				refused = append(refused, refusal{unit: u, key: e.Key, head: v})
				continue units
			}
		}
		for _, e := range unit {
			if e.Data == nil {
				continue
			}
			if last == nil {
				last = map[string]int{}
			}
			last[e.Key] = len(writes)
			writes = append(writes, write{e.Key, e.Expect + 1, e.Data})
		}
	}
	return writes, refused, nil
}

// outcomes turns what evaluate decided into a Commit's answer. read gives a register's entry from the store.
func outcomes(n int, refused []refusal, read func(key string, v Version) ([]byte, error)) ([]Outcome, error) {
	out := make([]Outcome, n)
	for i := range out {
		out[i].Done = true
	}
	for _, r := range refused {
		o := Outcome{Key: r.key, Head: Versioned{Version: r.head}}
		switch {
		case r.made != nil:
			o.Head.Data = append([]byte{}, r.made.data...)
		case r.head > 0:
			data, err := read(r.key, r.head)
			if err != nil {
				return nil, err
			}
			o.Head.Data = data
		}
		out[r.unit] = o
	}
	return out, nil
}
