package slt

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tributary-db/tributary/testdrive/action"
)

// A blank and a line break inside a value, as files write them.
const (
	shownBlank = "␠"
	shownBreak = "⏎"
)

func unescape(cell string) string {
	return strings.NewReplacer(shownBlank, " ", shownBreak, "\n").Replace(cell)
}

// What stands for NULL and for the empty text.
const (
	nullText  = "NULL"
	emptyText = "(empty)"
)

// formatValue prints a value, given as the server's text, as a type letter and a mode demand.
func formatValue(letter byte, oid uint32, value []byte, m mode) string {
	if value == nil {
		return nullText
	}
	text := string(value)
	// A switch over the families of types that the letters treat apart.
	switch oid {
	case pgtype.BoolOID:
		return formatBool(letter, text)
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.XIDOID:
		return text
	case pgtype.Float4OID, pgtype.Float8OID:
		return formatFloat(letter, oid, text, m)
	case pgtype.NumericOID:
		return formatNumeric(letter, text, m)
	case pgtype.ByteaOID:
		text = formatBytes(text)
	case pgtype.JSONOID, pgtype.JSONBOID:
		text = action.CompactJSON(text)
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID:
		if letter == 'I' {
			return "0"
		}
	}
	if text == "" {
		return emptyText
	}
	return text
}

func formatBool(letter byte, text string) string {
	yes := text == "t"
	switch {
	case letter == 'I' && yes:
		return "1"
	case letter == 'I':
		return "0"
	}
	return strconv.FormatBool(yes)
}

// decimals is how many digits after the point are compared where not all are.
const decimals = 3

func formatFloat(letter byte, oid uint32, text string, m mode) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	bits := 64
	if oid == pgtype.Float4OID {
		bits = 32
	}
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case letter == 'I':
		return strconv.FormatFloat(math.Trunc(v), 'f', -1, 64)
	case (letter == 'R' || letter == 'F') && m == cockroach:
		return strconv.FormatFloat(v, 'f', -1, bits)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func formatNumeric(letter byte, text string, m mode) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text // NaN or an infinity.
	}
	switch {
	case letter == 'I' && m == cockroach:
		return roundHalfUp(r)
	case letter == 'I':
		return new(big.Int).Quo(r.Num(), r.Denom()).String()
	case (letter == 'R' || letter == 'F') && m == standard:
		return cut(r)
	}
	return canonicalNumeric(text)
}

// roundHalfUp rounds halves away from zero, as PostgreSQL rounds numerics.
func roundHalfUp(r *big.Rat) string {
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half)
	}
	sum := new(big.Rat).Add(r, half)
	return new(big.Int).Quo(sum.Num(), sum.Denom()).String()
}

// cut drops digits after the third; a number that has fewer gets zeros.
func cut(r *big.Rat) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)
	scaled := new(big.Int).Mul(r.Num(), scale)
	scaled.Quo(scaled, r.Denom())
	return new(big.Rat).SetFrac(scaled, scale).FloatString(decimals)
}

// canonicalNumeric drops zeros at the end of the fraction.
func canonicalNumeric(text string) string {
	if !strings.Contains(text, ".") || strings.ContainsAny(text, "eE") {
		return text
	}
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// formatBytes shows bytes as text if they are.
func formatBytes(text string) string {
	digits, isHex := strings.CutPrefix(text, `\x`)
	if !isHex {
		return text
	}
	b, err := hex.DecodeString(digits)
	if err != nil || !utf8.Valid(b) {
		return text
	}
	return string(b)
}

// escape writes a value so that a file of the mode can hold it: breaks always, blanks where a blank would separate.
func escape(cell string, m mode, columns int) string {
	cell = strings.ReplaceAll(cell, "\n", shownBreak)
	switch {
	case m == cockroach && columns != 1:
		return strings.ReplaceAll(cell, " ", shownBlank)
	case strings.TrimSpace(cell) != cell:
		return strings.ReplaceAll(cell, " ", shownBlank)
	}
	return cell
}
