package row

import (
	"encoding/json"
	"math"
	"strings"
	"unsafe"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// ParseText reads a value of type t from its text and appends it to v, as PostgreSQL's input functions do
// on the way into a column: the type's modifier is applied, and what does not fit it is an error. Words
// such as "now" are refused. s must be valid UTF-8; nothing of it is kept. On an error v is as before.
func ParseText(t types.T, s []byte, v *vec.Vec) error {
	return ParseTextAt(t, unsafe.String(unsafe.SliceData(s), len(s)), adt.Clock{}, v)
}

// ParseTextAt is ParseText with a present for the words that ask for it.
func ParseTextAt(t types.T, s string, clock adt.Clock, v *vec.Vec) error {
	switch v.Kind {
	case types.Int:
		x, err := parseInt(t, s, clock)
		if err != nil {
			return err
		}
		v.AppendInt(x)
		return nil
	case types.Float:
		x, err := parseFloat(t, s)
		if err != nil {
			return err
		}
		v.AppendFloat(x)
		return nil
	case types.Bool:
		x, err := adt.ParseBool(s)
		if err != nil {
			return err
		}
		v.AppendBool(x)
		return nil
	}
	v.BeginBytes()
	data, err := appendParsed(v.Data, t, s, clock)
	if err != nil {
		return err
	}
	v.Data = data
	v.EndBytes()
	return nil
}

func parseInt(t types.T, s string, clock adt.Clock) (int64, error) {
	switch t.OID {
	case types.OIDInt4:
		return shortInt(s, 32)
	case types.OIDInt8:
		return shortInt(s, 64)
	case types.OIDInt2:
		return shortInt(s, 16)
	case types.OIDDate:
		x, err := adt.ParseDate(s, clock)
		return int64(x), err
	case types.OIDTime:
		x, err := adt.ParseTime(s, t.Mod, clock)
		return int64(x), err
	case types.OIDTimestamp:
		x, err := adt.ParseTimestamp(s, t.Mod, clock)
		return int64(x), err
	case types.OIDTimestampTZ:
		x, err := adt.ParseTimestampTZ(s, t.Mod, clock)
		return int64(x), err
	case types.OIDChar:
		return adt.ParseChar(s), nil
	case types.OIDMzTimestamp:
		return adt.ParseMzTimestamp(s)
	case types.OIDOid, types.OIDXid:
		return adt.ParseOID(s)
	}
	// The reg* types: names are the catalog's to know.
	if s == "-" {
		return 0, nil
	}
	return adt.ParseOID(s)
}

// shortInt reads what most integers are, up to 18 digits and perhaps a minus, and leaves the rest to others.
func shortInt(s string, bits int) (int64, error) {
	t, sign := s, int64(1)
	if len(t) > 1 && t[0] == '-' {
		t, sign = t[1:], -1
	}
	if len(t)-1 > 17 {
		return adt.ParseInt(s, bits)
	}
	var x int64
	for i := range len(t) {
		d := t[i] - '0'
		if d > 9 {
			return adt.ParseInt(s, bits)
		}
		x = x*10 + int64(d)
	}
	x *= sign
	if len(t) == 0 || x != x<<(64-bits)>>(64-bits) {
		return adt.ParseInt(s, bits)
	}
	return x, nil
}

func parseFloat(t types.T, s string) (float64, error) {
	if t.OID == types.OIDFloat4 {
		return adt.ParseFloat(s, 32)
	}
	return adt.ParseFloat(s, 64)
}

// appendParsed appends the bytes of a value of kind Bytes.
func appendParsed(dst []byte, t types.T, s string, clock adt.Clock) ([]byte, error) {
	switch t.OID {
	case types.OIDText, types.OIDUnknown, types.OIDACLItem:
		return append(dst, s...), nil
	case types.OIDVarchar:
		s, err := adt.FitVarchar(s, t.Mod, false)
		return append(dst, s...), err
	case types.OIDBpchar:
		s, err := adt.FitBpchar(s, t.Mod, false)
		return append(dst, s...), err
	case types.OIDName:
		return append(dst, adt.FitName(s)...), nil
	case types.OIDNumeric:
		n, err := adt.ParseNumeric(s)
		if err == nil {
			n, err = n.FitMod(t.Mod)
		}
		return n.Append(dst), err
	case types.OIDJsonb:
		return adt.ParseJsonb(dst, s)
	case types.OIDJSON:
		if !json.Valid(unsafe.Slice(unsafe.StringData(s), len(s))) {
			return dst, jsonError(s)
		}
		return append(dst, s...), nil
	case types.OIDUUID:
		return adt.ParseUUID(dst, s)
	case types.OIDBytea:
		return adt.ParseBytea(dst, s)
	case types.OIDInterval:
		iv, err := adt.ParseInterval(s, t.Mod)
		return iv.Append(dst), err
	case types.OIDInt2Vector, types.OIDOidVector:
		return parseVector(dst, t, s)
	case types.OIDRecord:
		return parseRecord(dst, t, s, clock)
	}
	if elem, ok := t.Elem(); ok {
		return parseArray(dst, elem, s, clock)
	}
	return dst, pgerr.Newf(pgerr.FeatureNotSupported, "cannot accept a value of type %s", t.Name())
}

// jsonError says what is wrong with a JSON text, as the parser of jsonb does.
func jsonError(s string) error {
	if _, err := adt.ParseJsonb(nil, s); err != nil {
		return err
	}
	return pgerr.New(pgerr.InvalidTextRepresentation, "invalid input syntax for type json")
}

func parseArray(dst []byte, elem types.T, s string, clock adt.Clock) ([]byte, error) {
	var b adt.ElemBuilder
	p := elemParser{t: elem, clock: clock}
	return b.ParseArray(dst, s, p.add)
}

// elemParser reads elements of one type.
type elemParser struct {
	t       types.T
	clock   adt.Clock
	scratch []byte
}

func (p *elemParser) add(b *adt.ElemBuilder, s string) error {
	switch p.t.Kind() {
	case types.Bool:
		x, err := adt.ParseBool(s)
		b.Bool(x)
		return err
	case types.Int:
		x, err := parseInt(p.t, s, p.clock)
		b.Int(x)
		return err
	case types.Float:
		x, err := parseFloat(p.t, s)
		b.Float(vec.CanonFloat(x))
		return err
	}
	data, err := appendParsed(p.scratch[:0], p.t, s, p.clock)
	if err != nil {
		return err
	}
	p.scratch = data
	b.Bytes(data)
	return nil
}

func parseRecord(dst []byte, t types.T, s string, clock adt.Clock) ([]byte, error) {
	if t.Record == nil {
		return dst, pgerr.New(pgerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	var b adt.ElemBuilder
	p := elemParser{clock: clock}
	return b.ParseRecord(dst, s, len(t.Record.Fields), func(b *adt.ElemBuilder, i int, text string) error {
		p.t = t.Record.Fields[i].Type
		return p.add(b, text)
	})
}

// parseVector reads an int2vector or oidvector: numbers and blanks. Its first subscript is 0.
func parseVector(dst []byte, t types.T, s string) ([]byte, error) {
	var b adt.ElemBuilder
	b.Reset(dst)
	for _, word := range strings.Fields(s) {
		var x int64
		var err error
		if t.OID == types.OIDOidVector {
			x, err = adt.ParseOID(word)
		} else {
			x, err = adt.ParseInt(word, 16)
		}
		if err != nil {
			return dst, err
		}
		b.Int(x)
	}
	return finishVector(&b), nil
}

func finishVector(b *adt.ElemBuilder) []byte {
	return b.FinishArray(adt.Dim{Lower: 0, Len: int32(min(b.Len(), math.MaxInt32))})
}
