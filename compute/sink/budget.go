package sink

import "sync/atomic"

// Budget bounds the bytes that all view sinks of a process stage together. It is safe for concurrent use.
type Budget struct {
	// Max is read at every take.
	Max  func() int64
	used atomic.Int64
}

// take asks for n bytes; false means that they are not there and whoever asked must do without.
func (b *Budget) take(n int64) bool {
	if b.used.Add(n) > b.Max() {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) give(n int64) { b.used.Add(-n) }

// Used is how many bytes are staged.
func (b *Budget) Used() int64 { return b.used.Load() }
