package types

import "testing"

func TestNamesRoundTrip(t *testing.T) {
	for _, oid := range All() {
		typ := Of(oid)
		got, ok := ByName(typ.Name())
		if !ok || !got.Equal(typ) {
			t.Errorf("ByName(%q) = %v, %v", typ.Name(), got, ok)
		}
		if a, ok := typ.Array(); ok {
			e, ok := a.Elem()
			if !ok || e.OID != oid {
				t.Errorf("element of %v is %v", a, e)
			}
		}
	}
}

func TestFormatType(t *testing.T) {
	for want, typ := range map[string]T{
		"character varying(10)":          {OID: OIDVarchar, Mod: 14},
		"numeric(10,2)":                  {OID: OIDNumeric, Mod: 10<<16 | 2 + 4},
		"timestamp(3) without time zone": {OID: OIDTimestamp, Mod: 3},
		"integer[]":                      {OID: 1007, Mod: NoMod},
		"character varying(3)[]":         {OID: 1015, Mod: 7},
		"bigint":                         TInt8,
		`"char"`:                         TChar,
		"int2vector":                     Of(OIDInt2Vector),
	} {
		if got := typ.String(); got != want {
			t.Errorf("%v prints as %q, want %q", typ.OID, got, want)
		}
	}
}

func TestOwnNames(t *testing.T) {
	for name, want := range map[string]T{"string": TText, "json": TJsonb, "bytes": TBytea, "mz_timestamp": TMzTimestamp, "float": TFloat8} {
		if got, err := ParseName(Name{Parts: []string{name}}); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for _, n := range []Name{{Parts: []string{"numeric"}, Mods: []int64{40}}, {Parts: []string{"elsewhere", "int4"}},
		{Parts: []string{"void"}, Array: true}, {Parts: []string{"int4"}, Fields: "YEAR"}} {
		if got, err := ParseName(n); err == nil {
			t.Errorf("%v is %v", n, got)
		}
	}
}
