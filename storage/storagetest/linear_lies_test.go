package storagetest_test

import (
	"context"
	"testing"

	"github.com/tributary-db/tributary/storage/storagetest"
	"github.com/tributary-db/tributary/storage/tvc"
)

// liar is a member that does not tell the truth about one request.
type liar struct {
	member
	lie func(m member, q request) reply
	// at counts the appends down to the one it lies about.
	at int
}

func (l *liar) do(q request) reply {
	if q.Op != "append" {
		return l.member.do(q)
	}
	if l.at--; l.at != 0 {
		return l.member.do(q)
	}
	return l.lie(l.member, q)
}

// appends has a client append some times and read in between.
func appends(c *crowd, process int, m member, from tvc.Frontier) {
	for i := from; i < from+6; i++ {
		c.rec.ask(0, m, request{Op: "append", Process: process, AnyLower: true, Upper: i + 1, Rows: []int64{int64(i) + 1}})
		c.rec.ask(0, m, request{Op: "read", Process: process})
	}
}

// TestLiesAreFound: the checker of histories finds what it is there to find.
func TestLiesAreFound(t *testing.T) {
	for name, lie := range map[string]func(m member, q request) reply{
		"": func(m member, q request) reply { return m.do(q) },
		"an acknowledged append is dropped": func(m member, q request) reply {
			return reply{Status: done}
		},
		"an acknowledged append loses a row": func(m member, q request) reply {
			q.Rows = nil
			return m.do(q)
		},
		"an append is done twice": func(m member, q request) reply {
			r := m.do(q)
			q.AnyLower, q.Upper = true, q.Upper+1
			m.do(q)
			return r
		},
		"an append that failed has happened": func(m member, q request) reply {
			m.do(q)
			return reply{Status: failed}
		},
		"an append that was refused has happened": func(m member, q request) reply {
			m.do(q)
			return reply{Status: refused, Upper: q.Upper}
		},
		"a fence where nobody has taken over": func(m member, q request) reply {
			return reply{Status: fenced}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := openOn(t, storagetest.NewDisk())
			defer p.Stop(t)
			c := newCrowd(1)
			process, m, err := c.open(func() (member, error) { return openLocal(context.Background(), p.Set) })
			if err != nil {
				t.Fatal(err)
			}
			appends(c, process, &liar{member: m, lie: lie, at: 4}, 0)
			if sound := c.rec.isLinearizable(t, false); sound != (name == "") {
				t.Errorf("found sound: %v", sound)
			}
		})
	}
}

// TestALossAcrossACrashIsFound: a disk that says that it has synced, and has not, loses what was acknowledged.
func TestALossAcrossACrashIsFound(t *testing.T) {
	for _, lies := range []bool{false, true} {
		disk := storagetest.NewDisk()
		p := openOn(t, disk)
		c := newCrowd(1)
		process, m, err := c.open(func() (member, error) { return openLocal(context.Background(), p.Set) })
		if err != nil {
			t.Fatal(err)
		}
		appends(c, process, m, 0)
		left := disk.Crash(1, 0)
		appends(c, process, m, 6)
		if !lies {
			left = disk.Crash(1, 0)
		}
		p.Stop(t)
		p = openOn(t, left)
		process, m, err = c.open(func() (member, error) { return openLocal(context.Background(), p.Set) })
		if err != nil {
			t.Fatal(err)
		}
		c.readAll(process, m)
		if sound := c.rec.isLinearizable(t, false); sound == lies {
			t.Errorf("the disk lies: %v, found sound: %v", lies, sound)
		}
		p.Stop(t)
	}
}

// TestImpossibleHistoriesAreFound: of histories written down here, the checker finds those that cannot be.
func TestImpossibleHistoriesAreFound(t *testing.T) {
	at := func(f tvc.Frontier) [shards]tvc.Frontier { return [shards]tvc.Frontier{f, f} }
	type told struct {
		q request
		r reply
	}
	open := told{request{Op: "open"}, reply{Status: done}}
	next := told{request{Op: "open", Process: 1}, reply{Status: done}}
	add := func(process int, lower tvc.Frontier, s status) told {
		return told{request{Op: "append", Process: process, Lower: lower, Upper: lower + 5, Rows: []int64{int64(lower) + 1}}, reply{Status: s}}
	}
	since := func(f tvc.Frontier) told { return told{request{Op: "since"}, reply{Status: done, Since: at(f)}} }
	letGo := func(f tvc.Frontier) told { return told{request{Op: "downgrade", Upper: f}, reply{Status: done}} }
	read := func(process int, upper tvc.Frontier, rows ...int64) told {
		return told{request{Op: "read", Process: process}, reply{Status: done, Upper: upper, Sum: sumOf(rows)}}
	}
	asOf := func(t tvc.Time, s status, rows ...int64) told {
		return told{request{Op: "read", AsOf: t}, reply{Status: s, Sum: sumOf(rows)}}
	}
	for name, c := range map[string]struct {
		told  []told
		sound bool
	}{
		"a plain one":                            {[]told{open, add(0, 0, done), read(0, 5, 1), add(0, 5, done), asOf(4, done, 1), asOf(9, done, 1, 6)}, true},
		"an unknown append has happened":         {[]told{open, add(0, 0, unknown), read(0, 5, 1)}, true},
		"an unknown append has not happened":     {[]told{open, add(0, 0, unknown), read(0, 0)}, true},
		"an unknown append comes after all":      {[]told{open, add(0, 0, unknown), read(0, 0), next, read(1, 5, 1)}, true},
		"an unknown append comes too late":       {[]told{open, add(0, 0, unknown), next, read(1, 0), read(1, 5, 1)}, false},
		"since moves as far as it is held":       {[]told{open, add(0, 0, done), letGo(3), since(3), since(3)}, true},
		"since moves past a hold":                {[]told{open, add(0, 0, done), letGo(3), since(4)}, false},
		"since goes back":                        {[]told{open, add(0, 0, done), letGo(3), since(3), since(2)}, false},
		"what is held is gone":                   {[]told{open, add(0, 0, done), letGo(3), asOf(3, gone)}, false},
		"what was let go is gone":                {[]told{open, add(0, 0, done), letGo(3), asOf(2, gone), since(3)}, true},
		"the past has changed":                   {[]told{open, add(0, 0, done), add(0, 5, done), asOf(4, done, 1, 6)}, false},
		"a read of yesterday":                    {[]told{open, add(0, 0, done), add(0, 5, done), read(0, 5, 1)}, false},
		"a fenced process is told so":            {[]told{open, next, add(0, 0, fenced), add(1, 0, done), read(1, 5, 1)}, true},
		"a fenced process does not know yet":     {[]told{open, next, add(1, 0, done), read(0, 0), add(0, 0, failed)}, true},
		"a fenced process has a write confirmed": {[]told{open, next, add(0, 0, done), read(1, 5, 1)}, false},
		"one upper is won twice":                 {[]told{open, add(0, 0, done), add(0, 0, done)}, false},
	} {
		rec := &record{}
		for _, x := range c.told {
			rec.ask(0, lazy(func(request) reply { return x.r }), x.q)
		}
		if sound := rec.isLinearizable(t, false); sound != c.sound {
			t.Errorf("%s: found sound: %v", name, sound)
		}
	}
}
