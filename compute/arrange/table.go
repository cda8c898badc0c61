package arrange

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// Table gives each distinct key (a byte string) a small number, its slot, for as long as it is kept.
// It is a hash table with open addressing over arenas: no pointer per key. Slots of removed keys are used
// again. Belongs to one goroutine.
type Table struct {
	// index has slot+1 at a key's place, 0 where there is none. Its length is a power of two.
	index []uint32
	// hashes has each slot's hash, so that most other keys are ruled out unread.
	hashes []uint64
	keys   []byte
	spans  []span
	free   []uint32
	used   int
	dead   int // bytes of keys that belong to no key any more
}

type span struct{ from, to uint64 }

// Len is the number of keys.
func (t *Table) Len() int { return t.used }

// Slots is one more than the largest slot ever given.
func (t *Table) Slots() int { return len(t.spans) }

// Key is the key in a slot; borrowed until the next Put or Remove.
func (t *Table) Key(slot int32) []byte { s := t.spans[slot]; return t.keys[s.from:s.to:s.to] }

// Put gives the key's slot, made now if there was none.
func (t *Table) Put(key []byte) (slot int32, added bool) {
	if (t.used+1)*8 > len(t.index)*7 {
		t.grow()
	}
	h := xxh3.Hash(key)
	mask := uint64(len(t.index) - 1)
	i := h & mask
	for ; ; i = (i + 1) & mask {
		s := t.index[i]
		if s == 0 {
			break
		}
		if t.hashes[s-1] == h && bytes.Equal(t.Key(int32(s-1)), key) {
			return int32(s - 1), false
		}
	}
	sp := span{from: uint64(len(t.keys)), to: uint64(len(t.keys) + len(key))}
	t.keys = append(t.keys, key...)
	if n := len(t.free); n > 0 {
		slot = int32(t.free[n-1])
		t.free = t.free[:n-1]
		t.spans[slot], t.hashes[slot] = sp, h
	} else {
		slot = int32(len(t.spans))
		t.spans, t.hashes = append(t.spans, sp), append(t.hashes, h)
	}
	t.index[i] = uint32(slot) + 1
	t.used++
	return slot, true
}

// Remove forgets the key in a slot.
func (t *Table) Remove(slot int32) {
	mask := uint64(len(t.index) - 1)
	i := t.hashes[slot] & mask
	for t.index[i] != uint32(slot)+1 {
		i = (i + 1) & mask
	}
	// Close the gap: move back every later key of the chain that may stand nearer to its home.
	for j := i; ; {
		j = (j + 1) & mask
		s := t.index[j]
		if s == 0 {
			break
		}
		home := t.hashes[s-1] & mask
		if (j-home)&mask >= (j-i)&mask {
			t.index[i] = s
			i = j
		}
	}
	t.index[i] = 0
	sp := t.spans[slot]
	t.dead += int(sp.to - sp.from)
	t.spans[slot] = span{}
	t.free = append(t.free, uint32(slot))
	t.used--
	if t.dead > 1<<16 && t.dead > len(t.keys)/2 {
		t.compact()
	}
}

// compact rewrites the key arena without the dead bytes.
func (t *Table) compact() {
	keys := make([]byte, 0, len(t.keys)-t.dead)
	for s, sp := range t.spans {
		if sp.to > sp.from {
			from := uint64(len(keys))
			keys = append(keys, t.keys[sp.from:sp.to]...)
			t.spans[s] = span{from: from, to: uint64(len(keys))}
		} else {
			t.spans[s] = span{}
		}
	}
	t.keys, t.dead = keys, 0
}

func (t *Table) grow() {
	size := max(16, 2*len(t.index))
	old := t.index
	t.index = make([]uint32, size)
	mask := uint64(size - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := t.hashes[s-1] & mask
		for t.index[i] != 0 {
			i = (i + 1) & mask
		}
		t.index[i] = s
	}
}
