// Package blob keeps immutable objects by name.
//
// Promises of every Store:
//
//	B1  Put is atomic: an object is there in full or not at all, and when Put returns nil it is durable.
//	B2  Get gives the whole object as it was put, or ErrNotFound; a Get that starts after a Put or Delete
//	    has returned sees it.
//	B3  when Put or Delete fails, it may or may not have happened. Both can be repeated: a name is only
//	    ever given to one content, and deleting what is not there is no error.
//	B4  keys are relative slash-separated paths of [a-z0-9._-]; anything else is refused.
//
// The package neither checks contents (storage/part does) nor decides when an object may go
// (storage/shard does). Every Store is safe for concurrent use.
package blob

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound says that there is no object of that name.
var ErrNotFound = errors.New("object not found")

// ErrCorrupt says that an object is not what was put.
var ErrCorrupt = errors.New("object is damaged")

// Store is a place for immutable objects.
type Store interface {
	// Get gives the object; the caller owns the bytes.
	Get(ctx context.Context, key string) ([]byte, error)
	// Put stores an object; data is not kept after it returns.
	Put(ctx context.Context, key string, data []byte) error
	// Delete removes an object, if it is there.
	Delete(ctx context.Context, key string) error
	// List gives the objects whose keys begin with prefix, in the order of their keys.
	List(ctx context.Context, prefix string) ([]Info, error)
}

// Info is what a listing says of an object.
type Info struct {
	Key  string
	Size int64
}

// Copy puts all objects of one store into another, and says how many there were and how large. None may be deleted
// meanwhile.
func Copy(ctx context.Context, from, to Store) (objects int, bytes int64, err error) {
	infos, err := from.List(ctx, "")
	if err != nil {
		return 0, 0, err
	}
	for _, info := range infos {
		data, err := from.Get(ctx, info.Key)
		if err != nil {
			return 0, 0, err
		}
		if err := to.Put(ctx, info.Key, data); err != nil {
			return 0, 0, err
		}
		bytes += int64(len(data))
	}
	return len(infos), bytes, nil
}

// begin is what every call checks first.
func begin(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

func notFound(key string) error { return fmt.Errorf("object %s: %w", key, ErrNotFound) }

// maxKey bounds a key's length: file systems take names up to 255 bytes, S3 keys up to 1024.
const maxKey = 512

// checkKey refuses keys that a store could not keep apart or that would leave its directory.
func checkKey(key string) error {
	if key == "" || len(key) > maxKey {
		return fmt.Errorf("object key of %d bytes", len(key))
	}
	for _, part := range strings.Split(key, "/") {
		if part == "" || part[0] == '.' || len(part) > 200 {
			return fmt.Errorf("object key %q", key)
		}
	}
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == '/':
		default:
			return fmt.Errorf("object key %q", key)
		}
	}
	return nil
}
