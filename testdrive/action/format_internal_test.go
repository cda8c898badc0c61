package action

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// A value that is not of its type's form is an error, and so is a type that was not asked for in binary.
func TestFormatValueErrors(t *testing.T) {
	array := binary.BigEndian.AppendUint32(nil, 1) // one dimension, and nothing that tells of it
	// Two dimensions: two thousand million rows without columns.
	manyElements := []byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 23, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}
	for _, c := range []struct {
		oid  uint32
		src  []byte
		want string
	}{
		{pgtype.QCharOID, []byte("ab"), `"char" has 2 bytes`},
		{pgtype.QCharOID, nil, `"char" has 0 bytes`},
		{pgtype.PointOID, []byte("x"), "no format for type 600"},
		{pgtype.JSONBOID, nil, "jsonb has an unknown version"},
		{pgtype.JSONBOID, []byte("\x02{}"), "jsonb has an unknown version"},
		{pgtype.Int4ArrayOID, array, "binary value is too short"},
		{pgtype.Int4ArrayOID, nil, "binary value is too short"},
		{pgtype.Int4ArrayOID, manyElements, "binary value is too short"},
		{pgtype.Int4rangeOID, nil, "binary value is too short"},
	} {
		text, err := formatValue(pgtype.NewMap(), c.oid, c.src)
		if err == nil || err.Error() != c.want {
			t.Errorf("type %d, %q: %q, %v, want error %q", c.oid, c.src, text, err, c.want)
		}
	}
}

// FuzzFormatValue: whatever bytes a server sends for a value, they are formatted or refused.
func FuzzFormatValue(f *testing.F) {
	var oids []uint32
	oids = append(append(oids, binaryTypes...), arrayTypes...)
	for _, r := range rangeTypes {
		oids = append(oids, r.oid)
	}
	for i := range oids {
		f.Add(i, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
		f.Add(i, []byte("\x01{}"))
		f.Add(i, []byte{})
	}
	texts := []uint32{pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID, pgtype.JSONOID,
		pgtype.JSONBOID}
	m := pgtype.NewMap()
	f.Fuzz(func(t *testing.T, i int, src []byte) {
		oid := oids[uint(i)%uint(len(oids))]
		if text, err := formatValue(m, oid, src); err == nil && text == "" && len(src) > 0 && !slices.Contains(texts, oid) {
			t.Errorf("type %d: nothing for %q", oid, src)
		}
	})
}
