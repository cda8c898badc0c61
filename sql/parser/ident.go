package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// isIdent says whether the token may be an identifier of a category up to the given one.
func (p *parser) isIdent(t *token, most ast.Category) bool {
	switch t.kind {
	case tIdent:
		return wordInfos[t.word].category <= most
	case tQuoted, tUQuoted:
		return true
	}
	return false
}

// isName says whether the next token may name a column or relation.
func (p *parser) isName() bool {
	return p.isIdent(p.tok(), ast.ColumnName) && !p.nullsPlace()
}

// notBefore says whether NOT IN, NOT LIKE or NOT BETWEEN comes next, whose NOT is no other NOT.
func (p *parser) notBefore() bool {
	if p.word() != "not" {
		return false
	}
	switch words[p.ahead(1).word] {
	case "in", "like", "ilike", "similar", "between":
		return true
	}
	return false
}

// nullsPlace says whether NULLS FIRST or NULLS LAST comes next, which are no names.
func (p *parser) nullsPlace() bool { return p.is("nulls", "first") || p.is("nulls", "last") }

// isFunc says whether the next token may name a function or type.
func (p *parser) isFunc() bool {
	t := p.tok()
	return p.isIdent(t, ast.TypeFuncName) && (t.kind != tIdent || wordInfos[t.word].category != ast.ColumnName) &&
		!p.nullsPlace()
}

// identText is an identifier as it is meant.
func (p *parser) identText(t *token) string {
	switch t.kind {
	case tQuoted:
		s := p.src[t.beg+1 : t.end-1]
		if strings.Contains(s, `"`) {
			s = strings.ReplaceAll(s, `""`, `"`)
		}
		return s
	case tUQuoted:
		s := strings.ReplaceAll(p.src[t.beg+3:t.end-1], `""`, `"`)
		return p.unescapeUnicode(t, s)
	}
	if t.word != 0 {
		return words[t.word]
	}
	return lower(t.text(p))
}

// lower folds A to Z only, as PostgreSQL does in UTF-8.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// identOf takes an identifier of a category up to the given one.
func (p *parser) identOf(most ast.Category) string {
	t := p.tok()
	if !p.isIdent(t, most) {
		p.syntax()
		return ""
	}
	p.next()
	return p.identText(t)
}

// ident takes the name of a column, relation or the like.
func (p *parser) ident() string { return p.identOf(ast.ColumnName) }

// roleName takes the name of a role, which may be any word that is not reserved.
func (p *parser) roleName() string { return p.identOf(ast.TypeFuncName) }

// label takes an identifier behind AS or a dot, where every word may stand.
func (p *parser) label() string {
	if p.notBefore() || p.nullsPlace() || p.is("with", "time") || p.is("with", "ordinality") {
		p.syntax()
		return ""
	}
	return p.identOf(ast.Reserved)
}

func (p *parser) identAt() ast.Ident {
	pos := p.pos()
	return ast.Ident{Pos: pos, Name: p.ident()}
}

// name takes a name with qualifiers.
func (p *parser) name() ast.Name { return p.nameOf(ast.ColumnName) }

func (p *parser) nameOf(most ast.Category) ast.Name {
	n := ast.Name{Pos: p.pos(), Parts: []string{p.identOf(most)}}
	for p.acceptKind('.') {
		n.Parts = append(n.Parts, p.label())
	}
	return n
}

func list[T any](p *parser, item func() T) []T {
	ts := []T{item()}
	for p.acceptKind(',') {
		ts = append(ts, item())
	}
	return ts
}

// parenList takes a list in parentheses.
func parenList[T any](p *parser, item func() T) []T {
	p.expectKind('(')
	ts := list(p, item)
	p.expectKind(')')
	return ts
}

// maybeColumns takes a list of names in parentheses if there is one.
func (p *parser) maybeColumns() []ast.Ident {
	if p.kind() != '(' {
		return nil
	}
	return parenList(p, p.identAt)
}

// stringValue takes a string literal.
func (p *parser) stringValue() string {
	t := p.tok()
	if !isString(t.kind) {
		p.syntax()
		return ""
	}
	p.next()
	return p.stringText(t)
}

func isString(k kind) bool { return k == tString || k == tEString || k == tUString }
