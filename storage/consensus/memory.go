package consensus

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
)

// Memory is a Store that lives and dies with the process.
type Memory struct {
	mu struct {
		sync.Mutex
		registers map[string]*register
	}
}

// register is one key's entries; the first has version first.
type register struct {
	first   Version
	entries [][]byte
}

func (r *register) head() Version { return r.first + Version(len(r.entries)) - 1 }

// NewMemory makes an empty store.
func NewMemory() *Memory {
	m := &Memory{}
	m.mu.registers = map[string]*register{}
	return m
}

// Head implements Store.
func (m *Memory) Head(ctx context.Context, key string) (Versioned, error) {
	if err := checkKey(key); err != nil {
		return Versioned{}, err
	}
	if err := ctx.Err(); err != nil {
		return Versioned{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.mu.registers[key]
	if r == nil {
		return Versioned{}, nil
	}
	return Versioned{r.head(), bytes.Clone(r.entries[len(r.entries)-1])}, nil
}

// Scan implements Store.
func (m *Memory) Scan(ctx context.Context, key string, from Version, limit int) ([]Versioned, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.mu.registers[key]
	if r == nil {
		return nil, nil
	}
	var out []Versioned
	for v := max(from, r.first); v <= r.head() && len(out) < limit; v++ {
		out = append(out, Versioned{v, bytes.Clone(r.entries[v-r.first])})
	}
	return out, nil
}

// Commit implements Store.
func (m *Memory) Commit(ctx context.Context, units []Unit) ([]Outcome, error) {
	if err := checkUnits(units); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	writes, refused, err := evaluate(units, func(key string) (Version, error) {
		if r := m.mu.registers[key]; r != nil {
			return r.head(), nil
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	out, err := outcomes(len(units), refused, func(key string, v Version) ([]byte, error) {
		r := m.mu.registers[key]
		return bytes.Clone(r.entries[v-r.first]), nil
	})
	if err != nil {
		return nil, err
	}
	for _, w := range writes {
		r := m.mu.registers[w.key]
		if r == nil {
			r = &register{first: 1}
			m.mu.registers[w.key] = r
		}
		r.entries = append(r.entries, append([]byte{}, w.data...))
	}
	return out, nil
}

// Truncate implements Store.
func (m *Memory) Truncate(ctx context.Context, key string, before Version) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.mu.registers[key]; r != nil && before > r.first {
		n := min(before, r.head()) - r.first
		r.entries = slices.Clone(r.entries[n:])
		r.first += n
	}
	return nil
}

// Keys implements Store.
func (m *Memory) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for k := range m.mu.registers {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys, nil
}
