package bench

import (
	"fmt"
	"strings"
	"testing"
)

// TestSkew: one worker has nine rows of ten, and its share of the tenth; without skew all have about the same.
func TestSkew(t *testing.T) {
	for _, skew := range []bool{false, true} {
		st := steady{workers: 8, rows: 1000, skew: skew}
		deal, has := dealer(st.workers), make([]int, st.workers)
		for _, sql := range st.batches(2) {
			for row := range strings.SplitSeq(strings.TrimPrefix(sql, "INSERT INTO t VALUES "), "),(") {
				var k int64
				var v string
				if _, err := fmt.Sscanf(strings.Trim(row, "()"), "%d,'%32s'", &k, &v); err != nil {
					t.Fatalf("%q: %v", row, err)
				}
				has[deal(k, v)]++
			}
		}
		least, most := 150, 350
		if skew {
			least, most = 5, 60
		}
		for w, n := range has {
			if skew && w == 0 {
				if n < 1800 || n > 1860 {
					t.Errorf("the worker that has most has %d rows of 2000", n)
				}
			} else if n < least || n > most {
				t.Errorf("skew %v: worker %d has %d rows of 2000", skew, w, n)
			}
		}
	}
}
