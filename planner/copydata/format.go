package copydata

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
)

// Format is how COPY writes or reads values as text.
type Format struct {
	csv, binary bool
	header      bool
	// match: the header must name the columns.
	match  bool
	delim  byte
	null   string
	quote  byte
	escape byte
	// forceQuote, forceNotNull and forceNull name columns; forceQuoteAll is FORCE_QUOTE *.
	forceQuote, forceNotNull, forceNull []string
	forceQuoteAll                       bool

	cols []types.Column
	// quoteCols says which columns are always quoted.
	quoteCols []bool
	scratch   []byte
}

// ParseOptions reads the options of a COPY: of one FROM the client, or TO it. Their checks come in PostgreSQL's order, so that of several
// mistakes it is the same one that is told.
func ParseOptions(options []ast.Option, from bool) (*Format, error) {
	f := &Format{}
	given := map[string]ast.Option{}
	for _, o := range options {
		if _, twice := given[o.Name]; twice {
			return nil, pgerr.New(pgerr.SyntaxError, "conflicting or redundant options").At(o.Position())
		}
		given[o.Name] = o
		if err := f.option(o, from); err != nil {
			return nil, err
		}
	}
	_, delim := given["DELIMITER"]
	_, null := given["NULL"]
	_, quote := given["QUOTE"]
	_, escape := given["ESCAPE"]
	if !delim {
		f.delim = '\t'
		if f.csv {
			f.delim = ','
		}
	}
	if !null && !f.csv {
		f.null = `\N`
	}
	if !quote {
		f.quote = '"'
	}
	if !escape {
		f.escape = f.quote
	}
	if f.binary {
		// PostgreSQL's order: the three that binary data has no room for.
		switch {
		case delim:
			return nil, pgerr.New(pgerr.SyntaxError, "cannot specify DELIMITER in BINARY mode")
		case null:
			return nil, pgerr.New(pgerr.SyntaxError, "cannot specify NULL in BINARY mode")
		case f.header:
			return nil, pgerr.New(pgerr.SyntaxError, "cannot specify HEADER in BINARY mode")
		}
	}
	return f, f.check(quote, escape, from)
}

func (f *Format) option(o ast.Option, from bool) error {
	switch o.Name {
	case "FORMAT":
		name, err := word(o)
		if err != nil {
			return err
		}
		switch strings.ToLower(name) {
		case "text":
		case "csv":
			f.csv = true
		case "binary":
			f.binary = true
		default:
			return pgerr.Newf(pgerr.InvalidParameterValue, "COPY format %q not recognized", name).At(o.Position())
		}
		return nil
	case "HEADER":
		return f.headerOption(o, from)
	case "DELIMITER":
		return byteOption(o, "delimiter", &f.delim)
	case "NULL":
		text, err := word(o)
		f.null = text
		return err
	case "QUOTE":
		return byteOption(o, "quote", &f.quote)
	case "ESCAPE":
		return byteOption(o, "escape", &f.escape)
	case "FORCE_QUOTE":
		return columnsOption(o, &f.forceQuote, &f.forceQuoteAll)
	case "FORCE_NOT_NULL":
		return columnsOption(o, &f.forceNotNull, nil)
	case "FORCE_NULL":
		return columnsOption(o, &f.forceNull, nil)
	case "ENCODING":
		name, err := word(o)
		if plain := strings.ToLower(strings.NewReplacer("-", "", "_",
			"").Replace(name)); err == nil && plain != "utf8" && plain != "unicode" {
			return pgerr.Newf(pgerr.InvalidParameterValue,
				"argument to option \"encoding\" must be a valid encoding name").At(o.Position())
		}
		return err
	case "FREEZE":
		return pgerr.Unsupported("COPY FREEZE").At(o.Position())
	}
	return pgerr.Newf(pgerr.SyntaxError, "option %q not recognized", strings.ToLower(o.Name)).At(o.Position())
}

func (f *Format) headerOption(o ast.Option, from bool) error {
	if o.Value == nil {
		f.header = true
		return nil
	}
	value, err := word(o)
	if err != nil {
		return err
	}
	switch strings.ToLower(value) {
	case "true", "on", "1":
		f.header = true
	case "false", "off", "0":
	case "match":
		if !from {
			return pgerr.Newf(pgerr.FeatureNotSupported, "cannot use %q with HEADER in COPY TO", value).At(o.Position())
		}
		f.header, f.match = true, true
	default:
		return pgerr.New(pgerr.SyntaxError, "header requires a Boolean value or \"match\"").At(o.Position())
	}
	return nil
}

// byteOption reads an option that is one byte; what says how messages call it.
func byteOption(o ast.Option, what string, to *byte) error {
	text, err := word(o)
	if err != nil {
		return err
	}
	if len(text) != 1 {
		return pgerr.Newf(pgerr.FeatureNotSupported, "COPY %s must be a single one-byte character", what).At(o.Position())
	}
	*to = text[0]
	return nil
}

func columnsOption(o ast.Option, to *[]string, all *bool) error {
	bad := pgerr.Newf(pgerr.SyntaxError, "argument to option %q must be a list of column names", strings.ToLower(o.Name)).At(o.Position())
	switch v := o.Value.(type) {
	case *ast.Star:
		if all == nil {
			return bad
		}
		*all = true
	case *ast.Row:
		for _, e := range v.Items {
			name, ok := wordOf(e)
			if !ok {
				return bad
			}
			*to = append(*to, name)
		}
	default:
		return bad
	}
	return nil
}

// check refuses options that do not go together.
func (f *Format) check(quote, escape, from bool) error {
	invalid := func(text string, args ...any) error { return pgerr.Newf(pgerr.InvalidParameterValue, text, args...) }
	missing := func(text string) error { return pgerr.New(pgerr.FeatureNotSupported, text) }
	switch {
	case f.delim == '\r' || f.delim == '\n':
		return invalid("COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(f.null, "\r\n"):
		return invalid("COPY null representation cannot use newline or carriage return")
	case !f.csv && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, f.delim) >= 0:
		return invalid("COPY delimiter cannot be %q", string(rune(f.delim)))
	case !f.csv && quote:
		return missing("COPY quote available only in CSV mode")
	case f.csv && f.delim == f.quote:
		return invalid("COPY delimiter and quote must be different")
	case !f.csv && escape:
		return missing("COPY escape available only in CSV mode")
	case !f.csv && (f.forceQuote != nil || f.forceQuoteAll):
		return missing("COPY force quote available only in CSV mode")
	case (f.forceQuote != nil || f.forceQuoteAll) && from:
		return missing("COPY force quote only available using COPY TO")
	case !f.csv && f.forceNotNull != nil:
		return missing("COPY force not null available only in CSV mode")
	case f.forceNotNull != nil && !from:
		return missing("COPY force not null only available using COPY FROM")
	case !f.csv && f.forceNull != nil:
		return missing("COPY force null available only in CSV mode")
	case f.forceNull != nil && !from:
		return missing("COPY force null only available using COPY FROM")
	case strings.IndexByte(f.null, f.delim) >= 0:
		return missing("COPY delimiter must not appear in the NULL specification")
	case f.csv && strings.IndexByte(f.null, f.quote) >= 0:
		return missing("CSV quote character must not appear in the NULL specification")
	case f.delim >= utf8.RuneSelf || f.csv && (f.quote >= utf8.RuneSelf || f.escape >= utf8.RuneSelf):
		return missing("COPY delimiter must be a single one-byte character")
	}
	return nil
}

// Binary says whether the format is binary.
func (f *Format) Binary() bool { return f.binary }

// SetColumns makes the format ready for writing rows of these columns.
func (f *Format) SetColumns(cols []types.Column) error {
	f.cols = cols
	f.quoteCols = make([]bool, len(cols))
	for i := range cols {
		f.quoteCols[i] = f.forceQuoteAll
	}
	return mark(cols, f.forceQuote, f.quoteCols, "FORCE_QUOTE")
}

// mark marks the columns that an option names.
func mark(cols []types.Column, names []string, marks []bool, option string) error {
	for _, name := range names {
		i := slices.IndexFunc(cols, func(c types.Column) bool { return c.Name == name })
		if i < 0 {
			return pgerr.Newf(pgerr.InvalidColumnReference, "%s column %q not referenced by COPY", option, name)
		}
		marks[i] = true
	}
	return nil
}

// wordOf gives the text of a value that is a bare word, a string or a number.
func wordOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Literal:
		if e.Kind != ast.Null && e.Kind != ast.Bits {
			return e.Text, true
		}
	case *ast.Column:
		if len(e.Names) == 1 {
			return e.Names[0], true
		}
	}
	return "", false
}

// word gives the value of an option as text.
func word(o ast.Option) (string, error) {
	if w, ok := wordOf(o.Value); ok {
		return w, nil
	}
	return "", pgerr.Newf(pgerr.SyntaxError, "%s requires a parameter", strings.ToLower(o.Name)).At(o.Position())
}
