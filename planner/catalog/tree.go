package catalog

// tree is a persistent ordered map: set and remove give a new tree that shares all but a path with the
// old one, which stays as it was. It is balanced by weight: of two siblings neither has more than three
// times the other's nodes.
//
// The zero tree has no order; newTree gives one.
type tree[K, V any] struct {
	root    *node[K, V]
	compare func(a, b K) int
}

type node[K, V any] struct {
	key         K
	value       V
	left, right *node[K, V]
	size        int
}

func newTree[K, V any](compare func(a, b K) int) tree[K, V] { return tree[K, V]{compare: compare} }

func (t tree[K, V]) len() int { return t.root.count() }

func (n *node[K, V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (t tree[K, V]) get(key K) (V, bool) {
	for n := t.root; n != nil; {
		switch c := t.compare(key, n.key); {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n.value, true
		}
	}
	var none V
	return none, false
}

func (t tree[K, V]) set(key K, value V) tree[K, V] {
	t.root = t.insert(t.root, key, value)
	return t
}

func (t tree[K, V]) insert(n *node[K, V], key K, value V) *node[K, V] {
	if n == nil {
		return &node[K, V]{key: key, value: value, size: 1}
	}
	switch c := t.compare(key, n.key); {
	case c < 0:
		return balance(n.key, n.value, t.insert(n.left, key, value), n.right)
	case c > 0:
		return balance(n.key, n.value, n.left, t.insert(n.right, key, value))
	}
	return &node[K, V]{key: key, value: value, left: n.left, right: n.right, size: n.size}
}

func (t tree[K, V]) remove(key K) tree[K, V] {
	if _, ok := t.get(key); ok {
		t.root = t.delete(t.root, key)
	}
	return t
}

// delete removes a key that is there.
func (t tree[K, V]) delete(n *node[K, V], key K) *node[K, V] {
	switch c := t.compare(key, n.key); {
	case c < 0:
		return balance(n.key, n.value, t.delete(n.left, key), n.right)
	case c > 0:
		return balance(n.key, n.value, n.left, t.delete(n.right, key))
	case n.left == nil:
		return n.right
	case n.right == nil:
		return n.left
	}
	least := n.right
	for least.left != nil {
		least = least.left
	}
	return balance(least.key, least.value, n.left, t.delete(n.right, least.key))
}

func join[K, V any](key K, value V, left, right *node[K, V]) *node[K, V] {
	return &node[K, V]{key: key, value: value, left: left, right: right, size: left.count() + right.count() + 1}
}

// balance joins two trees of which one may have become too heavy by one insertion or removal. The
// figures 3 and 2 are the one pair of small integers for which this is always enough.
func balance[K, V any](key K, value V, left, right *node[K, V]) *node[K, V] {
	l, r := left.count(), right.count()
	switch {
	case l+r <= 1:
	case r > 3*l:
		if right.left.count() < 2*right.right.count() {
			return join(right.key, right.value, join(key, value, left, right.left), right.right)
		}
		mid := right.left
		return join(mid.key, mid.value,
			join(key, value, left, mid.left), join(right.key, right.value, mid.right, right.right))
	case l > 3*r:
		if left.right.count() < 2*left.left.count() {
			return join(left.key, left.value, left.left, join(key, value, left.right, right))
		}
		mid := left.right
		return join(mid.key, mid.value,
			join(left.key, left.value, left.left, mid.left), join(key, value, mid.right, right))
	}
	return join(key, value, left, right)
}

// from calls visit for the keys at or after first, in order, until it says false.
func (t tree[K, V]) from(first K, visit func(K, V) bool) {
	t.visitFrom(t.root, first, visit)
}

func (t tree[K, V]) visitFrom(n *node[K, V], first K, visit func(K, V) bool) bool {
	if n == nil {
		return true
	}
	if t.compare(n.key, first) < 0 {
		return t.visitFrom(n.right, first, visit)
	}
	return t.visitFrom(n.left, first, visit) && visit(n.key, n.value) && n.right.each(visit)
}

// all is an iterator over the map in order of its keys.
func (t tree[K, V]) all(yield func(K, V) bool) { t.root.each(yield) }

func (n *node[K, V]) each(visit func(K, V) bool) bool {
	return n == nil || n.left.each(visit) && visit(n.key, n.value) && n.right.each(visit)
}

// changes calls visit for every key whose value differs between two trees of which the later came from
// the earlier, in order; hasOld and hasNew say on which side there is a value. What they share is
// skipped, so it costs about as much as the changes did.
func changes[K any, V comparable](from, to tree[K, V], visit func(key K, old, new V, hasOld, hasNew bool)) {
	a, b := newWalk(from), newWalk(to)
	for {
		a.skipShared(b)
		x, y := a.top(), b.top()
		var none V
		switch {
		case x == nil && y == nil:
			return
		case y == nil || x != nil && from.compare(x.key, y.key) < 0:
			visit(x.key, x.value, none, true, false)
			a.next()
		case x == nil || from.compare(x.key, y.key) > 0:
			visit(y.key, none, y.value, false, true)
			b.next()
		default:
			if x.value != y.value {
				visit(x.key, x.value, y.value, true, true)
			}
			a.next()
			b.next()
		}
	}
}

// walk goes through a tree in order. Its stack holds subtrees not yet entered (whole) and nodes whose
// left side is done; the next key is in the top of the stack.
type walk[K, V any] struct{ stack []step[K, V] }

type step[K, V any] struct {
	n     *node[K, V]
	whole bool
}

func newWalk[K, V any](t tree[K, V]) *walk[K, V] {
	w := &walk[K, V]{}
	w.push(t.root)
	return w
}

func (w *walk[K, V]) push(n *node[K, V]) {
	if n != nil {
		w.stack = append(w.stack, step[K, V]{n, true})
	}
}

// open replaces the whole subtree on top by its root, with the left side above it.
func (w *walk[K, V]) open() {
	top := &w.stack[len(w.stack)-1]
	top.whole = false
	w.push(top.n.left)
}

// top gives the node with the next key, opening subtrees down to it; nil at the end.
func (w *walk[K, V]) top() *node[K, V] {
	for len(w.stack) > 0 {
		if s := w.stack[len(w.stack)-1]; !s.whole {
			return s.n
		}
		w.open()
	}
	return nil
}

// next leaves the node on top behind, which top has given.
func (w *walk[K, V]) next() {
	n := w.stack[len(w.stack)-1].n
	w.stack = w.stack[:len(w.stack)-1]
	w.push(n.right)
}

// skipShared drops equal subtrees that come next in both walks, opening the larger side until the two
// tops cannot be equal any more.
func (w *walk[K, V]) skipShared(o *walk[K, V]) {
	for len(w.stack) > 0 && len(o.stack) > 0 {
		x, y := w.stack[len(w.stack)-1], o.stack[len(o.stack)-1]
		switch {
		case x.whole && y.whole && x.n == y.n:
			w.stack, o.stack = w.stack[:len(w.stack)-1], o.stack[:len(o.stack)-1]
		case x.whole && (!y.whole || x.n.size > y.n.size):
			w.open()
		case y.whole && (!x.whole || y.n.size > x.n.size):
			o.open()
		case x.whole:
			w.open()
			o.open()
		default:
			return
		}
	}
}
