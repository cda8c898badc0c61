package coord_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
	"github.com/tributary-db/tributary/storage/storagetest"
)

// objectsOf lists the objects that are there now and are not in before.
func (s *server) objectsOf(before map[string]bool) (fresh []string) {
	s.tb.Helper()
	infos, err := s.stores.Blob.List(context.Background(), "u")
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, info := range infos {
		if !before[info.Key] {
			fresh = append(fresh, info.Key)
			before[info.Key] = true
		}
	}
	return fresh
}

// TestAFullDiskIsToldAndPasses: a write that finds no room for its object is refused, with the object's name, and the
// next one is fine once there is room.
func TestAFullDiskIsToldAndPasses(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "ALTER SYSTEM SET storage_inline_append_max_bytes = 0", "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
	disk.Fill(0)
	c.fails(t, "INSERT INTO t VALUES (2)", "53100", "put object u")
	disk.Fill(math.MaxInt)
	c.must(t, "INSERT INTO t VALUES (3)")
	c.want(t, "SELECT a FROM t", "1", "3")
}

// TestAFullDiskAtAnyMoment: the disk runs full at the n-th write, for every n. Each statement succeeds, or fails with an
// error of the disk; what was acknowledged is there after a restart with room, what was refused is not.
func TestAFullDiskAtAnyMoment(t *testing.T) {
	for n, full := 0, true; full; n++ {
		disk := storagetest.NewDisk()
		s := start(t, bootOptions{disk: disk})
		c := s.connect()
		c.must(t, "CREATE TABLE t (a int, b text)", "CREATE TABLE other (a int)", "INSERT INTO other VALUES (7)")
		disk.Fill(n)
		full = false
		acknowledged, maybe := map[int]bool{}, map[int]bool{}
		for i := range 4 {
			text := "short"
			if i%2 == 0 {
				text = strings.Repeat(fmt.Sprint("long ", i), 20_000)
			}
			_, err := c.run(context.Background(), fmt.Sprintf("INSERT INTO t VALUES (%d, '%s')", i, text))
			switch {
			case err == nil:
				acknowledged[i] = true
				continue
			case pgerr.Is(err, pgerr.IOError):
				maybe[i] = true // of what is written to the registers it is not known
			case !pgerr.Is(err, pgerr.DiskFull):
				t.Fatalf("%d: %v", n, err)
			}
			if !strings.Contains(err.Error(), "no space left on device") {
				t.Fatalf("%d: %v", n, err)
			}
			full = true
		}
		disk.Fill(math.MaxInt)
		s.die()
		s = start(t, bootOptions{disk: disk.Crash(uint64(n), 0), clock: s.clock.later()})
		c = s.connect()
		c.want(t, "SELECT a FROM other", "7")
		there := map[string]bool{}
		for _, row := range c.must(t, "SELECT a FROM t") {
			there[row] = true
		}
		for i := range 4 {
			if is := there[fmt.Sprint(i)]; acknowledged[i] && !is || is && !acknowledged[i] && !maybe[i] {
				t.Fatalf("%d: of %d, acknowledged %v, in doubt %v, there is %v", n, i, acknowledged, maybe, there)
			}
		}
		c.must(t, "INSERT INTO t VALUES (9, 'x')")
		s.stop()
	}
}

// TestDamageIsToldAndStaysWhereItIs: an object that is damaged or gone makes reads of its table fail, with its name, and
// what reads the table; other tables, and writes of this one, go on.
func TestDamageIsToldAndStaysWhereItIs(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(s *server, key string) error{
		"a flipped bit": func(s *server, key string) error {
			data, err := s.stores.Blob.Get(ctx, key)
			if err == nil {
				data[len(data)/2] ^= 1
				err = s.stores.Blob.Put(ctx, key, data)
			}
			return err
		},
		"missing": func(s *server, key string) error { return s.stores.Blob.Delete(ctx, key) },
	} {
		t.Run(name, func(t *testing.T) {
			disk := storagetest.NewDisk()
			s := start(t, bootOptions{disk: disk})
			c := s.connect()
			known := map[string]bool{}
			c.must(t, "ALTER SYSTEM SET storage_inline_append_max_bytes = 0", "CREATE TABLE good (a int)", "INSERT INTO good VALUES (1)",
				"CREATE TABLE bad (a int)")
			s.objectsOf(known)
			c.must(t, "INSERT INTO bad VALUES (2)")
			keys := s.objectsOf(known)
			if len(keys) != 1 {
				t.Fatal(keys)
			}
			c.must(t, "CREATE MATERIALIZED VIEW of_bad AS SELECT a + 1 AS b FROM bad",
				"CREATE MATERIALIZED VIEW of_good AS SELECT a + 1 AS b FROM good", "SELECT * FROM of_bad")
			if err := damage(s, keys[0]); err != nil {
				t.Fatal(err)
			}
			s.stop()
			s = start(t, bootOptions{disk: disk, clock: s.clock.later()})
			c = s.connect()
			for range 2 {
				c.fails(t, "SELECT * FROM bad", "XX001", keys[0])
				c.fails(t, "DELETE FROM bad", "XX001", keys[0])
			}
			c.must(t, "INSERT INTO bad VALUES (3)", "INSERT INTO good VALUES (4)")
			c.want(t, "SELECT a FROM good", "1", "4")
			c.want(t, "SELECT b FROM of_good", "2", "5")
			c.fails(t, "SELECT * FROM of_bad", "XX001", keys[0])
			c.must(t, "DROP TABLE bad CASCADE")
		})
	}
}

// TestStorageErrorsHaveCodes lists which code a client gets for what goes wrong below; the text stays.
func TestStorageErrorsHaveCodes(t *testing.T) {
	at := func(errno error) error {
		return fmt.Errorf("put object u1/p1-1: %w", &fs.PathError{Op: "open", Path: "/data/blob/u1", Err: errno})
	}
	for _, c := range []struct {
		err  error
		code pgerr.Code
	}{
		{at(syscall.ENOSPC), pgerr.DiskFull},
		{at(syscall.EDQUOT), pgerr.DiskFull},
		{at(syscall.EROFS), pgerr.IOError},
		{at(syscall.EACCES), pgerr.IOError},
		{at(syscall.EIO), pgerr.IOError},
		{fmt.Errorf("get object u1/p1-1: %w", syscall.EMFILE), pgerr.IOError},
		{fmt.Errorf("get object u1/p1-1: %w", &net.OpError{Op: "dial", Err: errors.New("refused")}), pgerr.IOError},
		{fmt.Errorf("put object u1/p1-1: %w", &blob.ServerError{Bucket: "b", Endpoint: "https://s3", Err: errors.New("denied")}), pgerr.IOError},
		{fmt.Errorf("get object u1/p1-1: %w", &blob.ServerError{Bucket: "b", Endpoint: "https://s3", Err: blob.ErrCorrupt}), pgerr.DataCorrupted},
		{fmt.Errorf("commit: %w", &consensus.ServerError{Cause: context.DeadlineExceeded}), pgerr.IOError},
		{fmt.Errorf("object u1/p1-1: %w", shard.ErrCorrupt), pgerr.DataCorrupted},
		{fmt.Errorf("object u1/p1-1: %w", shard.ErrStatistics), pgerr.InternalError},
		{errors.New("something else"), pgerr.InternalError},
		{fmt.Errorf("query: %w", pgerr.New(pgerr.DivisionByZero, "division by zero")), pgerr.DivisionByZero},
	} {
		got := pgerr.From(coord.OfStorage(c.err))
		if got.Code != c.code || c.code != pgerr.DivisionByZero && got.Message != c.err.Error() {
			t.Errorf("%v: %s %s", c.err, got.Code, got.Message)
		}
		if !errors.Is(coord.OfStorage(c.err), c.err) {
			t.Errorf("%v is lost", c.err)
		}
	}
	if err := coord.OfStorage(context.Canceled); err != context.Canceled {
		t.Error(err)
	}
}

// TestADamagedRegisterIsTold: a server whose register of a table is damaged does not start, and says which it is.
func TestADamagedRegisterIsTold(t *testing.T) {
	ctx := context.Background()
	disk := storagetest.NewDisk()
	s := start(t, bootOptions{disk: disk})
	c := s.connect()
	c.must(t, "CREATE TABLE bad (a int)", "INSERT INTO bad VALUES (2)")
	keys, err := s.stores.Consensus.Keys(ctx, "shard/u")
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	s.stop()
	stores := disk.Mount(t, nil)
	head, err := stores.Consensus.Head(ctx, keys[0])
	if err != nil {
		t.Fatal(err)
	}
	out, err := stores.Consensus.Commit(ctx, []consensus.Unit{{{Key: keys[0], Expect: head.Version, Data: []byte("no entry")}}})
	if err != nil || !out[0].Done {
		t.Fatal(out, err)
	}
	stores.Stop(t)
	_, err = boot(t, bootOptions{disk: disk, clock: s.clock.later()})
	if err == nil || !strings.Contains(err.Error(), "materialize.public.bad") || !strings.Contains(err.Error(), "corrupt shard state") {
		t.Fatal(err)
	}
}
