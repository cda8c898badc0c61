// Package oracle gives out read and write times and says which times are closed.
//
// Promises:
//
//	O1  every write time is greater than all write and read times given before, also before a crash.
//	O2  ReadTime gives a time such that every write at or before it is applied, every later write gets a
//	    greater one, and every write applied before the call is at or before it.
//	O3  no time is given out beyond the durable mark. The mark is renewed only when somebody asks for a
//	    time: an idle oracle writes nothing.
//
// Oracle is safe for concurrent use; it owns no goroutine.
package oracle

import (
	"context"
	"time"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Oracle is the one source of times of an environment.
type Oracle struct{}

// WriteTime allocates a time for a write: max(last+1, now). Closed time stays below it until ApplyWrite or
// Forget, one of which the caller owes.
func (o *Oracle) WriteTime() tvc.Time { panic("sketch") }

// ApplyWrite says that the write at t is durable. When it returns, every ReadTime is at or after t: it waits
// for writes at earlier times that are still in flight.
func (o *Oracle) ApplyWrite(ctx context.Context, t tvc.Time) error { panic("sketch") }

// Forget says that there will be no write at t: it was determinately refused.
func (o *Oracle) Forget(t tvc.Time) { panic("sketch") }

// ReadTime gives the latest closed time, following the wall clock. It may wait for one durable write a
// second, which renews the mark.
func (o *Oracle) ReadTime(ctx context.Context) (tvc.Time, error) { panic("sketch") }

// Closed gives the latest time that is closed without any renewal: it lags behind the wall clock when nobody
// has asked for a while. It never waits.
func (o *Oracle) Closed() tvc.Time { panic("sketch") }

// Ahead says how far the last write time is ahead of the wall clock; 0 if it is not.
func (o *Oracle) Ahead() time.Duration { panic("sketch") }
