package bind

import (
	"strings"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// notes is what is written differently in a stored statement. Nil notes take nothing down.
type notes struct {
	tables map[*ast.TableRef]*catalog.Item
	// columns and stars are those with more names than stay: the last keep, and of a star one less.
	columns []*ast.Column
	stars   []*ast.Star
	keep    int
	// spelling is of the literals and casts, literals the values whose place is to decide their type.
	spelling ast.Spelling
	literals map[*scalar.Const]*ast.Literal
}

func newNotes(keep int) *notes {
	return &notes{
		tables:   map[*ast.TableRef]*catalog.Item{},
		keep:     keep,
		spelling: ast.Spelling{Literals: map[*ast.Literal]ast.Spelled{}, Casts: map[*ast.Cast]string{}},
		literals: map[*scalar.Const]*ast.Literal{},
	}
}

// shorten takes off the names that do not stay.
func (n *notes) shorten() {
	for _, c := range n.columns {
		c.Names = c.Names[len(c.Names)-n.keep:]
	}
	for _, s := range n.stars {
		s.Qualifier = s.Qualifier[len(s.Qualifier)-n.keep+1:]
	}
}

// open is the value of a literal whose place is to decide its type.
func (n *notes) open(e *ast.Literal, d vec.Datum) *scalar.Const {
	c := &scalar.Const{Value: d, T: types.TUnknown}
	if n != nil {
		n.literals[c] = e
	}
	return c
}

// literal notes what an open literal has turned out to be.
func (n *notes) literal(c *scalar.Const, t types.T, d vec.Datum) {
	if n != nil && n.literals[c] != nil {
		n.spell(n.literals[c], t, d)
	}
}

// spell notes a literal as PostgreSQL writes constants: in quotes and with the type, unless it reads back as what it is
// without them.
func (n *notes) spell(e *ast.Literal, t types.T, d vec.Datum) {
	if n == nil {
		return
	}
	if d.IsNull() {
		n.spelling.Literals[e] = ast.Spelled{Text: "NULL", Type: typeText(t)}
		return
	}
	text := string(row.AppendTextDatum(nil, t, d))
	s := ast.Spelled{Text: text}
	switch {
	case t.OID == types.OIDBool:
		s.Text = map[bool]string{true: "true", false: "false"}[d.Bool()]
	case t.OID == types.OIDInt4 && text[0] != '-':
	case t.OID == types.OIDNumeric && text[0] >= '0' && text[0] <= '9' && strings.Contains(text, "."):
	default:
		s = ast.Spelled{Text: ast.QuoteString(text), Type: typeText(t)}
	}
	n.spelling.Literals[e] = s
}

// cast notes the type of a cast.
func (n *notes) cast(e *ast.Cast, t types.T) {
	if n != nil {
		n.spelling.Casts[e] = typeText(t)
	}
}

// typeText is a type where a cast reads it: character without a length would be one of a single character there.
func typeText(t types.T) string {
	if t.OID == types.OIDBpchar && t.Mod == types.NoMod {
		return "bpchar"
	}
	return t.String()
}
