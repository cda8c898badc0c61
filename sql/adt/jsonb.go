package adt

import (
	"bytes"
	"encoding/binary"
	"iter"
	"strings"

	"github.com/tributary-db/tributary/sql/invariants"
)

// Jsonb is the encoding of a JSON value. Its order as bytes is PostgreSQL's: Object > Array > Boolean >
// Number > String > Null; of two containers the one with more elements is greater, then the first
// difference decides. (Two deviations: keys are ordered by bytes, not first by length, also where that
// decides which difference is the first; and an empty array is not less than scalars at the top level.)
//
// The first byte is the kind, or false or true. A string follows as its bytes and a zero (no string has
// one inside); a number as numeric encodes itself. An array or object follows as the number of its elements
// (one byte, or ff and four bytes from 255 on), then the elements one after the other (in an object, key, zero
// byte, value, in the order of keys), then where each of them but the first begins: little-endian offsets
// from the container's first byte, as wide as the container's whole length needs (one byte up to 255, two
// up to 65535, else four). The offsets come last and follow from what is before them, so they never decide a
// comparison; and a reader who knows where a container ends, as everybody does who came from the top, finds
// any element without reading the others.
type Jsonb []byte

// JsonKind is what a JSON value is, in the order of values.
type JsonKind uint8

const (
	JsonNull JsonKind = iota + 1
	JsonString
	JsonNumber
	JsonFalse
	JsonTrue
	JsonArray
	JsonObject
)

// Kind is what the value is; 0 for no bytes at all.
func (j Jsonb) Kind() JsonKind {
	if len(j) == 0 {
		return 0
	}
	return JsonKind(j[0])
}

// TypeOf is jsonb_typeof.
func (j Jsonb) TypeOf() string {
	switch j.Kind() {
	case JsonNull:
		return "null"
	case JsonString:
		return "string"
	case JsonNumber:
		return "number"
	case JsonFalse, JsonTrue:
		return "boolean"
	case JsonArray:
		return "array"
	}
	return "object"
}

// IsScalar says whether the value is neither array nor object.
func (j Jsonb) IsScalar() bool { return j.Kind() < JsonArray }

// Str is the value of a string; it points into j.
func (j Jsonb) Str() string {
	if j.Kind() != JsonString || len(j) < 2 {
		return ""
	}
	return borrow(j[1 : len(j)-1])
}

// Number is the value of a number.
func (j Jsonb) Number() Numeric {
	if j.Kind() != JsonNumber {
		return Numeric{}
	}
	return NumericOf(j[1:])
}

// container is an array or object taken apart, as far as its own bytes go.
type container struct {
	b     Jsonb
	n     int // elements
	first int // where the first one begins
	table int // where the offsets begin
	width int // of an offset
}

// shortCount is the first number of elements that does not fit the byte after the kind.
const shortCount = 0xff

// open takes a container apart. What is none, or is damaged, has no elements.
func (j Jsonb) open() container {
	c := container{b: j, first: 2, width: offsetWidth(len(j))}
	if k := j.Kind(); k != JsonArray && k != JsonObject || len(j) < 2 {
		return c
	}
	n := int(j[1])
	if n == shortCount {
		if len(j) < 6 {
			return c
		}
		n, c.first = int(binary.BigEndian.Uint32(j[2:])), 6
	}
	if n == 0 || n > len(j) {
		return c
	}
	if c.table = len(j) - (n-1)*c.width; c.table >= c.first {
		c.n = n
	}
	return c
}

// offsetWidth is how many bytes each offset of a container of the given length has.
func offsetWidth(length int) int {
	switch {
	case length <= 0xff:
		return 1
	case length <= 0xffff:
		return 2
	}
	return 4
}

// start is where element i begins, for i from 0 to n (where the last one ends).
func (c *container) start(i int) int {
	switch {
	case i == 0:
		return c.first
	case i == c.n:
		return c.table
	}
	at := c.table + (i-1)*c.width
	switch c.width {
	case 1:
		return int(c.b[at])
	case 2:
		return int(binary.LittleEndian.Uint16(c.b[at:]))
	}
	return int(binary.LittleEndian.Uint32(c.b[at:]))
}

// elem is the bytes of element i; none if they are damaged.
func (c *container) elem(i int) Jsonb {
	from, to := c.start(i), c.start(i+1)
	if from < c.first || from > to || to > c.table {
		return nil
	}
	return c.b[from:to:to]
}

// pair is key and value of element i of an object.
func (c *container) pair(i int) (string, Jsonb) {
	e := c.elem(i)
	k := bytes.IndexByte(e, 0)
	if k < 0 {
		return "", nil
	}
	return borrow(e[:k]), e[k+1:]
}

// Len is the number of elements of an array or object; 0 for scalars.
func (j Jsonb) Len() int {
	c := j.open()
	return c.n
}

// Index is element i of an array, counted from the end if negative; ok is false if there is none.
func (j Jsonb) Index(i int) (elem Jsonb, ok bool) {
	if j.Kind() != JsonArray {
		return nil, false
	}
	c := j.open()
	if i < 0 {
		i += c.n
	}
	if i < 0 || i >= c.n {
		return nil, false
	}
	return c.elem(i), true
}

// Field is the value of a key of an object; ok is false if there is none.
func (j Jsonb) Field(key string) (val Jsonb, ok bool) {
	if j.Kind() != JsonObject {
		return nil, false
	}
	c := j.open()
	low, high := 0, c.n
	for low < high {
		mid := (low + high) / 2
		k, v := c.pair(mid)
		switch r := strings.Compare(k, key); {
		case r == 0:
			return v, true
		case r < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return nil, false
}

// Step is one step of a path of texts: a field of an object, or an element of an array by its number.
func (j Jsonb) Step(name string) (Jsonb, bool) {
	if j.Kind() == JsonArray {
		i, ok, over := scanInt(name)
		if !ok || over || i != int64(int32(i)) {
			return nil, false
		}
		return j.Index(int(i))
	}
	return j.Field(name)
}

// Elems goes through the elements of an array; of anything else there are none.
func (j Jsonb) Elems() iter.Seq2[int, Jsonb] {
	return func(yield func(int, Jsonb) bool) {
		if j.Kind() != JsonArray {
			return
		}
		c := j.open()
		for i := range c.n {
			if !yield(i, c.elem(i)) {
				return
			}
		}
	}
}

// Pairs goes through keys and values of an object in the order of keys; of anything else there are none. The
// keys point into j.
func (j Jsonb) Pairs() iter.Seq2[string, Jsonb] {
	return func(yield func(string, Jsonb) bool) {
		if j.Kind() != JsonObject {
			return
		}
		c := j.open()
		for i := range c.n {
			if !yield(c.pair(i)) {
				return
			}
		}
	}
}

// CheckJsonb says whether b is an encoding that the builder could have made.
func CheckJsonb(b []byte) bool { return checkJsonb(b, 0) }

func checkJsonb(b Jsonb, depth int) bool {
	switch b.Kind() {
	case JsonNull, JsonFalse, JsonTrue:
		return len(b) == 1
	case JsonString:
		return len(b) >= 2 && bytes.IndexByte(b[1:], 0) == len(b)-2
	case JsonNumber:
		n, size := ReadNumeric(b[1:])
		return size > 0 && size == len(b)-1 && n.IsFinite()
	case JsonArray, JsonObject:
		return depth < maxJsonbDepth && checkContainer(b, depth)
	}
	return false
}

func checkContainer(b Jsonb, depth int) bool {
	if len(b) == 2 {
		return b[1] == 0
	}
	c := b.open()
	if c.n == 0 || c.first == 6 && c.n < shortCount {
		return false
	}
	last := ""
	for i := range c.n {
		val := c.elem(i)
		if b.Kind() == JsonObject {
			if bytes.IndexByte(val, 0) < 0 {
				return false
			}
			var key string
			if key, val = c.pair(i); i > 0 && key <= last {
				return false
			}
			last = key
		}
		if !checkJsonb(val, depth+1) {
			return false
		}
	}
	return true
}

// jsonFrame is a container on the way through a value: what comes next in it.
type jsonFrame struct {
	c    container
	next int
}

// AppendText appends j compactly.
func (j Jsonb) AppendText(dst []byte) []byte {
	// A stack of our own, so that depth costs no more than memory.
	var buf [16]jsonFrame
	stack := buf[:0]
	for {
		switch j.Kind() {
		case JsonArray:
			dst = append(dst, '[')
			stack = append(stack, jsonFrame{c: j.open()})
		case JsonObject:
			dst = append(dst, '{')
			stack = append(stack, jsonFrame{c: j.open()})
		default:
			dst = j.appendScalar(dst)
		}
		for {
			if len(stack) == 0 {
				return dst
			}
			f := &stack[len(stack)-1]
			if f.next < f.c.n {
				break
			}
			if f.c.b.Kind() == JsonObject {
				dst = append(dst, '}')
			} else {
				dst = append(dst, ']')
			}
			stack = stack[:len(stack)-1]
		}
		f := &stack[len(stack)-1]
		if f.next > 0 {
			dst = append(dst, ',')
		}
		if f.c.b.Kind() == JsonObject {
			var key string
			key, j = f.c.pair(f.next)
			dst = append(AppendJsonString(dst, key), ':')
		} else {
			j = f.c.elem(f.next)
		}
		f.next++
	}
}

func (j Jsonb) appendScalar(dst []byte) []byte {
	switch j.Kind() {
	case JsonString:
		return AppendJsonString(dst, j.Str())
	case JsonNumber:
		return j.Number().AppendText(dst)
	case JsonFalse:
		return append(dst, "false"...)
	case JsonTrue:
		return append(dst, "true"...)
	}
	return append(dst, "null"...)
}

// AppendPlain appends j as ->> gives it: a string without its quotes, all else as its text. (A JSON null is a
// NULL there, which the caller sees to.)
func (j Jsonb) AppendPlain(dst []byte) []byte {
	if j.Kind() == JsonString {
		return append(dst, j.Str()...)
	}
	return j.AppendText(dst)
}

func (j Jsonb) String() string { return string(j.AppendText(nil)) }

// JsonbOf takes bytes from our own vectors.
func JsonbOf(b []byte) Jsonb {
	if len(b) == 0 || b[0] == 0 || JsonKind(b[0]) > JsonObject {
		invariants.Failf("jsonb: bytes %x are no encoding", b)
	}
	return b
}

// AppendJsonString appends s in quotes.
func AppendJsonString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
