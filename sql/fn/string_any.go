package fn

import (
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Strings made of values of any type, and strings made into SQL.
var stringAnyFuncs = []scalar.Func{
	printing("||", 2779, strict|fails, sig(tText, tAnyNonArray), tText, concatAny, docConcat),
	printing("||", 2780, strict|fails, sig(tAnyNonArray, tText), tText, concatAny, docConcat),
	printing("concat", 3058, variadic|fails, sig(tAny), tText, concat, "the arguments that are not NULL, one after the other"),
	printing("concat_ws", 3059, variadic|nulls|fails, sig(tText, tAny), tText, concatWS, docConcatWS),
	printing("format", 3539, variadic|nulls|fails, sig(tText, tAny), tText, format, docFormat),
	printing("format", 3540, nulls|fails, sig(tText), tText, format, docFormat),
	row("quote_ident", 1282, strict, sig(tText), tText, textText(quoteIdent), "the text as an identifier in SQL"),
	row("quote_literal", 1283, strict, sig(tText), tText, textText(quoteLiteral), "the text as a string in SQL"),
	row("quote_nullable", 1289, 0, sig(tText), tText, quoteNullable, docQuoteNullable),
	printing("quote_literal", 1285, strict|fails, sig(tAnyElement), tText, quoteAny, "the value as a string in SQL"),
	printing("quote_nullable", 1290, fails, sig(tAnyElement), tText, quoteAny, docQuoteNullable),
}

const (
	docConcatWS      = "the arguments that are not NULL with a separator between them"
	docFormat        = "a text with the arguments in the places of %s, %I and %L"
	docQuoteNullable = "the value as a string in SQL, NULL as the word"
)

// concatAny joins a text and another value, which is cast to text: true is true here, not t.
func concatAny(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	var out []byte
	for i, d := range a {
		if p.args[i].OID == types.OIDBool {
			out = strconv.AppendBool(out, d.Bool())
			continue
		}
		// Casting a char(n) to text cuts its blanks.
		t := p.args[i]
		if t.OID == types.OIDBpchar {
			t = tText
		}
		var err error
		if out, err = p.append(env, out, t, d); err != nil {
			return vec.Null, err
		}
	}
	return vec.BytesOf(out), nil
}

func concat(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	out, err := joined(p, env, a, 0, "")
	return vec.BytesOf(out), err
}

func concatWS(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	out, err := joined(p, env, a, 1, a[0].Str())
	return vec.BytesOf(out), err
}

// joined prints the arguments from the given one on.
func joined(p *printer, env scalar.Env, a []vec.Datum, from int, sep string) ([]byte, error) {
	out := []byte{}
	first := true
	for i := from; i < len(a); i++ {
		if a[i].IsNull() {
			continue
		}
		if !first {
			out = append(out, sep...)
		}
		first = false
		var err error
		if out, err = p.arg(env, out, a, i); err != nil {
			return nil, err
		}
		if err := checkAggSize(len(out)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// quoteIdent quotes what would be read as something else without quotes.
func quoteIdent(s string) string {
	plain := s != ""
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9')
	}
	if plain && ast.CategoryOf(s) == ast.Unreserved {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// quoteLiteral doubles quotes; with backslashes in it the string needs the form in which they are doubled too.
func quoteLiteral(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

func quoteNullable(_ scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.StrOf("NULL"), nil
	}
	return vec.StrOf(quoteLiteral(a[0].Str())), nil
}

func quoteAny(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.StrOf("NULL"), nil
	}
	out, err := p.arg(env, nil, a, 0)
	return vec.StrOf(quoteLiteral(string(out))), err
}

// format is PostgreSQL's: %s, %I (identifier), %L (literal), each with an optional position and width.
func format(p *printer, env scalar.Env, a []vec.Datum) (vec.Datum, error) {
	if a[0].IsNull() {
		return vec.Null, nil
	}
	f := formatter{printer: p, env: env, args: a, text: a[0].Str(), next: 1}
	if err := f.run(); err != nil {
		return vec.Null, err
	}
	return vec.BytesOf(f.out), nil
}

type formatter struct {
	*printer
	env  scalar.Env
	args []vec.Datum // the format itself, then the arguments
	text string
	at   int
	next int // the argument that one without a position is
	out  []byte
}

func (f *formatter) run() error {
	for f.at < len(f.text) {
		c := f.text[f.at]
		f.at++
		if c != '%' {
			f.out = append(f.out, c)
			continue
		}
		if f.at < len(f.text) && f.text[f.at] == '%' {
			f.out = append(f.out, '%')
			f.at++
			continue
		}
		if err := f.specifier(); err != nil {
			return err
		}
		if err := checkAggSize(len(f.out)); err != nil {
			return err
		}
	}
	return nil
}

var errFormatEnd = pgerr.New(pgerr.InvalidParameterValue, "unterminated format() type specifier").
	WithHint("For a single \"%%\" use \"%%%%\".")

// specifier writes what stands after a percent sign: [position$][-][width|*|*position$]type.
func (f *formatter) specifier() error {
	position, err := f.position()
	if err != nil {
		return err
	}
	left := false
	for f.at < len(f.text) && f.text[f.at] == '-' {
		left = true
		f.at++
	}
	width, err := f.width()
	if err != nil {
		return err
	}
	if width < 0 {
		left, width = true, -width
	}
	if f.at == len(f.text) {
		return errFormatEnd
	}
	kind := f.text[f.at:][:1]
	f.at++
	if !strings.Contains("sIL", kind) {
		_, rest := f.at, f.text[f.at-1:]
		return pgerr.Newf(pgerr.InvalidParameterValue, "unrecognized format() type specifier \"%s\"", firstRune(rest)).
			WithHint("For a single \"%%\" use \"%%%%\".")
	}
	arg, err := f.arg(position)
	if err != nil {
		return err
	}
	s, err := f.value(kind, arg)
	if err != nil {
		return err
	}
	return f.pad(s, int(width), left)
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// number reads digits; ok is false if there are none.
func (f *formatter) number() (n int64, ok bool, err error) {
	for f.at < len(f.text) && f.text[f.at] >= '0' && f.text[f.at] <= '9' {
		if n = n*10 + int64(f.text[f.at]-'0'); n > maxInt4 {
			return 0, true, pgerr.New(pgerr.NumericValueOutOfRange, "number is out of range")
		}
		ok = true
		f.at++
	}
	return n, ok, nil
}

// position reads "n$"; 0 if there is none.
func (f *formatter) position() (int64, error) {
	start := f.at
	n, ok, err := f.number()
	if err != nil {
		return 0, err
	}
	if !ok || f.at == len(f.text) || f.text[f.at] != '$' {
		f.at = start
		return 0, nil
	}
	f.at++
	if n == 0 {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
	}
	return n, nil
}

func (f *formatter) width() (int64, error) {
	if f.at == len(f.text) || f.text[f.at] != '*' {
		n, _, err := f.number()
		return n, err
	}
	f.at++
	position, err := f.position()
	if err != nil {
		return 0, err
	}
	i, err := f.arg(position)
	if err != nil || f.args[i].IsNull() {
		return 0, err
	}
	text, err := f.printer.arg(f.env, nil, f.args, i)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		return 0, pgerr.Newf(pgerr.InvalidTextRepresentation, "invalid input syntax for type integer: \"%s\"", text)
	}
	return n, nil
}

// arg gives the index of the argument at a position, or of the next one for 0.
func (f *formatter) arg(position int64) (int, error) {
	i := f.next
	if position > 0 {
		i = int(position)
	}
	if i >= len(f.args) {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "too few arguments for format()")
	}
	f.next = i + 1
	return i, nil
}

func (f *formatter) value(kind string, i int) (string, error) {
	if f.args[i].IsNull() {
		switch kind {
		case "I":
			return "", pgerr.New(pgerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
		case "L":
			return "NULL", nil
		}
		return "", nil
	}
	text, err := f.printer.arg(f.env, nil, f.args, i)
	if err != nil {
		return "", err
	}
	switch kind {
	case "I":
		return quoteIdent(string(text)), nil
	case "L":
		return quoteLiteral(string(text)), nil
	}
	return string(text), nil
}

func (f *formatter) pad(s string, width int, left bool) error {
	missing := width - runes(s)
	if err := checkSize(missing); err != nil {
		return err
	}
	blanks := strings.Repeat(" ", max(missing, 0))
	if left {
		f.out = append(append(f.out, s...), blanks...)
	} else {
		f.out = append(append(f.out, blanks...), s...)
	}
	return nil
}
