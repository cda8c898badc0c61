// Package consensus keeps versioned registers: for each key a list of entries with ascending versions,
// of which the last is the head. It is where everything that must be decided once is decided.
//
// Promises of every Store:
//
//	C1  a unit's entries happen all or not at all.
//	C2  the units of one Commit are evaluated in order, a later one on top of the earlier ones that were
//	    done; each succeeds or is refused on its own.
//	C3  when Commit returns outcomes, what was done is durable, by one durable write for the whole call,
//	    and the refused units did not happen and never will.
//	C4  when Commit returns an error, nothing of the call happened, unless the error is ErrIndeterminate:
//	    then any prefix-closed part of it may have happened, whole units only, and the caller must look
//	    (Head, Scan) before it tries anything else.
//	C5  a register's versions have no gaps; Truncate removes old entries, never the head.
//	C6  a read that starts after a Commit has returned sees it.
//
// Every Store is safe for concurrent use.
package consensus

import (
	"context"
	"errors"
	"fmt"
)

// ErrIndeterminate says that a Commit may or may not have happened.
var ErrIndeterminate = errors.New("outcome unknown")

// ErrBroken says that the store has failed in a way that only opening it anew can mend.
var ErrBroken = errors.New("consensus store is broken")

// ErrCorrupt says that what is stored is damaged.
var ErrCorrupt = errors.New("consensus store is damaged")

// Version numbers a register's entries from 1. 0 is the version of a register without any.
type Version uint64

// Versioned is an entry of a register.
type Versioned struct {
	Version Version
	Data    []byte
}

// Entry is a unit's claim on one register: that its head has version Expect. If Data is not nil the entry
// Data becomes the register's new head, with version Expect+1; nil only compares.
type Entry struct {
	Key    string
	Expect Version
	Data   []byte
}

// Unit is entries that happen all or not at all. It names each register once.
type Unit []Entry

// Outcome is what became of a unit.
type Outcome struct {
	// Done says that the unit happened.
	Done bool
	// Key and Head are, for a unit that did not, the first of its registers that was not as expected, and
	// that register's head at that moment.
	Key  string
	Head Versioned
}

// Store keeps registers.
type Store interface {
	// Head gives a register's last entry; version 0 if it has none. The caller owns the bytes.
	Head(ctx context.Context, key string) (Versioned, error)
	// Scan gives up to limit entries with versions ≥ from that are still there, ascending.
	Scan(ctx context.Context, key string, from Version, limit int) ([]Versioned, error)
	// Commit makes the units happen, as promised above. The data is not kept after it returns.
	Commit(ctx context.Context, units []Unit) ([]Outcome, error)
	// Truncate removes the entries with versions < before; the head always stays. It need not be durable
	// when it returns: entries may come back after a crash.
	Truncate(ctx context.Context, key string, before Version) error
	// Keys lists the registers whose keys begin with prefix, ascending.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// maxKey bounds a key's length.
const maxKey = 512

// checkUnits refuses what no caller may ask: an empty or overlong key, a register named twice in a unit.
func checkUnits(units []Unit) error {
	for _, u := range units {
		for i, e := range u {
			if err := checkKey(e.Key); err != nil {
				return err
			}
			for _, f := range u[:i] {
				if e.Key == f.Key {
					return fmt.Errorf("register %q is named twice in a unit", e.Key)
				}
			}
		}
	}
	return nil
}

// checkKey refuses keys that a store could not keep apart: the zero byte ends a key on disk.
func checkKey(key string) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("register key of %d bytes", len(key))
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return fmt.Errorf("register key %q", key)
		}
	}
	return nil
}
