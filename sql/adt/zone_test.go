package adt_test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tributary-db/tributary/sql/adt"
)

// TestZonesAreNotTheMachines: what the machine takes for the rules of a place does not matter. Go reads ZONEINFO once, so
// the question is asked in a process of its own, where every place is in Kathmandu.
func TestZonesAreNotTheMachines(t *testing.T) {
	if os.Getenv("ZONEINFO") != "" {
		z, err := adt.LookupZone("Pacific/Apia")
		if err != nil {
			t.Fatal(err)
		}
		if offset, _ := z.OffsetAt(0); offset != -11*3600 {
			t.Errorf("Apia was %d s east of UTC at the beginning of 2000", offset)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "Pacific"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Pacific", "Apia"), zoneFile(t, "Asia/Kathmandu"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestZonesAreNotTheMachines$")
	cmd.Env = append(os.Environ(), "ZONEINFO="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// zoneFile is a zone's file.
func zoneFile(t *testing.T, name string) []byte {
	archive, err := zip.OpenReader("zones.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	f, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestZonesAreSorted: every zone can be read, in order.
func TestZonesAreSorted(t *testing.T) {
	names := adt.ZoneNames()
	if !slices.IsSorted(names) || len(names) < 590 {
		t.Errorf("%d names", len(names))
	}
	for _, name := range names {
		if z, err := adt.LookupZone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, err := z.ToLocal(0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
