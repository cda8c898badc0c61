package adt_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/adt"
)

// encoders give the stored bytes of a text, and the text of stored bytes.
var encoders = map[string]struct {
	encode func(s string) ([]byte, error)
	decode func(b []byte) string
}{
	"numeric": {
		func(s string) ([]byte, error) { n, err := adt.ParseNumeric(s); return n.Append(nil), err },
		func(b []byte) string { return adt.NumericOf(b).String() },
	},
	"interval": {
		func(s string) ([]byte, error) { iv, err := adt.ParseInterval(s, -1); return iv.Append(nil), err },
		func(b []byte) string { return adt.IntervalOf(b).String() },
	},
	"jsonb": {
		func(s string) ([]byte, error) { return adt.ParseJsonb(nil, s) },
		func(b []byte) string { return adt.JsonbOf(b).String() },
	},
	"text[]": {textArray, showTextArray},
	"pair":   {pairRecord, func(b []byte) string { return showPair(b) }},
}

// TestEncodingsStay holds the encodings against what earlier versions wrote to disk. Rewriting this golden is
// giving up every stored collection.
func TestEncodingsStay(t *testing.T) {
	datadriven.RunTest(t, "testdata/v1/encodings", func(t *testing.T, d *datadriven.TestData) string {
		e, ok := encoders[d.Cmd]
		if !ok {
			t.Fatalf("no type %s", d.Cmd)
		}
		var out strings.Builder
		for _, s := range lines(t, d.Input+"\n") {
			b, err := e.encode(s)
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			fmt.Fprintf(&out, "%s %s\n", hex.EncodeToString(b), e.decode(b))
		}
		checkStored(t, d, e.decode, e.encode)
		return out.String()
	})
}

// checkStored reads the bytes that stand in the golden.
func checkStored(t *testing.T, d *datadriven.TestData, decode func([]byte) string, encode func(string) ([]byte, error)) {
	t.Helper()
	for line := range strings.Lines(d.Expected) {
		stored, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b, err := hex.DecodeString(stored)
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(b); got != text {
			t.Errorf("%s is read as %s, was %s", stored, got, text)
		}
		if again, err := encode(text); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s is written as %x, %v, was %s", text, again, err, stored)
		}
	}
}
