package blob

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
		objects map[string][]byte
	}
}

// NewMemory makes an empty store.
func NewMemory() *Memory {
	m := &Memory{}
	m.mu.objects = map[string][]byte{}
	return m
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := begin(ctx, key); err != nil {
		return nil, err
	}
	m.mu.Lock()
	data, ok := m.mu.objects[key]
	m.mu.Unlock()
	if !ok {
		return nil, notFound(key)
	}
	return bytes.Clone(data), nil
}

// Put implements Store.
func (m *Memory) Put(ctx context.Context, key string, data []byte) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	data = append([]byte{}, data...)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mu.objects[key] = data
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := begin(ctx, key); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.mu.objects, key)
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Info
	for k, data := range m.mu.objects {
		if strings.HasPrefix(k, prefix) {
			out = append(out, Info{k, int64(len(data))})
		}
	}
	sortInfos(out)
	return out, nil
}

func sortInfos(infos []Info) {
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
}
