package consensus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/jackc/pgx/v5"
)

// Copied is an entry on its way from one store to another.
type Copied struct {
	Key string
	Versioned
}

// Entries is all entries of a store at one moment, in the order of their keys and versions. It calls visit with some at
// a time, whose bytes are visit's until it returns.
type Entries func(visit func([]Copied) error) error

// copyBytes is about how many bytes of entries are on their way at once.
const copyBytes = 1 << 20

// Entries gives what the store has at the moment that the function is called; Commits go on meanwhile.
func (p *Pebble) Entries(ctx context.Context) Entries {
	return func(visit func([]Copied) error) (err error) {
		if err := p.err(); err != nil {
			return err
		}
		snapshot := p.db.NewSnapshot()
		defer func() { err = errors.Join(err, snapshot.Close()) }()
		it, err := snapshot.NewIterWithContext(ctx,
			&pebble.IterOptions{LowerBound: []byte{registerTag}, UpperBound: []byte{registerTag + 1}})
		if err != nil {
			return fmt.Errorf("read all registers: %w", err)
		}
		defer func() { err = errors.Join(err, it.Close()) }()
		var some []Copied
		size := 0
		for ok := it.First(); ok; ok = it.Next() {
			data, err := it.ValueAndErr()
			if err != nil {
				return fmt.Errorf("read all registers: %w", ofPebble(err))
			}
			key, version, err := parseEntryKey(it.Key())
			if err != nil {
				return err
			}
			some = append(some, Copied{key, Versioned{version, slices.Clone(data)}})
			if size += len(data); size >= copyBytes {
				if err := errors.Join(ctx.Err(), visit(some)); err != nil {
					return err
				}
				some, size = some[:0], 0
			}
		}
		if len(some) == 0 {
			return ctx.Err()
		}
		return visit(some)
	}
}

// ErrNotEmpty says that a store is not empty, so that nothing can be loaded into it.
var ErrNotEmpty = errors.New("the store has registers already")

// Load fills an empty store with entries. If it fails the store is good for nothing.
func (p *Pebble) Load(ctx context.Context, entries Entries) error {
	p.commit.Lock()
	defer p.commit.Unlock()
	if err := p.writable(); err != nil {
		return err
	}
	if keys, err := p.Keys(ctx, ""); err != nil {
		return err
	} else if len(keys) > 0 {
		return ErrNotEmpty
	}
	err := entries(func(some []Copied) error {
		writes := make([]write, len(some))
		for i, e := range some {
			writes[i] = write{e.Key, e.Version, e.Data}
		}
		return p.store(writes)
	})
	if err == nil {
		// Of a log that is cut short, what is left is taken for all: of a table it is not.
		err = ofPebble(p.db.Flush())
	}
	if err != nil {
		return fmt.Errorf("load registers: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.mu.heads)
	return nil
}

// Load fills an empty store with entries, in one transaction.
func (p *Postgres) Load(ctx context.Context, entries Entries) error {
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		// Nobody writes until all is there.
		if _, err := tx.Exec(ctx, "LOCK TABLE tributary_registers, tributary_entries IN EXCLUSIVE MODE"); err != nil {
			return err
		}
		var some bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM tributary_registers WHERE head > 0)").Scan(&some); err != nil {
			return err
		}
		if some {
			return ErrNotEmpty
		}
		err := entries(func(some []Copied) error {
			writes := make([]write, len(some))
			for i, e := range some {
				writes[i] = write{e.Key, e.Version, e.Data}
			}
			keys, versions, data := columnsOf(writes)
			_, err := tx.Exec(ctx, insertEntries, keys, versions, data)
			return err
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO tributary_registers SELECT key, max(version) FROM tributary_entries GROUP BY key
			ON CONFLICT (key) DO UPDATE SET head = EXCLUDED.head`)
		return err
	})
	if err != nil {
		return fmt.Errorf("load registers: %w", err)
	}
	return nil
}
