package adt

import (
	"archive/zip"
	_ "embed"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// Zone is a time zone: a fixed offset from UTC, or the rules of a place.
type Zone struct {
	loc *time.Location // nil: fixed
	// offset is seconds east of UTC, for a fixed zone.
	offset int
	// name is the abbreviation this zone was found by, where the abbreviation stands for a place whose
	// offset has changed: it then says which of two neighbouring offsets is meant.
	name string
	dst  bool
}

// UTC is the zero zone.
var UTC = Zone{}

// zonesZip is the IANA database, version 2025c: the files of lib/time/zoneinfo.zip of Go, in order of their names. Time
// zones are never read from the machine's files, whose version would be part of what a view contains.
//
//go:embed zones.zip
var zonesZip string

// zones are the zones of the IANA database by their names in lower case. Each is read when it is first asked for.
var zones, zoneNames = indexZones()

func indexZones() (byName map[string]func() *time.Location, names []string) {
	archive, err := zip.NewReader(strings.NewReader(zonesZip), int64(len(zonesZip)))
	if err != nil {
		invariants.Failf("time zones: %v", err)
	}
	byName = make(map[string]func() *time.Location, len(archive.File))
	for _, f := range archive.File {
		byName[strings.ToLower(f.Name)] = sync.OnceValue(func() *time.Location { return readZone(f) })
		names = append(names, f.Name)
	}
	return byName, names
}

func readZone(f *zip.File) *time.Location {
	r, err := f.Open()
	if err != nil {
		invariants.Failf("time zone %s: %v", f.Name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		invariants.Failf("time zone %s: %v", f.Name, err)
	}
	loc, err := time.LoadLocationFromTZData(f.Name, data)
	if err != nil {
		invariants.Failf("time zone %s: %v", f.Name, err)
	}
	return loc
}

// ZoneNames lists the names of the zones, sorted.
func ZoneNames() []string { return slices.Clone(zoneNames) }

// FixedZone is the zone the given number of seconds east of UTC.
func FixedZone(offset int) Zone { return Zone{offset: offset} }

// LookupZone finds a zone as AT TIME ZONE does: an abbreviation, else a name, else a POSIX offset (in
// which west is positive).
func LookupZone(name string) (Zone, error) {
	low := strings.ToLower(name)
	if z, ok := zoneByAbbrev(low); ok {
		return z, nil
	}
	if z, ok := zoneByName(low); ok {
		return z, nil
	}
	return Zone{}, errZone(name)
}

func errZone(name string) error {
	return pgerr.Newf(pgerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// ZoneOfInterval is the zone that an interval names, which is east for a positive one.
func ZoneOfInterval(iv Interval) (Zone, error) {
	if iv.Months != 0 || iv.Days != 0 {
		return Zone{}, pgerr.Newf(pgerr.InvalidParameterValue,
			"interval time zone \"%s\" must not include months or days", iv)
	}
	return Zone{offset: int(iv.Micros / usecPerSec)}, nil
}

// zoneByAbbrev finds an abbreviation in lower case.
func zoneByAbbrev(low string) (Zone, bool) {
	a, ok := abbrevs[low]
	if !ok {
		return Zone{}, false
	}
	if a.place == "" {
		return Zone{offset: a.minutes * 60, dst: a.dst}, true
	}
	return Zone{loc: zones[a.place](), name: low}, true
}

// zoneByName finds a full name in lower case, or a POSIX offset.
func zoneByName(low string) (Zone, bool) {
	if load, ok := zones[low]; ok {
		return Zone{loc: load()}, true
	}
	return posixZone(low)
}

// posixZone reads a zone without daylight saving: a name that may be missing or stand in angle brackets,
// then how far west it is.
func posixZone(s string) (Zone, bool) {
	if strings.HasPrefix(s, "<") {
		_, rest, ok := strings.Cut(s, ">")
		if !ok {
			return Zone{}, false
		}
		s = rest
	} else {
		s = strings.TrimLeftFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789+-,", r) })
	}
	sign := -1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = 1
		}
		s = s[1:]
	}
	if s == "" {
		return Zone{}, false
	}
	total, by, limit := 0, secPerHour, 167
	for i, part := range strings.Split(s, ":") {
		n, ok := smallNumber(part)
		if !ok || i > 2 || n > limit {
			return Zone{}, false
		}
		total, by, limit = total+n*by, by/60, 59
	}
	return Zone{offset: sign * total}, true
}

// smallNumber reads a few digits.
func smallNumber(s string) (n int, ok bool) {
	if s == "" || len(s) > 6 {
		return 0, false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// OffsetAt gives seconds east of UTC at a moment, and whether that is daylight saving time.
func (z Zone) OffsetAt(t Timestamp) (offset int, dst bool) {
	if z.loc == nil {
		return z.offset, z.dst
	}
	at := z.goTime(t)
	name, offset := at.Zone()
	if z.name != "" && !strings.EqualFold(name, z.name) {
		return z.namedOffset(at, offset), false
	}
	return offset, at.IsDST()
}

func (z Zone) goTime(t Timestamp) time.Time {
	days, rest := t.days()
	return time.Unix((int64(days)+10957)*secPerDay+rest/usecPerSec, 0).In(z.loc)
}

// ToLocal is what the clocks of the zone show at moment t (timestamptz AT TIME ZONE).
func (z Zone) ToLocal(t Timestamp) (Timestamp, error) {
	if !t.IsFinite() {
		return t, nil
	}
	offset, _ := z.OffsetAt(t)
	return t.shift(offset)
}

// ToUTC is the moment at which the clocks of the zone show t (timestamp AT TIME ZONE). A time that clocks
// skip is read by the offset before the change, one that they show twice by the offset after it.
func (z Zone) ToUTC(t Timestamp) (Timestamp, error) {
	if !t.IsFinite() {
		return t, nil
	}
	return t.shift(-z.localOffset(t))
}

func (t Timestamp) shift(seconds int) (Timestamp, error) {
	t += Timestamp(seconds) * usecPerSec
	if !t.InRange() {
		return 0, errTimestampRange
	}
	return t, nil
}

// localOffset is the offset in force when local clocks show t.
func (z Zone) localOffset(t Timestamp) int {
	if z.loc == nil {
		return z.offset
	}
	// A day before t, taken as UTC, is before any change that could matter; so is what was in force then.
	prev := z.goTime(t - usecPerDay)
	name, before := prev.Zone()
	_, end := prev.ZoneBounds()
	if end.IsZero() {
		return before
	}
	nextName, after := end.Zone()
	wall, change := prev.Unix()+secPerDay, end.Unix()
	offset := after
	if isBefore := wall-int64(after) < change; isBefore && (wall-int64(before) < change || before < after) {
		offset, nextName = before, name
	}
	if z.name == "" || strings.EqualFold(nextName, z.name) {
		return offset
	}
	return z.namedOffset(z.goTime(t-Timestamp(offset)*usecPerSec), offset)
}

// namedOffset looks for a period that goes by the abbreviation the zone was found by, such as standard time
// in summer: the last one before a time, else the first one after it, else what is given.
func (z Zone) namedOffset(at time.Time, offset int) int {
	for back := at; ; {
		start, _ := back.ZoneBounds()
		if start.IsZero() {
			break
		}
		back = start.Add(-time.Second)
		if name, o := back.Zone(); strings.EqualFold(name, z.name) {
			return o
		}
	}
	for range maxZoneChanges {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		at = end
		if name, o := at.Zone(); strings.EqualFold(name, z.name) {
			return o
		}
	}
	return offset
}

// maxZoneChanges is more changes of offset than any zone's history has; rules for the future have no end.
const maxZoneChanges = 400
