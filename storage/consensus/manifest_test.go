package consensus_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/consensus"
)

func openQuietly(fs vfs.FS) (*consensus.Pebble, error) {
	return consensus.OpenPebble("consensus", consensus.PebbleOptions{FS: fs, Registry: prometheus.NewRegistry(),
		Log: slog.New(slog.DiscardHandler)})
}

// usedStore gives the files of a store that was opened three times and then crashed, as a function that gives a copy of
// them: register a is in a table, b in the log.
func usedStore(t *testing.T) (files func() *vfs.MemFS, names []string) {
	t.Helper()
	fs := vfs.NewCrashableMem()
	for _, entry := range []consensus.Entry{put("a", 0, "a1"), put("c", 0, "c1"), put("b", 0, "b1")} {
		s, err := openQuietly(fs)
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, consensus.Unit{entry})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files = func() *vfs.MemFS { return fs.CrashClone(vfs.CrashCloneCfg{}) }
	names, err := files().List("consensus")
	if err != nil {
		t.Fatal(err)
	}
	return files, names
}

// isWhole says whether a store has what usedStore put into it.
func isWhole(t *testing.T, s *consensus.Pebble) bool {
	t.Helper()
	return head(t, s, "a") == "1:a1" && head(t, s, "b") == "1:b1" && head(t, s, "c") == "1:c1"
}

// TestPebbleNoticesMissingFiles: whichever file of a store is gone, or all logs are, it has everything when it is opened, or
// does not open and leaves the other files alone, so that it is whole again when what was missing is back. What tools for
// backups pass over, files that are empty or called *.log, is missed too.
func TestPebbleNoticesMissingFiles(t *testing.T) {
	files, names := usedStore(t)
	cases := map[string][]string{}
	for _, name := range names {
		kind := name
		if ext := filepath.Ext(name); ext == ".log" {
			kind = "*" + ext // all of them: those before the last may be what a crash has brought back
		}
		cases[kind] = append(cases[kind], name)
	}
	missed := map[string]bool{}
	for name, gone := range cases {
		fs, before := files(), files()
		for _, name := range gone {
			if err := fs.Remove("consensus/" + name); err != nil {
				t.Fatal(err)
			}
		}
		s, err := openQuietly(fs)
		if err == nil {
			if !isWhole(t, s) {
				t.Errorf("without %s the store opens with a at %q, b at %q, c at %q", name, head(t, s, "a"), head(t, s, "b"), head(t, s, "c"))
			}
			s.Close()
			continue
		}
		for _, wanted := range []string{"marker.manifest", "*.log"} {
			if strings.HasPrefix(name, wanted) {
				missed[wanted] = errors.Is(err, consensus.ErrCorrupt) && strings.Contains(err.Error(), wanted)
			}
		}
		for _, name := range gone {
			writeFile(t, fs, "consensus/"+name, readFile(t, before, "consensus/"+name))
		}
		if s, err = openQuietly(fs); err != nil {
			t.Errorf("%s is back: %v", name, err)
			continue
		}
		if !isWhole(t, s) {
			t.Errorf("%s is back, but the rest is gone", name)
		}
		s.Close()
	}
	if !missed["marker.manifest"] || !missed["*.log"] {
		t.Errorf("of %q it is said that %v are missing", names, missed)
	}
}

// TestPebbleNoticesADamagedManifest: whichever bit of the manifest is flipped, the store does not open, and says which file it
// is. A manifest whose last record a crash has cut off or left as zeros opens.
func TestPebbleNoticesADamagedManifest(t *testing.T) {
	files, names := usedStore(t)
	marker := names[slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "marker.manifest.") })]
	manifest := marker[strings.Index(marker, "MANIFEST-"):]
	path := "consensus/" + manifest
	whole := readFile(t, files(), path)
	for bit := range len(whole) * 8 {
		bad := bytes.Clone(whole)
		bad[bit/8] ^= 1 << (bit % 8)
		fs := files()
		writeFile(t, fs, path, bad)
		s, err := openQuietly(fs)
		if err == nil {
			t.Errorf("bit %d of byte %d of %d is flipped, and the store opens with a at %q", bit%8, bit/8, len(whole), head(t, s, "a"))
			s.Close()
		} else if !errors.Is(err, consensus.ErrCorrupt) || !strings.Contains(err.Error(), manifest) {
			t.Errorf("bit %d of byte %d of %d: %v", bit%8, bit/8, len(whole), err)
		}
	}
	half := whole[:len(whole)/2] // of a record of which Pebble was not told that it is there: the log still has it all
	for name, end := range map[string][]byte{
		"nothing": {}, "a piece of a header": half[:3], "a piece of a record": whole[:len(half)], "zeros": make([]byte, 50)} {
		fs := files()
		writeFile(t, fs, path, append(bytes.Clone(whole), end...))
		s, err := openQuietly(fs)
		if err != nil {
			t.Errorf("a crash has left %s behind the manifest: %v", name, err)
			continue
		}
		if !isWhole(t, s) {
			t.Errorf("a crash has left %s behind the manifest, and the store has lost something", name)
		}
		s.Close()
	}
}

// TestPebbleNoticesACutManifest: wherever a manifest ends early of which nothing is newer than when it was made, the store does not
// open, and says which file it is. With the whole manifest all is there.
func TestPebbleNoticesACutManifest(t *testing.T) {
	files, _ := usedStore(t)
	fs := files()
	reopen := func() {
		t.Helper()
		s, err := openQuietly(fs)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !isWhole(t, s) {
			t.Error("the store has lost something")
		}
	}
	reopen() // which makes a new manifest
	names, err := fs.List("consensus")
	if err != nil {
		t.Fatal(err)
	}
	marker := names[slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "marker.manifest.") })]
	manifest := marker[strings.Index(marker, "MANIFEST-"):]
	whole := readFile(t, fs, "consensus/"+manifest)
	for end := range whole {
		writeFile(t, fs, "consensus/"+manifest, whole[:end])
		s, err := openQuietly(fs)
		if err == nil {
			t.Fatalf("it ends at byte %d of %d, and the store opens with a at %q", end, len(whole), head(t, s, "a"))
		}
		if !errors.Is(err, consensus.ErrCorrupt) || !strings.Contains(err.Error(), manifest) {
			t.Errorf("it ends at byte %d of %d: %v", end, len(whole), err)
		}
	}
	writeFile(t, fs, "consensus/"+manifest, whole)
	reopen()
}

// noNextLog is a disk that is full when a log is to be made, after those that are there have had time to go.
type noNextLog struct{ fs vfs.FS }

// MaybeError implements errorfs.Injector.
func (n noNextLog) MaybeError(op errorfs.Op) error {
	if op.Kind != errorfs.OpCreate || filepath.Ext(op.Path) != ".log" {
		return nil
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for range 100 {
		if logs, err := logsIn(n.fs); err != nil || len(logs) == 0 {
			break
		}
		<-look.C
	}
	return syscall.ENOSPC
}

// String implements errorfs.Injector.
func (noNextLog) String() string { return "no next log" }

func logsIn(fs vfs.FS) ([]string, error) {
	names, err := fs.List("consensus")
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".log" }), err
}

// TestPebbleKeepsALogUntilThereIsAnother: a process that ends while it opens the store, when the old logs are in tables and the
// next one is not made, leaves a directory that opens. Once the store is open the old logs go.
func TestPebbleKeepsALogUntilThereIsAnother(t *testing.T) {
	files, _ := usedStore(t)
	fs := files()
	old, err := logsIn(fs)
	if err != nil || len(old) == 0 {
		t.Fatalf("the logs are %v, %v", old, err)
	}
	if _, err := openQuietly(errorfs.Wrap(fs, noNextLog{fs})); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("no log can be made, and opening says %v", err)
	}
	if logs, err := logsIn(fs); err != nil || !slices.Equal(logs, old) {
		t.Fatalf("the logs are %v, %v; they were %v", logs, err, old)
	}
	s, err := openQuietly(fs)
	if err != nil {
		t.Fatal(err)
	}
	if !isWhole(t, s) {
		t.Error("something is lost")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := logsIn(fs)
	if err != nil || len(logs) == 0 || slices.ContainsFunc(logs, func(name string) bool { return slices.Contains(old, name) }) {
		t.Errorf("the logs are %v, %v; before the store was opened they were %v", logs, err, old)
	}
}
