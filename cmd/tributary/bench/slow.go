package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tributary-db/tributary/storage/blob"
)

// What a store of objects far away is like: how long a put takes more, what share of them fail, and how often a client
// tries.
const (
	slowPut    = 50 * time.Millisecond
	slowErrors = 0.05
	slowTries  = 5
)

// slowStore is such a store, with its client, which tries again what has failed.
type slowStore struct {
	blob.Store
	mu sync.Mutex
	r  *rand.Rand
}

func newSlowStore(s blob.Store, seed uint64) blob.Store {
	return &slowStore{Store: s, r: rand.New(rand.NewPCG(seed, 1))}
}

var errSlowStore = errors.New("the store of objects failed, as it was told to")

// Put is blob.Store's.
func (s *slowStore) Put(ctx context.Context, key string, data []byte) error {
	for range slowTries {
		select {
		case <-time.After(slowPut):
		case <-ctx.Done():
			return ctx.Err()
		}
		s.mu.Lock()
		fails := s.r.Float64() < slowErrors
		s.mu.Unlock()
		if !fails {
			return s.Store.Put(ctx, key, data)
		}
	}
	return errSlowStore
}
