// Package tvc is the vocabulary of time-varying collections: what an ID, a time, a diff, a frontier and
// a batch are.
//
// A collection has contents at every time: the sum of all its updates (row, time, diff) at or before
// it. Promises: everything here is a plain value; a Batch's blocks are read-only once it is made.
package tvc

import (
	"fmt"
	"strconv"

	"github.com/tributary-db/tributary/sql/vec"
)

// Time is microseconds since the Unix epoch: the one total order of everything.
type Time uint64

// Millis is the time as SQL shows it.
func (t Time) Millis() uint64 { return uint64(t) / 1000 }

// Frontier is a bound: everything below it is complete (an upper), or readable from it on (a since).
type Frontier uint64

// Done is the frontier past all times: closed for good.
const Done Frontier = 1<<64 - 1

// After is the least frontier that has t below it.
func After(t Time) Frontier { return Frontier(t) + 1 }

// Past says whether t lies below the frontier.
func (f Frontier) Past(t Time) bool { return uint64(t) < uint64(f) }

// Last is the greatest time below the frontier; meaningless for 0.
func (f Frontier) Last() Time { return Time(f) - 1 }

func (f Frontier) String() string {
	if f == Done {
		return "done"
	}
	return strconv.FormatUint(uint64(f), 10)
}

// ID names a collection for its whole life: u12 (a user's), s3 (the system's), t7 (of one statement).
type ID struct {
	Class byte
	N     uint64
}

func (id ID) String() string {
	if id.Class == 0 {
		return "none"
	}
	return string(id.Class) + strconv.FormatUint(id.N, 10)
}

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	if len(s) < 2 || s[0] != 'u' && s[0] != 's' && s[0] != 't' {
		return ID{}, fmt.Errorf("parse collection id %q", s)
	}
	n, err := strconv.ParseUint(s[1:], 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("parse collection id %q: %w", s, err)
	}
	return ID{Class: s[0], N: n}, nil
}

// Compare orders IDs by class, then number.
func (id ID) Compare(o ID) int {
	switch {
	case id.Class != o.Class:
		return int(id.Class) - int(o.Class)
	case id.N < o.N:
		return -1
	case id.N > o.N:
		return 1
	}
	return 0
}

// Batch is all updates with times in [Lower, Upper). The rows of a block without times are all at
// Upper - 1, the batch's last instant.
type Batch struct {
	Lower, Upper Frontier
	Blocks       []*vec.Block
}

// Rows counts the updates.
func (b Batch) Rows() int {
	n := 0
	for _, bl := range b.Blocks {
		n += bl.Len
	}
	return n
}
