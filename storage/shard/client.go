package shard

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/meter"
	"github.com/tributary-db/tributary/storage/part"
	"github.com/tributary-db/tributary/storage/tvc"
)

// ClientOptions is what a Client stands on.
type ClientOptions struct {
	Consensus consensus.Store
	Blob      blob.Store
	// Epoch is the process's, which no other process has or had. It is part of the names of objects.
	Epoch uint64
	// Settings has the values of Settings(); it may not be nil.
	Settings *settings.Set
	// Registry takes the metrics; it may not be nil.
	Registry meter.Registry
	// Log takes what only an operator can act on; nil means slog.Default().
	Log *slog.Logger
	// Random keys fingerprints; nil means crypto/rand.Reader.
	Random io.Reader
	// Wake is told of a shard that wants maintenance (Shard.Maintain); it must not wait. nil means nobody
	// maintains.
	Wake func(*Shard)
}

// Client is a process's way to the shards of an environment. It is safe for concurrent use.
type Client struct {
	consensus consensus.Store
	blob      blob.Store
	epoch     uint64
	log       *slog.Logger
	random    io.Reader
	wakeHook  func(*Shard)
	settings  *settings.Set
	codec     *part.Codec
	metrics   *meter.Meter
	cache     cache
	tokens    atomic.Uint64
	objects   atomic.Uint64

	mu struct {
		sync.Mutex
		shards map[ID]*Shard
	}
}

// NewClient makes a client. It reads nothing yet.
func NewClient(o ClientOptions) (*Client, error) {
	codec, err := part.NewCodec()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	c := &Client{
		consensus: o.Consensus, blob: blob.Measured(o.Blob, o.Registry), epoch: o.Epoch, log: o.Log, random: o.Random, wakeHook: o.Wake,
		settings: o.Settings, codec: codec,
	}
	c.metrics = meter.New(o.Registry, c.cache.bytes)
	c.mu.shards = map[ID]*Shard{}
	c.metrics.Show(o.Registry, c.shapes)
	return c, nil
}

func (c *Client) wake(s *Shard) {
	if c.wakeHook != nil {
		c.wakeHook(s)
	}
}

// Token gives a fresh token.
func (c *Client) Token() Token { return Token{Epoch: c.epoch, N: c.tokens.Add(1)} }

func (c *Client) newObject() objectName { return objectName{epoch: c.epoch, n: c.objects.Add(1)} }

// RegisterPrefix begins the keys of shards' registers.
const RegisterPrefix = "shard/"

// RegisterKey is the key of a shard's register.
func RegisterKey(id ID) string { return RegisterPrefix + string(id) }

func partKey(id ID, o objectName) string   { return objectKey(id, 'p', o) }
func rollupKey(id ID, o objectName) string { return objectKey(id, 'r', o) }

func objectKey(id ID, kind byte, o objectName) string {
	buf := append(make([]byte, 0, len(id)+32), id...)
	buf = append(buf, '/', kind)
	buf = strconv.AppendUint(buf, o.epoch, 10)
	buf = append(buf, '-')
	buf = strconv.AppendUint(buf, o.n, 10)
	return string(buf)
}

// ObjectEpoch reads the epoch of the process that put it out of an object's key.
func ObjectEpoch(key string) (uint64, bool) {
	_, name, ok := strings.Cut(key, "/")
	if !ok || name == "" || name[0] != 'p' && name[0] != 'r' {
		return 0, false
	}
	epoch, _, ok := strings.Cut(name[1:], "-")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(epoch, 10, 64)
	return n, err == nil
}

// CheckID refuses IDs that cannot name a register and a folder of objects.
func CheckID(id ID) error {
	if id == "" || len(id) > 64 {
		return fmt.Errorf("shard id %q", string(id))
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
		default:
			return fmt.Errorf("shard id %q", string(id))
		}
	}
	return nil
}

// OpenOptions says how a shard is used.
type OpenOptions struct {
	// Name labels the shard's metrics; "" means its ID.
	Name string
	// Bound says how far since may go when the shard's upper is the one given; from then on nobody may be
	// promised less. It is called when a step is formed, and must not wait. nil leaves since where it is.
	Bound func(upper tvc.Frontier) tvc.Frontier
}

// Open gives the handle of a shard that exists, reading its state if the process has not yet, and says how it is
// used from now on. ErrNotFound if there is none.
func (c *Client) Open(ctx context.Context, id ID, o OpenOptions) (*Shard, error) {
	sh := c.open(id)
	if sh == nil {
		st, err := c.load(ctx, id)
		if err != nil {
			return nil, err
		}
		if st == nil {
			return nil, fmt.Errorf("open shard %s: %w", id, ErrNotFound)
		}
		sh = c.keep(newShard(c, id, label(id, o.Name), st))
	}
	sh.Rename(o.Name)
	sh.bound.Store(&o.Bound)
	// Since may go further by now than when the shard was last written to.
	if sh.MayWantMaintenance() {
		c.wake(sh)
	}
	return sh, nil
}

func label(id ID, name string) string {
	if name == "" {
		return string(id)
	}
	return name
}

// Rename changes the name that labels the shard's metrics.
func (s *Shard) Rename(name string) { s.metrics.Store(s.client.metrics.Collection(label(s.id, name))) }

// EndMetrics ends the metrics that are labelled with a name.
func (c *Client) EndMetrics(name string) { c.metrics.Forget(name) }

// IsOpen says whether the process has a handle on the shard. That on a sealed one goes when nobody reads it any more
// and what it leaves behind is cleaned up.
func (c *Client) IsOpen(id ID) bool { return c.open(id) != nil }

func (c *Client) open(id ID) *Shard {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.shards[id]
}

// keep makes sh the process's handle, or gives the one that somebody else made meanwhile.
func (c *Client) keep(sh *Shard) *Shard {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.mu.shards[sh.id]; other != nil {
		return other
	}
	c.mu.shards[sh.id] = sh
	return sh
}

// release forgets the handle of a sealed shard.
func (c *Client) release(sh *Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.shards[sh.id] == sh {
		delete(c.mu.shards, sh.id)
	}
}

// scanLimit is how many entries of a register are read at once.
const scanLimit = 1024

// load reads a shard's state: the newest rollup and the entries after it. It is nil if there is no such shard.
func (c *Client) load(ctx context.Context, id ID) (*state, error) {
	for {
		entries, err := c.entries(ctx, id, 0)
		if err != nil || len(entries) == 0 {
			return nil, err
		}
		st, rollupBytes, err := c.startOf(ctx, id, entries)
		if errors.Is(err, blob.ErrNotFound) {
			// A newer rollup took its place since the entries were read; then there are newer entries.
			again, aerr := c.entries(ctx, id, entries[len(entries)-1].Version+1)
			if aerr == nil && len(again) > 0 {
				continue
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read shard %s: %w", id, err)
		}
		if st, err = replay(st, entries[st.versionOf()+1-entries[0].Version:]); err != nil {
			return nil, fmt.Errorf("read shard %s: %w", id, err)
		}
		st.rollup.size = rollupBytes
		return st, nil
	}
}

func (c *Client) entries(ctx context.Context, id ID, from consensus.Version) ([]consensus.Versioned, error) {
	var all []consensus.Versioned
	for {
		some, err := c.consensus.Scan(ctx, RegisterKey(id), from, scanLimit)
		if err != nil {
			return nil, fmt.Errorf("read shard %s: %w", id, err)
		}
		all = append(all, some...)
		if len(some) < scanLimit {
			return all, nil
		}
		from = some[len(some)-1].Version + 1
	}
}

// startOf gives a state that is at most one version older than the first entry and from which the entries after its version
// lead to the newest one; nil if all of them do. It is that of the newest rollup, which has so many bytes, if there is one.
func (c *Client) startOf(ctx context.Context, id ID, entries []consensus.Versioned) (st *state, rollupBytes int64, err error) {
	for i := len(entries) - 1; i >= 0; i-- {
		_, records, err := decodeEntry(entries[i].Data)
		if err != nil {
			return nil, 0, fmt.Errorf("version %d: %w", entries[i].Version, err)
		}
		for _, r := range records {
			if _, ok := r.(recSeal); ok {
				// What was before no longer matters.
				return &state{version: entries[i].Version - 1}, 0, nil
			}
			rollup, ok := r.(recRollup)
			if !ok {
				continue
			}
			data, err := c.blob.Get(ctx, rollupKey(id, rollup.rollup.object))
			if err != nil {
				return nil, 0, err
			}
			if st, err = decodeRollup(data); err != nil {
				return nil, 0, fmt.Errorf("rollup %s: %w", rollupKey(id, rollup.rollup.object), err)
			}
			if first := entries[0].Version; st.version+1 < first {
				return nil, 0, fmt.Errorf("%w: versions %d to %d are missing", ErrCorrupt, st.version+1, first-1)
			}
			return st, int64(len(data)), nil
		}
	}
	if entries[0].Version != 1 {
		return nil, 0, fmt.Errorf("%w: no rollup, and the first version is %d", ErrCorrupt, entries[0].Version)
	}
	return nil, 0, nil
}

// replay applies entries to a state.
func replay(st *state, entries []consensus.Versioned) (_ *state, err error) {
	at := consensus.Version(0)
	defer func() {
		// Entries that are sound one by one, but do not follow from each other, break the promises of apply.
		if r := recover(); r != nil {
			v, ok := r.(invariants.Violation)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%w: version %d: %s", ErrCorrupt, at, v.Message)
		}
	}()
	for _, e := range entries {
		at = e.Version
		if want := st.versionOf() + 1; e.Version != want {
			return nil, fmt.Errorf("%w: version %d is missing", ErrCorrupt, want)
		}
		_, records, err := decodeEntry(e.Data)
		if err != nil {
			return nil, fmt.Errorf("version %d: %w", e.Version, err)
		}
		st = st.apply(records)
	}
	return st, nil
}

// Refresh brings a shard up to date with its register, after another process has written to it or made it.
func (c *Client) Refresh(ctx context.Context, id ID) error {
	sh := c.open(id)
	if sh == nil {
		st, err := c.load(ctx, id)
		if err == nil && st != nil {
			c.keep(newShard(c, id, string(id), st))
		}
		return err
	}
	st := sh.current()
	entries, err := c.entries(ctx, id, st.version+1)
	if err != nil || len(entries) == 0 {
		return err
	}
	if entries[0].Version != st.version+1 {
		return fmt.Errorf("read shard %s: %w: versions after %d are missing", id, ErrCorrupt, st.version)
	}
	for i := range entries {
		if st, err = replay(st, entries[i:i+1]); err != nil {
			return fmt.Errorf("read shard %s: %w", id, err)
		}
		if sh.install(st) {
			c.wake(sh)
		}
	}
	return nil
}

// newKey draws a key for a new shard's fingerprints.
func (c *Client) newKey() (tvc.FingerprintKey, error) {
	var buf [16]byte
	if _, err := io.ReadFull(c.random, buf[:]); err != nil {
		return tvc.FingerprintKey{}, fmt.Errorf("draw a fingerprint key: %w", err)
	}
	return tvc.FingerprintKey{binary.LittleEndian.Uint64(buf[:]), binary.LittleEndian.Uint64(buf[8:])}, nil
}

// delete removes an object that no state names and none ever will. If that fails, the sweep of the next process
// finds it.
func (c *Client) delete(ctx context.Context, key string) {
	if err := c.blob.Delete(ctx, key); err != nil {
		if ctx.Err() == nil {
			c.log.Warn("object could not be deleted", "object", key, "error", err)
		}
		return
	}
	c.metrics.Deleted.Inc()
}

// Sweep deletes the objects that earlier processes have put and no state names: what a crash leaves between
// putting an object and naming it, or between dropping it and deleting it. Their epochs are fenced off, so they
// can name nothing any more; objects of this process are left alone.
func (c *Client) Sweep(ctx context.Context) (swept int, err error) {
	infos, err := c.blob.List(ctx, "")
	if err != nil {
		return 0, fmt.Errorf("sweep: %w", err)
	}
	for at := 0; at < len(infos); {
		id, _, ok := strings.Cut(infos[at].Key, "/")
		end := at + 1
		for end < len(infos) && strings.HasPrefix(infos[end].Key, id+"/") {
			end++
		}
		if ok && CheckID(ID(id)) == nil {
			n, err := c.sweepShard(ctx, ID(id), infos[at:end])
			swept += n
			if err != nil {
				return swept, fmt.Errorf("sweep shard %s: %w", id, err)
			}
		}
		at = end
	}
	return swept, nil
}

func (c *Client) sweepShard(ctx context.Context, id ID, infos []blob.Info) (swept int, err error) {
	var old []blob.Info
	for _, info := range infos {
		if epoch, ok := ObjectEpoch(info.Key); ok && epoch < c.epoch {
			old = append(old, info)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	named := map[string]bool{}
	if sh := c.open(id); sh != nil {
		sh.reachable(func(key string) { named[key] = true })
	} else {
		st, err := c.load(ctx, id)
		if err != nil {
			return 0, err
		}
		if st != nil {
			st.objects(id, func(key string) { named[key] = true })
		}
	}
	for _, o := range old {
		if named[o.Key] {
			continue
		}
		if err := c.blob.Delete(ctx, o.Key); err != nil {
			return swept, err
		}
		swept++
		c.metrics.Swept.Inc()
		c.metrics.SweptBytes.Add(float64(o.Size))
	}
	return swept, nil
}
