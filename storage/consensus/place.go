package consensus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrMoved says that the directory is not where it was opened: it was moved, replaced or removed.
var ErrMoved = errors.New("the directory was moved or removed while it is in use")

// place is where a directory is. It knows the directory by the lock's file, which is held open: nothing else can have its
// number. A nil place is that of a directory in memory, which does not move.
type place struct {
	lock string
	info os.FileInfo
}

// placeOf gives the place of a directory that is locked.
func placeOf(dir string) (*place, error) {
	lock := filepath.Join(dir, "LOCK")
	info, err := os.Stat(lock)
	if err != nil {
		return nil, err
	}
	return &place{lock, info}, nil
}

// check gives ErrMoved if another directory, or none, is there. It does so in microseconds.
func (p *place) check() error {
	if p == nil {
		return nil
	}
	now, err := os.Stat(p.lock)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err != nil:
		return nil // that it cannot be seen does not tell that it is not there
	case os.SameFile(p.info, now):
		return nil
	}
	return fmt.Errorf("%w: %s", ErrMoved, filepath.Dir(p.lock))
}

// InPlace gives ErrMoved if the directory is not where it was opened. What lies beside it has gone with it then.
func (p *Pebble) InPlace() error { return p.frozen.place.check() }
