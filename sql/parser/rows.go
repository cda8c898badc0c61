package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
)

// literalRows reads VALUES if all its items are literals without anything behind them, and nothing that makes it
// a larger query follows. Else it reads nothing and gives nil.
func (p *parser) literalRows() *ast.Query {
	if p.word() != "values" || p.ahead(1).kind != '(' {
		return nil
	}
	start := p.i
	v := &ast.Values{Pos: p.pos()}
	p.next()
	s := slab{p: p}
	for {
		row := s.row()
		if row == nil || len(v.Rows) > 0 && len(row) != len(v.Rows[0]) {
			break
		}
		v.Rows = append(v.Rows, row)
		if p.acceptKind(',') {
			continue
		}
		if k := p.kind(); k == tEOF || k == ';' || p.word() == "returning" {
			return &ast.Query{Pos: v.Pos, Body: v}
		}
		break
	}
	p.i = start
	return nil
}

// slab reads rows into memory that is taken for many rows at once: one object for each literal costs more than
// reading it.
type slab struct {
	p        *parser
	row1     []ast.Expr // gathers the first row, whose length is not known before
	literals []ast.Literal
	items    []ast.Expr
	columns  int
	rows     int // how many rows the next piece of memory is for
}

// slabRows bounds the rows of one piece, since a piece lives as long as any of its rows.
const slabRows = 256

// row reads one row, or gives nil.
func (s *slab) row() []ast.Expr {
	p := s.p
	if !p.acceptKind('(') {
		return nil
	}
	if s.columns > 0 && len(s.items)+s.columns > cap(s.items) {
		s.rows = min(max(4*s.rows, 4), slabRows)
		s.literals = make([]ast.Literal, 0, s.rows*s.columns)
		s.items = make([]ast.Expr, 0, s.rows*s.columns)
	}
	from := len(s.items)
	for n := 1; ; n++ {
		if s.columns > 0 && n > s.columns || !s.literal() {
			return nil
		}
		p.next()
		if p.acceptKind(',') {
			continue
		}
		if !p.acceptKind(')') || s.columns > 0 && n != s.columns {
			return nil
		}
		s.columns = n
		return s.items[from:len(s.items):len(s.items)]
	}
}

// literal reads the token here as a literal and adds it, or gives false. A sign is taken with its number; the
// token left is the last of the literal.
func (s *slab) literal() bool {
	p := s.p
	t := p.tok()
	l := ast.Literal{Pos: ast.Pos(t.pos)}
	switch t.kind {
	case tNumber:
		l.Kind, l.Text = ast.Number, t.text(p)
	case tString:
		if !t.plain {
			return false
		}
		l.Kind, l.Text = ast.String, p.stringText(t)
	case '-':
		next := p.ahead(1)
		if next.kind != tNumber {
			return false
		}
		p.next()
		l.Kind, l.Text = ast.Number, "-"+next.text(p)
		if next.beg == t.end { // no blank between: the text is there already
			l.Text = p.src[t.beg:next.end]
		}
	case tIdent:
		switch w := words[t.word]; w {
		case "null":
		case "true", "false":
			l.Kind, l.Text = ast.Bool, w
		default:
			return false
		}
	default:
		return false
	}
	s.literals = append(s.literals, l)
	s.items = append(s.items, &s.literals[len(s.literals)-1])
	return true
}
