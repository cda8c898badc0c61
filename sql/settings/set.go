package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Set has the server-wide value of each parameter of a list. It is safe for concurrent use; a change is seen by
// reads that begin after it.
type Set struct {
	all []*slot // by name
	// table finds a declaration's slot by the hash of its name, with open addressing.
	table []*slot
	mask  uint32
}

// slot is one parameter of a Set. Readers see a value as a whole, since it is behind one pointer or in one word.
type slot struct {
	*decl
	num     atomic.Int64
	str     atomic.Pointer[string]
	changed atomic.Bool // not at its default
}

// NewSet makes a Set of the given parameters, all at their defaults. Two of one name are a fault of ours.
func NewSet(params ...Param) *Set {
	size := 8
	for size < 4*len(params) {
		size *= 2
	}
	s := &Set{table: make([]*slot, size), mask: uint32(size - 1)}
	for _, p := range params {
		d := p.declared()
		if s.find(d.name) != nil {
			panic(fmt.Sprintf("settings: %s is declared twice", d.name))
		}
		sl := &slot{decl: d}
		sl.store(d.initial)
		at := d.hash & s.mask
		for s.table[at] != nil {
			at = (at + 1) & s.mask
		}
		s.table[at] = sl
		s.all = append(s.all, sl)
	}
	slices.SortFunc(s.all, func(a, b *slot) int { return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return s
}

func (sl *slot) store(v value) {
	if sl.kind.name == kindString.name {
		sl.str.Store(&v.str)
		return
	}
	sl.num.Store(v.num)
}

func (sl *slot) load() value {
	if p := sl.str.Load(); p != nil {
		return value{str: *p}
	}
	return value{num: sl.num.Load()}
}

// value is for the parameters' Get. Reading a parameter that the Set was not made with is a fault of ours.
func (s *Set) value(d *decl) value {
	for at := d.hash & s.mask; ; at = (at + 1) & s.mask {
		sl := s.table[at]
		if sl == nil {
			panic(fmt.Sprintf("settings: %s is not in this set", d.name))
		}
		if sl.decl == d {
			return sl.load()
		}
	}
}

func (s *Set) find(name string) *slot {
	for at := hashName(name) & s.mask; s.table[at] != nil; at = (at + 1) & s.mask {
		if strings.EqualFold(s.table[at].name, name) {
			return s.table[at]
		}
	}
	return nil
}

// Params lists the parameters by name.
func (s *Set) Params() []Param {
	ps := make([]Param, len(s.all))
	for i, sl := range s.all {
		ps[i] = sl.decl
	}
	return ps
}

// Lookup finds a parameter by name.
func (s *Set) Lookup(name string) (Param, error) {
	if sl := s.find(name); sl != nil {
		return sl.decl, nil
	}
	return nil, unrecognized(name)
}

func unrecognized(name string) error {
	return pgerr.Newf(pgerr.UndefinedObject, "unrecognized configuration parameter \"%s\"", name)
}

// Show prints a parameter's value.
func (s *Set) Show(name string) (string, error) {
	sl := s.find(name)
	if sl == nil {
		return "", unrecognized(name)
	}
	return sl.print(sl.load()), nil
}

// Check reads a value for a parameter and gives its one printed form, which is what is kept; it changes
// nothing.
func (s *Set) Check(name, text string) (string, error) {
	sl, err := s.changeable(name)
	if err != nil {
		return "", err
	}
	v, err := sl.parse(text)
	if err != nil {
		return "", err
	}
	return sl.print(v), nil
}

// Set gives a parameter another value.
func (s *Set) Set(name, text string) error {
	sl, err := s.changeable(name)
	if err != nil {
		return err
	}
	v, err := sl.parse(text)
	if err != nil {
		return err
	}
	sl.store(v)
	sl.changed.Store(true)
	return nil
}

// Reset gives a parameter its default again.
func (s *Set) Reset(name string) error {
	sl, err := s.changeable(name)
	if err != nil {
		return err
	}
	sl.store(sl.initial)
	sl.changed.Store(false)
	return nil
}

// ResetAll gives all parameters their defaults again.
func (s *Set) ResetAll() {
	for _, sl := range s.all {
		sl.store(sl.initial)
		sl.changed.Store(false)
	}
}

// Changed lists the names and values of the parameters that were set, by name.
func (s *Set) Changed() [][2]string {
	var out [][2]string
	for _, sl := range s.all {
		if sl.changed.Load() {
			out = append(out, [2]string{sl.name, sl.print(sl.load())})
		}
	}
	return out
}

func (s *Set) changeable(name string) (*slot, error) {
	sl := s.find(name)
	switch {
	case sl == nil:
		return nil, unrecognized(name)
	case sl.scope == fixed:
		return nil, cannotChange(sl.name)
	}
	return sl, nil
}

func cannotChange(name string) error {
	return pgerr.Newf(pgerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed", name)
}
