package ast

import "strings"

// Category says where a word may stand as an identifier, as in appendix C of PostgreSQL's manual.
type Category uint8

// The categories, in order of how little the word may be.
const (
	Unreserved   Category = iota // any identifier; words that are no keyword at all too
	ColumnName                   // a name, but not of a function or type
	TypeFuncName                 // a function or type, but not a column or relation
	Reserved                     // nothing but the label of a result
)

const reservedWords = `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint
create current_catalog current_date current_role current_time current_timestamp current_user default deferrable
desc distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral
leading limit localtime localtimestamp not null offset on only or order placing primary references returning select
session_user some symmetric table then to trailing true union unique user using variadic when where window with`

const columnNameWords = `between bigint bit boolean char character coalesce dec decimal exists extract float greatest
grouping inout int integer interval least national nchar none normalize nullif numeric out overlay position precision
real row setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement
xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`

const typeFuncNameWords = `authorization binary collation concurrently cross current_schema freeze full ilike inner is
isnull join left like natural notnull outer overlaps right similar tablesample verbose`

// These may not be the label of a result without AS. All are keywords; those above that may not are among them.
const noBareLabelWords = `array as char character create day except fetch filter for from grant group having hour
intersect into isnull limit minute month notnull offset on order over overlaps precision returning second to union
varying where window with within without year`

type keyword struct {
	category Category
	noBare   bool
}

var keywords = readKeywords()

func readKeywords() map[string]keyword {
	m := map[string]keyword{}
	for category, words := range []string{ColumnName: columnNameWords, TypeFuncName: typeFuncNameWords, Reserved: reservedWords} {
		for _, w := range strings.Fields(words) {
			m[w] = keyword{category: Category(category)}
		}
	}
	for _, w := range strings.Fields(noBareLabelWords) {
		k := m[w]
		k.noBare = true
		m[w] = k
	}
	return m
}

// CategoryOf gives the category of a word in lower case.
func CategoryOf(word string) Category { return keywords[word].category }

// BareLabel says whether a word may be the label of a result without AS.
func BareLabel(word string) bool { return !keywords[word].noBare }

// QuoteIdent gives an identifier as SQL, in double quotes unless it would be read as itself without them.
func QuoteIdent(name string) string {
	if plainIdent(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func plainIdent(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	switch name {
	case "", "list", "map", "of", "qualify", "options", "without", "mutually":
		// Not keywords to PostgreSQL, but they open constructs of ours.
		return false
	}
	_, isKeyword := keywords[name]
	return !isKeyword
}

// QuoteString gives a string as a SQL literal.
func QuoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
