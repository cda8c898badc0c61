// Package settings is typed parameters that change while the server runs: how they are declared, read, parsed,
// printed, and overlaid by a session. Which parameters there are is not known here: each is declared in the
// file that reads it, and lists of them are joined on the way up.
//
// Promises:
//
//	N1  a declaration is immutable; values live in a Set, which is handed around. There is no global one.
//	N2  a value that was accepted is inside its declared bounds, whatever it came from.
//	N3  what Show prints, Set takes, and it means the same.
//
// A Set is safe for concurrent use and a read of it costs a few nanoseconds; read a value once per decision all
// the same, so that one decision sees one value. A Session belongs to one goroutine.
package settings

import (
	"fmt"
	"slices"
	"time"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// Param is a declared parameter of any type.
type Param interface {
	// Name is as SHOW ALL lists it; names are looked up without regard to case.
	Name() string
	// Doc says what it is for, in one sentence.
	Doc() string
	// When says when a change takes effect.
	When() string
	// Type is bool, integer, bytes, duration, string or enum.
	Type() string
	// Default is the text of the default value.
	Default() string
	declared() *decl
}

// Reader is where values are read: a Set or a Session.
type Reader interface {
	value(d *decl) value
}

// value is a parameter's value: a number (of a Bool, Int, Bytes, Duration or Enum) or a text.
type value struct {
	num int64
	str string
}

// scope says who may change a parameter.
type scope uint8

const (
	system  scope = iota // ALTER SYSTEM SET
	session              // also SET
	fixed                // nobody
)

// decl is a declaration.
type decl struct {
	name, doc, when string
	hash            uint32
	kind            kind
	initial         value
	min, max        int64    // of numbers
	words           []string // of an enum
	normal          func(text string) (string, bool)
	scope           scope
}

func newDecl(name, doc, when string, k kind, initial value) decl {
	return decl{name: name, doc: doc, when: when, hash: hashName(name), kind: k, initial: initial}
}

// hashName is FNV-1a over the name in lower case.
func hashName(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(lower(name[i]))) * 16777619
	}
	return h
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func (d *decl) Name() string    { return d.name }
func (d *decl) Doc() string     { return d.doc }
func (d *decl) When() string    { return d.when }
func (d *decl) Type() string    { return d.kind.name }
func (d *decl) Default() string { return d.print(d.initial) }
func (d *decl) declared() *decl { return d }

func (d *decl) print(v value) string { return d.kind.print(d, v) }

// parse reads a value and holds it to the bounds.
func (d *decl) parse(text string) (value, error) {
	v, err := d.kind.parse(d, text)
	if err != nil {
		return value{}, err
	}
	return v, d.check(v)
}

func (d *decl) check(v value) error {
	if (d.min != 0 || d.max != 0) && (v.num < d.min || v.num > d.max) {
		return pgerr.Newf(pgerr.InvalidParameterValue, "%s is outside the valid range for parameter \"%s\" (%s .. %s)",
			d.print(v), d.name, d.print(value{num: d.min}), d.print(value{num: d.max}))
	}
	return nil
}

// Bool is a switch.
type Bool struct{ decl }

// NewBool declares a switch.
func NewBool(name string, initial bool, doc, when string) *Bool {
	v := value{}
	if initial {
		v.num = 1
	}
	return &Bool{newDecl(name, doc, when, kindBool, v)}
}

// Get reads the value.
func (p *Bool) Get(r Reader) bool { return r.value(&p.decl).num != 0 }

// Int is a number.
type Int struct{ decl }

// NewInt declares a number between two bounds, both allowed.
func NewInt(name string, initial, least, most int64, doc, when string) *Int {
	p := &Int{newDecl(name, doc, when, kindInt, value{num: initial})}
	p.bound(least, most)
	return p
}

// Get reads the value.
func (p *Int) Get(r Reader) int64 { return r.value(&p.decl).num }

// Bytes is an amount of memory or storage.
type Bytes struct{ decl }

// NewBytes declares an amount of bytes between two bounds, both allowed.
func NewBytes(name string, initial, least, most int64, doc, when string) *Bytes {
	p := &Bytes{newDecl(name, doc, when, kindBytes, value{num: initial})}
	p.bound(least, most)
	return p
}

// Get reads the value.
func (p *Bytes) Get(r Reader) int64 { return r.value(&p.decl).num }

// Duration is a span of time, in whole microseconds.
type Duration struct{ decl }

// NewDuration declares a span of time between two bounds, both allowed.
func NewDuration(name string, initial, least, most time.Duration, doc, when string) *Duration {
	p := &Duration{newDecl(name, doc, when, kindDuration, value{num: initial.Microseconds()})}
	p.bound(least.Microseconds(), most.Microseconds())
	return p
}

// Get reads the value.
func (p *Duration) Get(r Reader) time.Duration {
	return time.Duration(r.value(&p.decl).num) * time.Microsecond
}

// String is any text.
type String struct{ decl }

// NewString declares a text.
func NewString(name, initial, doc, when string) *String {
	return &String{newDecl(name, doc, when, kindString, value{str: initial})}
}

// Get reads the value.
func (p *String) Get(r Reader) string { return r.value(&p.decl).str }

// Checked adds to the declaration of a text what brings it to its one form; false for what it cannot be.
func Checked(p *String, normal func(text string) (string, bool)) *String {
	p.normal = normal
	return p
}

// Enum is one of a few words.
type Enum struct{ decl }

// NewEnum declares a choice among words, which are matched without regard to case.
func NewEnum(name, initial string, words []string, doc, when string) *Enum {
	at := slices.Index(words, initial)
	if at < 0 {
		panic(fmt.Sprintf("settings: %s: default %q is none of its words", name, initial))
	}
	p := &Enum{newDecl(name, doc, when, kindEnum, value{num: int64(at)})}
	p.words = words
	return p
}

// Get reads the value: one of the words as they were declared.
func (p *Enum) Get(r Reader) string { return p.words[r.value(&p.decl).num] }

// bound sets the bounds; a default outside of them is a fault of the declaration.
func (d *decl) bound(least, most int64) {
	d.min, d.max = least, most
	if err := d.check(d.initial); err != nil || least > most {
		panic(fmt.Sprintf("settings: default of %s: %v", d.name, err))
	}
}

// ForSession declares that a session may change the parameter for itself; ALTER SYSTEM SET then changes what
// sessions begin with.
func ForSession[P Param](p P) P {
	p.declared().scope = session
	return p
}

// Fixed declares that nobody may change the parameter.
func Fixed[P Param](p P) P {
	p.declared().scope = fixed
	return p
}

// IsForSession says whether a session may change the parameter for itself.
func IsForSession(p Param) bool { return p.declared().scope == session }
