package row

import (
	"math"

	"github.com/tributary-db/tributary/sql/invariants"
)

// arenaEnd is an offset into an arena, which holds less than 4 GiB.
func arenaEnd(n int) uint32 {
	if n > math.MaxUint32 {
		invariants.Failf("row: an arena of %d bytes", n)
	}
	return uint32(n)
}
