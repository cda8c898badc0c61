package adt

import (
	"math"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
)

// arrayParser reads the text of an array. What it is said to be is checked to the end before an element's
// own error counts, as PostgreSQL does.
type arrayParser struct {
	b    *ElemBuilder
	src  string
	s    string // what is left
	elem func(b *ElemBuilder, text string) error

	ndims    int
	declared int // dimensions said in front; 0: none
	dims     [MaxDims]Dim
	lens     [MaxDims]int // of a finished part at each depth; -1: none yet
	ragged   bool         // elements stand at different depths
	text     []byte
	elemErr  error
}

// ParseArray appends the array that a text stands for to dst. elem adds one element, which is never NULL, to
// the builder, and keeps nothing of its text.
func (b *ElemBuilder) ParseArray(dst []byte, s string, elem func(b *ElemBuilder, text string) error) ([]byte, error) {
	b.Reset(dst)
	p := arrayParser{b: b, src: s, s: s, elem: elem, lens: [MaxDims]int{-1, -1, -1, -1, -1, -1}}
	if err := p.array(); err != nil {
		return dst, err
	}
	if b.n == 0 {
		return b.FinishArray(), nil
	}
	return b.FinishArray(p.dims[:p.ndims]...), nil
}

func (p *arrayParser) malformed(format string, args ...any) error {
	return pgerr.Newf(pgerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", p.src).WithDetail(format, args...)
}

func (p *arrayParser) space() {
	for p.s != "" && isSpace(p.s[0]) {
		p.s = p.s[1:]
	}
}

func (p *arrayParser) array() error {
	p.space()
	if err := p.bounds(); err != nil {
		return err
	}
	p.space()
	if p.s == "" || p.s[0] != '{' {
		if p.declared > 0 {
			return p.malformed("Array contents must start with \"{\".")
		}
		return p.malformed("Array value must start with \"{\" or dimension information.")
	}
	whole := p.src
	p.src = p.s // What errors about the contents show.
	if err := p.level(0); err != nil {
		return err
	}
	p.space()
	if p.s != "" {
		return p.malformed("Junk after closing right brace.")
	}
	if p.ragged {
		return p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	p.src = whole
	if p.declared > 0 && p.declared != p.ndims {
		return p.malformed("Specified array dimensions do not match array contents.")
	}
	for i := range p.ndims {
		if p.declared > 0 && int(p.dims[i].Len) != p.lens[i] {
			return p.malformed("Specified array dimensions do not match array contents.")
		}
		if p.declared == 0 {
			p.dims[i] = Dim{Lower: 1, Len: int32(p.lens[i])}
		}
		if low := p.dims[i].Lower; int64(low)+int64(p.dims[i].Len) > math.MaxInt32 {
			return pgerr.Newf(pgerr.ProgramLimitExceeded, "array lower bound is too large: %d", low)
		}
	}
	return p.elemErr
}

// bounds reads dimensions in front of an array: [1:2][0:3]=.
func (p *arrayParser) bounds() error {
	for p.s != "" && p.s[0] == '[' {
		p.s = p.s[1:]
		if p.declared == MaxDims {
			return errTooManyDims(p.declared + 1)
		}
		first, ok := p.bound()
		if !ok {
			return p.malformed("\"[\" must introduce explicitly-specified array dimensions.")
		}
		low, high := int64(1), first
		if p.s != "" && p.s[0] == ':' {
			p.s, low = p.s[1:], first
			if high, ok = p.bound(); !ok {
				return p.malformed("Missing array dimension value.")
			}
		}
		if p.s == "" || p.s[0] != ']' {
			return p.malformed("Missing \"%s\" after array dimensions.", "]")
		}
		p.s = p.s[1:]
		if high < low {
			return pgerr.New(pgerr.ArraySubscriptError, "upper bound cannot be less than lower bound")
		}
		p.dims[p.declared] = Dim{Lower: int32(low), Len: int32(min(high-low+1, math.MaxInt32))}
		p.declared++
		p.space()
	}
	if p.declared == 0 {
		return nil
	}
	if p.s == "" || p.s[0] != '=' {
		return p.malformed("Missing \"%s\" after array dimensions.", "=")
	}
	p.s = p.s[1:]
	return nil
}

// bound reads an integer from digits and signs as C's atoi does, which stops at what it cannot use and
// keeps the low 32 bits.
func (p *arrayParser) bound() (int64, bool) {
	end := span(p.s, 0, func(c byte) bool { return isDigit(c) || c == '-' || c == '+' })
	if end == 0 {
		return 0, false
	}
	i := 0
	if !isDigit(p.s[0]) {
		i++
	}
	x, _, over := scanInt(p.s[:span(p.s, i, isDigit)])
	if over {
		x = math.MaxInt64
	}
	p.s = p.s[end:]
	return int64(int32(x)), true
}

func errTooManyDims(n int) error {
	return pgerr.Newf(pgerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, MaxDims)
}

// level reads a part in braces at the given depth.
func (p *arrayParser) level(depth int) error {
	if depth == MaxDims {
		return errTooManyDims(depth + 1)
	}
	p.s = p.s[1:]
	n, ofLevels := 0, false
	for {
		p.space()
		if p.s == "" {
			return p.malformed("Unexpected end of input.")
		}
		switch c := p.s[0]; {
		case c == '}' && n == 0 && depth == 0:
			p.s = p.s[1:]
			return nil
		case c == '}' || c == ',':
			return p.malformed("Unexpected \"%c\" character.", c)
		case c == '{':
			if n > 0 && !ofLevels {
				return p.malformed("Unexpected \"{\" character.")
			}
			ofLevels = true
			if err := p.level(depth + 1); err != nil {
				return err
			}
		case ofLevels:
			return p.malformed("Unexpected array element.")
		default:
			if err := p.element(); err != nil {
				return err
			}
		}
		n++
		p.space()
		if p.s == "" {
			return p.malformed("Unexpected end of input.")
		}
		c := p.s[0]
		p.s = p.s[1:]
		switch c {
		case ',':
			continue
		case '}':
			return p.closeLevel(depth, n, ofLevels)
		case '{':
			return p.malformed("Unexpected \"{\" character.")
		}
		return p.malformed("Unexpected array element.")
	}
}

// closeLevel checks that all parts at one depth are alike.
func (p *arrayParser) closeLevel(depth, n int, ofLevels bool) error {
	if !ofLevels {
		if p.ndims == 0 {
			p.ndims = depth + 1
		}
		p.ragged = p.ragged || p.ndims != depth+1
	}
	if p.lens[depth] >= 0 && p.lens[depth] != n {
		return p.malformed("Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	p.lens[depth] = n
	return nil
}

// element reads one element, quoted or not.
func (p *arrayParser) element() error {
	text, plain, err := p.elementText()
	if err != nil {
		return err
	}
	switch {
	case plain && strings.EqualFold(text, "null"):
		p.b.Null()
	case p.elemErr == nil:
		p.elemErr = p.elem(p.b, text)
	}
	return nil
}

// elementText gives an element's text without quotes and escapes; plain says that it had none.
func (p *arrayParser) elementText() (text string, plain bool, err error) {
	if p.s[0] == '"' {
		return p.quoted()
	}
	p.text = p.text[:0]
	kept := 0 // up to the last character that is no blank, or is escaped
	i, plain := 0, true
	for ; i < len(p.s); i++ {
		c := p.s[i]
		switch c {
		case '{':
			return "", false, p.malformed("Unexpected \"{\" character.")
		case '"':
			return "", false, p.malformed("Unexpected array element.")
		case '}', ',':
			p.s = p.s[i:]
			return borrow(p.text[:kept]), plain, nil
		case '\\':
			if i++; i == len(p.s) {
				return "", false, p.malformed("Unexpected end of input.")
			}
			c, plain = p.s[i], false
			p.text = append(p.text, c)
			kept = len(p.text)
			continue
		}
		p.text = append(p.text, c)
		if !isSpace(c) {
			kept = len(p.text)
		}
	}
	return "", false, p.malformed("Unexpected end of input.")
}

func (p *arrayParser) quoted() (string, bool, error) {
	p.text = p.text[:0]
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; c {
		case '"':
			p.s = p.s[i+1:]
			return borrow(p.text), false, nil
		case '\\':
			if i++; i < len(p.s) {
				p.text = append(p.text, p.s[i])
			}
		default:
			p.text = append(p.text, c)
		}
	}
	return "", false, p.malformed("Unexpected end of input.")
}
