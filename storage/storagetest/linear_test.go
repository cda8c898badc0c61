package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
	"github.com/tributary-db/tributary/storage/txn"
)

// member is a process that does what clients ask.
type member interface{ do(request) reply }

// local is a member over a Set, in this process.
type local struct {
	set    *collection.Set
	shards [shards]*shard.Shard

	mu    sync.Mutex
	holds [shards][holds]*collection.Hold
}

func memberID(i int) tvc.ID { return tvc.ID{Class: 'u', N: uint64(i + 1)} }

// openLocal makes the shards if they are not there, and takes a first hold on each before anything can move its since.
func openLocal(ctx context.Context, set *collection.Set) (*local, error) {
	m := &local{set: set}
	for i := range shards {
		id := memberID(i)
		_, err := set.Group().Do(ctx, unit(shard.Create{ID: shard.ID(id.String()), Schema: schema})) // refused if it exists
		if err != nil {
			return nil, err
		}
		sh, err := set.Open(ctx, collection.Desc{ID: id, Shard: shard.ID(id.String()), Name: id.String(), Retain: -1})
		if err != nil {
			return nil, err
		}
		m.shards[i] = sh
		if m.holds[i][0], err = set.Hold("test", id); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// opened is what an open is answered.
func (m *local) opened() reply {
	r := reply{Status: done}
	for i := range shards {
		r.Since[i] = m.holds[i][0].Since()
	}
	return r
}

func (m *local) do(q request) reply {
	ctx := context.Background()
	switch q.Op {
	case "open":
		return m.opened()
	case "append":
		return m.append(ctx, q)
	case "read":
		return m.read(ctx, q)
	case "since":
		return m.since(q, m.shards[q.Shard].Since())
	case "hold":
		return m.hold(q)
	case "downgrade":
		m.mu.Lock()
		if h := m.holds[q.Shard][q.Hold]; h != nil {
			h.Downgrade(q.Upper)
		}
		m.mu.Unlock()
		// The hold has moved, and since may, whether or not it does at once.
		_, err := m.submit(ctx, shard.Downgrade{Shard: m.shards[q.Shard], Since: q.Upper})
		return reply{Status: done, Err: fmt.Sprint(err)}
	case "maintain":
		err := m.shards[q.Shard].CompactAll(ctx, m.submit)
		if err == nil {
			_, err = m.shards[q.Shard].Maintain(ctx, m.submit)
		}
		return answer(err, done)
	}
	return reply{Status: failed, Err: "no such request"}
}

func (m *local) submit(ctx context.Context, op shard.Op) (*shard.Refusal, error) {
	out, err := m.set.Group().Do(ctx, txn.Unit{Ops: []shard.Op{op}, Background: true})
	return out.Refused, err
}

func (m *local) since(q request, f tvc.Frontier) reply {
	r := reply{Status: done}
	r.Since[q.Shard] = f
	return r
}

func (m *local) hold(q request) reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.set.Hold("test", memberID(q.Shard))
	if err != nil {
		return answer(err, done)
	}
	if old := m.holds[q.Shard][q.Hold]; old != nil {
		old.Release()
	}
	m.holds[q.Shard][q.Hold] = next
	return m.since(q, next.Since())
}

// answer says what an error means for the client of a write.
func answer(err error, otherwise status) reply {
	r := reply{Status: otherwise}
	if err != nil {
		r.Err = err.Error()
	}
	switch {
	case err == nil:
	case errors.Is(err, txn.ErrFenced):
		r.Status = fenced
	case storagetest.IsUnknown(err):
		r.Status = unknown
	default:
		r.Status = failed
	}
	return r
}

func (m *local) append(ctx context.Context, q request) reply {
	var ops []shard.Op
	var written []*shard.Written
	defer func() {
		for _, w := range written {
			w.Discard(ctx)
		}
	}()
	for i, sh := range m.shards {
		if i != q.Shard && !q.Both {
			continue
		}
		b := vec.NewBlock(schema.Kinds(), len(q.Rows))
		for _, k := range q.Rows {
			diff := int64(1)
			if k < 0 {
				k, diff = -k, -1
			}
			b.AppendRow(diff, vec.IntOf(k), vec.Null)
		}
		w, err := write(ctx, sh, b, q.Object)
		if err != nil {
			return reply{Status: failed, Err: err.Error()}
		}
		written = append(written, w)
		ops = append(ops, shard.Append{Shard: sh, AnyLower: q.AnyLower, Lower: q.Lower, Upper: q.Upper, Written: []*shard.Written{w}})
	}
	if err := m.set.Group().Err(); err != nil && !errors.Is(err, txn.ErrFenced) {
		// Whatever became of others, this one is not even tried.
		return reply{Status: failed, Err: err.Error()}
	}
	out, err := m.set.Group().Do(ctx, unit(ops...))
	if err != nil {
		r := answer(err, failed)
		if r.Status == unknown {
			written = nil
		}
		return r
	}
	if out.Done() {
		written = nil
		return reply{Status: done}
	}
	at := q.Shard
	if q.Both {
		at = out.Refused.Op
	}
	return reply{Status: refused, Refused: at, Upper: out.Refused.Upper}
}

func (m *local) read(ctx context.Context, q request) reply {
	sh := m.shards[q.Shard]
	upper := sh.Upper()
	at := q.AsOf
	if at == 0 {
		if upper == 0 {
			return reply{Status: done}
		}
		at = upper.Last()
	}
	sc, err := sh.Snapshot(ctx, at, shard.ScanOptions{})
	if errors.Is(err, shard.ErrBeforeSince) {
		return reply{Status: gone}
	}
	if err != nil {
		return reply{Status: failed, Err: err.Error()}
	}
	defer sc.Close()
	r := reply{Status: done, Upper: upper}
	for {
		b, err := sc.Next(ctx)
		if err != nil {
			return reply{Status: failed, Err: err.Error()}
		}
		if b == nil {
			return r
		}
		for i := range b.Len {
			r.Sum += uint64(b.Diff(i)) * sumOf(b.Cols[0].Ints[i:i+1])
		}
	}
}

// client makes up requests. It knows what it was told.
type client struct {
	n    int
	rng  *rand.Rand
	rec  *record
	rows *atomic.Int64
	seen [shards]tvc.Frontier
}

// step asks a process for something.
func (c *client) step(process int, m member) {
	q := request{Process: process, Shard: c.rng.IntN(shards), Hold: c.rng.IntN(holds)}
	upper := c.seen[q.Shard]
	switch c.rng.IntN(12) {
	case 0, 1, 2, 3, 4:
		q.Op, q.Both, q.AnyLower, q.Object = "append", c.rng.IntN(4) == 0, c.rng.IntN(2) == 0, c.rng.IntN(3) == 0
		q.Lower = upper
		if q.Both {
			q.AnyLower, upper = true, max(c.seen[0], c.seen[1])
		}
		q.Upper = upper + 1 + tvc.Frontier(c.rng.IntN(4))
		for range 1 + c.rng.IntN(3) {
			row := c.rows.Add(1)
			if row > 10 && c.rng.IntN(3) == 0 {
				row = -c.rng.Int64N(row-1) - 1
			}
			q.Rows = append(q.Rows, row)
		}
	case 5, 6, 7:
		q.Op = "read"
		if upper > 0 && c.rng.IntN(2) == 0 {
			q.AsOf = tvc.Time(max(1, upper+2-min(upper, tvc.Frontier(c.rng.IntN(8)))))
		}
	case 8:
		q.Op = "since"
	case 9:
		q.Op = "hold"
	case 10:
		q.Op = "downgrade"
		q.Upper = upper - min(upper, tvc.Frontier(c.rng.IntN(6)))
	case 11:
		q.Op = "maintain"
	}
	r := c.rec.ask(c.n, m, q)
	switch {
	case q.Op == "append" && r.Status == done:
		for i := range shards {
			if i == q.Shard || q.Both {
				c.seen[i] = max(c.seen[i], q.Upper)
			}
		}
	case q.Op == "append" && r.Status == refused:
		c.seen[r.Refused] = max(c.seen[r.Refused], r.Upper)
	case q.Op == "read" && r.Status == done:
		c.seen[q.Shard] = max(c.seen[q.Shard], r.Upper)
	}
}

const clients = 4

// crowd is clients that ask at once.
type crowd struct {
	rec     *record
	clients [clients]*client
	// process counts the processes that were opened.
	process int
}

func newCrowd(seed uint64) *crowd {
	c := &crowd{rec: &record{}}
	rows := &atomic.Int64{}
	for i := range c.clients {
		c.clients[i] = &client{n: i, rng: rand.New(rand.NewPCG(seed, uint64(100+i))), rec: c.rec, rows: rows}
	}
	return c
}

// open has the next process answer; opening is what it does first, and within the time that the answer takes.
func (c *crowd) open(opening func() (member, error)) (process int, m member, err error) {
	process = c.process
	c.process++
	c.rec.ask(clients, lazy(func(q request) reply {
		if m, err = opening(); err != nil {
			m = nil
			return reply{Status: failed}
		}
		return m.do(q)
	}), request{Op: "open", Process: process})
	return process, m, err
}

type lazy func(request) reply

func (l lazy) do(q request) reply { return l(q) }

// work has every client ask for some things, of the process that pick says.
func (c *crowd) work(each int, pick func(client int) (process int, m member)) {
	var wg sync.WaitGroup
	for i, cl := range c.clients {
		wg.Go(func() {
			for range each {
				process, m := pick(i)
				cl.step(process, m)
			}
		})
	}
	wg.Wait()
}

// readAll reads every shard, in the end.
func (c *crowd) readAll(process int, m member) {
	for i := range shards {
		for _, op := range []string{"read", "since"} {
			c.rec.ask(clients, m, request{Op: op, Process: process, Shard: i})
		}
	}
}

// TestHistoriesAreLinearizable has several clients append, compare and append, read, hold and let go, over stores that fail,
// lie, dawdle and reorder, while shards are compacted, through the lives of several processes: one dies at a call, one finds
// the disk full, one is succeeded by another and goes on, not knowing. What the clients were told is what one shard that does
// one thing at a time would have told them.
//
// Of what must be kept, this is: upper moves only by an append whose lower is the upper; since moves only forward, and never
// past a hold; all of it is decided by one versioned compare-and-set a shard; determinate and unknown failures are told apart.
func TestHistoriesAreLinearizable(t *testing.T) {
	forSeeds(t, func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 17))
		c := newCrowd(seed)
		disk := storagetest.NewDisk()
		for range 3 {
			disk = c.life(t, rng, seed, disk)
		}
		p := openOn(t, disk)
		process, m, err := c.open(func() (member, error) { return openLocal(context.Background(), p.Set) })
		if err != nil {
			t.Fatal(err)
		}
		c.readAll(process, m)
		checkAll(t, p)
		if !c.rec.isLinearizable(t, true) {
			t.Fatal("what clients were told cannot be")
		}
		p.Stop(t)
	})
}

// forSeeds runs a scenario for each seed, some at once: much of it is waiting.
func forSeeds(t *testing.T, run func(t *testing.T, seed uint64)) {
	n := *seeds
	if testing.Short() {
		n = min(n, 10)
	}
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			run(t, seed)
		})
	}
}

func openOn(t *testing.T, disk *storagetest.Disk) *storagetest.Process {
	t.Helper()
	p, err := disk.Open(t, storagetest.Options{Settings: smallSettings(t)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// smallSettings lets few rows do what otherwise many do.
func smallSettings(t *testing.T) *settings.Set {
	t.Helper()
	set := settings.NewSet(collection.Settings()...)
	if err := set.Set("storage_cache_max_bytes", "4096"); err != nil {
		t.Fatal(err)
	}
	return set
}

// checkAll holds all that is durable against its promises, after a sweep.
func checkAll(t *testing.T, p *storagetest.Process) {
	t.Helper()
	if _, err := p.Set.Client().Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// life is that of a process: it gives the disk that it leaves behind.
func (c *crowd) life(t *testing.T, rng *rand.Rand, seed uint64, disk *storagetest.Disk) *storagetest.Disk {
	p := openOn(t, disk)
	process, m, err := c.open(func() (member, error) { return openLocal(context.Background(), p.Set) })
	if err != nil {
		t.Fatal(err)
	}
	all := func(int) (int, member) { return process, m }
	p.Faults.Follow(storagetest.Fate(rng.Uint64(), 20, p.Faults.Calls(), 60))
	if rng.IntN(3) > 0 {
		c.work(9, all)
	} else {
		c.work(4, all)
		// There is one successor, who meets no other.
		p.Faults.Follow(storagetest.Random(rng.Uint64(), 20))
		c.succeeded(t, p, process, m)
	}
	disk = disk.Crash(rng.Uint64(), 50*rng.IntN(2))
	p.Stop(t)
	return disk
}

// succeeded has another process take over while clients still ask the old one.
func (c *crowd) succeeded(t *testing.T, old *storagetest.Process, process int, m member) {
	var next *storagetest.Process
	opened := make(chan struct{})
	var heir int
	var successor member
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(opened)
		var err error
		heir, successor, err = c.open(func() (member, error) {
			if next, err = old.Succeed(t, storagetest.Options{Settings: smallSettings(t)}); err != nil {
				return nil, err
			}
			return openLocal(context.Background(), next.Set)
		})
		if err != nil && !storagetest.IsFault(err) {
			t.Error(err)
		}
	})
	c.work(5, func(client int) (int, member) {
		select {
		case <-opened:
			if client%2 == 0 && successor != nil {
				return heir, successor
			}
		default:
		}
		return process, m
	})
	wg.Wait()
	if next != nil {
		next.Stop(t)
	}
}
