package coord

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/txn"
)

// storeError is what a client is told of the store's failure.
func (c *Coord) storeError(err error) error {
	switch {
	case errors.Is(err, txn.ErrIndeterminate):
		told := pgerr.New(pgerr.IOError, "it is not known whether the change was made").WithDetail("%v", err)
		return fmt.Errorf("%w: %w", told, err)
	case errors.Is(err, txn.ErrFenced):
		return pgerr.New(pgerr.AdminShutdown, "another server has taken over this data; this one can write nothing any more")
	case errors.Is(err, txn.ErrClosed):
		return pgerr.New(pgerr.AdminShutdown, "the database system is shutting down")
	case c.Err() != nil:
		return pgerr.Newf(pgerr.IOError, "nothing can be written until the server is started anew: %v", c.Err())
	}
	return ofStorage(err)
}

// ofStorage gives an error of a file system, a network or what is stored there PostgreSQL's code for it, if it has none;
// the text, which names what was read or written, stays. Other errors are left alone.
func ofStorage(err error) error {
	var told *pgerr.Error
	if err == nil || errors.As(err, &told) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var path *fs.PathError
	var number syscall.Errno
	var network net.Error
	var code pgerr.Code
	switch {
	case errors.Is(err, shard.ErrStatistics):
		return fmt.Errorf("%w: %w", pgerr.New(pgerr.InternalError, err.Error()).
			WithHint("With storage_filter_pushdown off, everything is read."), err)
	case shard.IsDamage(err):
		code = pgerr.DataCorrupted
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code = pgerr.DiskFull
	case errors.As(err, &path), errors.As(err, &number), errors.As(err, &network), shard.IsRefusedByServer(err):
		code = pgerr.IOError
	default:
		return err
	}
	return fmt.Errorf("%w: %w", pgerr.New(code, err.Error()), err)
}
