package row

import (
	"strconv"

	"github.com/tributary-db/tributary/sql/adt"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// AppendText appends value i of v, which is not NULL, as PostgreSQL prints values of type t. The reg* types
// are printed as numbers: their names are the catalog's to know.
func AppendText(dst []byte, t types.T, v *vec.Vec, i int) []byte {
	switch v.Kind {
	case types.Bool:
		return appendBool(dst, v.Bools[i] != 0)
	case types.Int:
		return appendIntText(dst, t, v.Ints[i])
	case types.Float:
		return appendFloatText(dst, t, v.Floats[i])
	}
	return appendBytesText(dst, t, v.Bytes(i))
}

// AppendTextDatum is AppendText for a value by itself.
func AppendTextDatum(dst []byte, t types.T, d vec.Datum) []byte {
	switch d.Kind() {
	case types.Bool:
		return appendBool(dst, d.Bool())
	case types.Int:
		return appendIntText(dst, t, d.Int())
	case types.Float:
		return appendFloatText(dst, t, d.Float())
	}
	return appendBytesText(dst, t, d.Bytes())
}

func appendBool(dst []byte, x bool) []byte {
	if x {
		return append(dst, 't')
	}
	return append(dst, 'f')
}

func appendIntText(dst []byte, t types.T, x int64) []byte {
	switch t.OID {
	case types.OIDDate:
		return adt.Date(x).AppendText(dst)
	case types.OIDTime:
		return adt.Time(x).AppendText(dst)
	case types.OIDTimestamp:
		return adt.Timestamp(x).AppendText(dst)
	case types.OIDTimestampTZ:
		return adt.Timestamp(x).AppendTextTZ(dst)
	case types.OIDChar:
		return adt.AppendChar(dst, x)
	}
	return strconv.AppendInt(dst, x, 10)
}

func appendFloatText(dst []byte, t types.T, x float64) []byte {
	if t.OID == types.OIDFloat4 {
		return adt.AppendFloat(dst, x, 32)
	}
	return adt.AppendFloat(dst, x, 64)
}

func appendBytesText(dst []byte, t types.T, b []byte) []byte {
	switch t.OID {
	case types.OIDText, types.OIDVarchar, types.OIDName, types.OIDJSON, types.OIDUnknown, types.OIDACLItem:
		return append(dst, b...)
	case types.OIDBpchar:
		return adt.AppendBpchar(dst, string(b), t.Mod)
	case types.OIDNumeric:
		return adt.NumericOf(b).AppendText(dst)
	case types.OIDJsonb:
		return adt.JsonbOf(b).AppendText(dst)
	case types.OIDUUID:
		return adt.AppendUUID(dst, b)
	case types.OIDBytea:
		return adt.AppendBytea(dst, b)
	case types.OIDInterval:
		return adt.IntervalOf(b).AppendText(dst)
	case types.OIDInt2Vector, types.OIDOidVector:
		return appendVectorText(dst, b)
	case types.OIDRecord:
		return appendRecordText(dst, t, b)
	}
	if elem, ok := t.Elem(); ok {
		return appendArrayText(dst, elem, b)
	}
	// What is left are pseudo-types, whose values, if there ever are any, are texts.
	return append(dst, b...)
}

// appendElem appends the text of an element of an array or a record.
func appendElem(dst []byte, t types.T, r *adt.ElemReader) []byte {
	switch t.Kind() {
	case types.Bool:
		return appendBool(dst, r.Bool())
	case types.Int:
		return appendIntText(dst, t, r.Int())
	case types.Float:
		return appendFloatText(dst, t, r.Float())
	}
	return appendBytesText(dst, t, r.Bytes())
}

func appendArrayText(dst []byte, elem types.T, b []byte) []byte {
	a := adt.ArrayOf(b)
	return adt.AppendArrayText(dst, &a, elem.Kind(), func(dst []byte, r *adt.ElemReader) []byte {
		return appendElem(dst, elem, r)
	})
}

// appendVectorText appends an int2vector or oidvector: numbers and blanks.
func appendVectorText(dst []byte, b []byte) []byte {
	a := adt.ArrayOf(b)
	r := a.Elems()
	for n := 0; r.Next(types.Int); n++ {
		if n > 0 {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(dst, r.Int(), 10)
	}
	return dst
}

func appendRecordText(dst []byte, t types.T, b []byte) []byte {
	var w adt.RecordText
	dst = w.Begin(dst)
	r := adt.ReadRecord(b)
	for _, f := range recordFields(t) {
		dst = w.Field(dst)
		if r.Next(f.Type.Kind()) && !r.IsNull() {
			dst = w.EndField(appendElem(dst, f.Type, &r))
		}
	}
	return w.Done(dst)
}

func recordFields(t types.T) []types.Field {
	if t.Record == nil {
		return nil
	}
	return t.Record.Fields
}
