package slt

import "testing"

// TestFormat is the table of how a value is printed under a letter in a mode.
func TestFormat(t *testing.T) {
	const (
		boolean, bytea, int4, text, float4, float8, numeric, jsonb, date = 16, 17, 23, 25, 700, 701, 1700, 3802, 1082
	)
	for _, c := range []struct {
		oid                     uint32
		value                   string
		letter                  byte
		inStandard, inCockroach string
	}{
		{boolean, "t", 'B', "true", "true"},
		{boolean, "f", 'T', "false", "false"},
		{boolean, "t", 'I', "1", "1"},
		{boolean, "f", 'I', "0", "0"},
		{int4, "-7", 'I', "-7", "-7"},
		{int4, "-7", 'R', "-7", "-7"},
		{int4, "-7", 'T', "-7", "-7"},
		{float8, "1", 'T', "1.000", "1.000"},
		{float8, "0.0006", 'T', "0.001", "0.001"},
		{float8, "1.5", 'R', "1.500", "1.5"},
		{float8, "1e+20", 'R', "100000000000000000000.000", "100000000000000000000"},
		{float8, "-2.7", 'I', "-2", "-2"},
		{float8, "NaN", 'R', "NaN", "NaN"},
		{float8, "-Infinity", 'T', "-inf", "-inf"},
		{float4, "0.1", 'R', "0.100", "0.1"},
		{numeric, "1.50", 'T', "1.5", "1.5"},
		{numeric, "100", 'T', "100", "100"},
		{numeric, "0.00", 'T', "0", "0"},
		{numeric, "1.2399", 'R', "1.239", "1.2399"},
		{numeric, "-1.2", 'R', "-1.200", "-1.2"},
		{numeric, "2.5", 'I', "2", "3"},
		{numeric, "-2.5", 'I', "-2", "-3"},
		{numeric, "2.4", 'I', "2", "2"},
		{numeric, "NaN", 'R', "NaN", "NaN"},
		{text, "", 'T', "(empty)", "(empty)"},
		{text, "a b", 'T', "a b", "a b"},
		{text, "12", 'I', "0", "0"},
		{bytea, `\x6162`, 'T', "ab", "ab"},
		{bytea, `\xff`, 'T', `\xff`, `\xff`},
		{bytea, `\x`, 'T', "(empty)", "(empty)"},
		{jsonb, `{"a": [1, "b c"]}`, 'T', `{"a":[1,"b c"]}`, `{"a":[1,"b c"]}`},
		{date, "2024-01-01", 'T', "2024-01-01", "2024-01-01"},
	} {
		if got := formatValue(c.letter, c.oid, []byte(c.value), standard); got != c.inStandard {
			t.Errorf("%d %q as %c in standard mode: %q, want %q", c.oid, c.value, c.letter, got, c.inStandard)
		}
		if got := formatValue(c.letter, c.oid, []byte(c.value), cockroach); got != c.inCockroach {
			t.Errorf("%d %q as %c in cockroach mode: %q, want %q", c.oid, c.value, c.letter, got, c.inCockroach)
		}
	}
	if got := formatValue('I', int4, nil, standard); got != "NULL" {
		t.Errorf("NULL prints as %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mode cockroach\nquery TI rowsort,colnames x\nSELECT 1\n----\na b\n1 2\n\nstatement error pgcode 1 (x)\nSELECT\n")
	f.Add("simple conn=a\nSELECT\n----\nCOMPLETE 1\n\nreplace a  b\nskipif x\nhalt\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parse("x.slt", text)
		if err != nil {
			return
		}
		for _, r := range file.records {
			plainTable(r.sql)
		}
	})
}
