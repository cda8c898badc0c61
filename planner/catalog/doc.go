// Package catalog is what exists: databases, schemas, items (tables, views, materialized views,
// indexes), clusters, roles and system settings, by name and by id.
//
// Promises:
//
//	C1  a Snapshot never changes; everything reached from one is read-only. Whoever has one may use it
//	    from many goroutines and for as long as he likes.
//	C2  Apply is pure: the same snapshot and the same operations give the same new snapshot, ids and
//	    all, or the same error. It does all of the operations or none.
//	C3  an id and an OID, once given, name the same object for life and are never given again.
//	C4  Rows(Diff(a, b)) applied to the rows of a are the rows of b, and Load of the rows of b is b.
//	C5  an object that did not change is the same pointer in the new snapshot; so "did it change?" is a
//	    comparison of pointers, and a change costs the logarithm of the number of objects.
//
// A view's text refers to other items by id (see Text), so renaming an item touches that item alone.
//
// System relations are not stored: their items are handed to New and Load by whoever knows them
// (package builtin) and live beside the durable ones under ids of class s.
//
// The package does not publish snapshots, write shards or start anything: the coordinator does, from
// the Changes.
package catalog
