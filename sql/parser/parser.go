// Package parser reads SQL: PostgreSQL's dialect with Materialize's additions.
//
// The way is lexer → token trees → dialect → TiDB's parser → lift. The lexer cuts the client's text into
// PostgreSQL's tokens, whose brackets know their partners. The dialect parses what TiDB's grammar does not
// have (statements, names, types, literals, the insides of calls) and writes the rest as a skeleton in
// TiDB's grammar: operands become holes (?) or marked calls m_1(…), operators and clauses that only PostgreSQL
// has become marks on the level of precedence that PostgreSQL gives them. TiDB's parser reads the skeleton:
// clauses, joins, set operations, subqueries and the precedence of operators are its work. The lift turns its
// tree into ast, filling holes and marks; nothing of it is left. Operands that stand by themselves in a list, such as
// the literals of an INSERT, need no grammar and take no part.
//
// Promises:
//
//	P1  what PostgreSQL's own parser accepts and our surface covers parses; what it accepts and we do not
//	    have is refused by name (0A000); all else is a syntax error in PostgreSQL's words, with the position
//	    in the client's text.
//	P2  nothing a client sends makes it panic or recurse without bound: size, tokens, nesting and the height
//	    of expressions are bounded (54000, 54001).
//	P3  printing a parsed statement and parsing that gives the same statement.
//
// All functions are safe for many goroutines. The package alone knows TiDB.
//
// It is larger than its target: the surface has some sixty statements, each of which costs thirty lines here, and
// the places where PostgreSQL's grammar is not TiDB's are many (its precedences, labels without AS, forms of calls
// and types, and where a syntax error is found). They share one reader of tokens, so that there is no wall to cut
// along.
package parser

import (
	"sync"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// Statement is a statement with the text it was read from.
type Statement struct {
	AST ast.Statement
	// Text runs from the statement's first token to its last, without the semicolon.
	Text string
	// Pos is the place of Text in the client's text.
	Pos ast.Pos
}

// Parse reads the statements of a text. Empty ones are dropped. The error is a *pgerr.Error; one bad
// statement refuses the whole text.
func Parse(sql string) ([]Statement, error) {
	p, err := newParser(sql)
	if err != nil {
		return nil, err
	}
	defer p.free()
	var list []Statement
	for {
		for p.acceptKind(';') {
		}
		if p.kind() == tEOF {
			break
		}
		first := p.tok()
		s := p.statement()
		if p.kind() != ';' && p.kind() != tEOF {
			p.syntax()
		}
		if p.err != nil {
			break
		}
		list = append(list, Statement{AST: s, Text: sql[first.beg:p.toks[p.i-1].end], Pos: ast.Pos(first.pos)})
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return list, nil
}

// Expr reads one expression.
func Expr(sql string) (ast.Expr, error) {
	var e ast.Expr
	err := parsePart(sql, func(p *parser) { p.embedInto(&e) })
	return e, err
}

// Type reads the name of a type.
func Type(sql string) (*ast.TypeName, error) {
	var t *ast.TypeName
	err := parsePart(sql, func(p *parser) { t = p.typeName() })
	return t, err
}

func parsePart(sql string, part func(*parser)) error {
	p, err := newParser(sql)
	if err != nil {
		return err
	}
	defer p.free()
	part(p)
	if p.kind() != tEOF {
		p.syntax()
	}
	if err := p.finish(); err != nil {
		return err
	}
	return nil
}

// parser is the dialect at work on one text. An error is kept, and the parser then stands at the end of the
// text, where nothing is accepted any more: so no function needs to return it, and every loop ends.
type parser struct {
	lex lexer
	src string
	// toks are the tokens, the last of which is the end; i is the next one.
	toks []token
	i    int
	err  *pgerr.Error
	// late is an error that counts only if there is no syntax error.
	late *pgerr.Error
	// depth is how deeply brackets and prefixes are nested here.
	depth int
	// inner is the height of the highest expression written since it was last set to zero.
	inner int
	// inline, if not nil, takes the expressions of a SHOW that stands in a query.
	inline *[]func(a *args)
	skeleton
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// maxPooled bounds what a parser keeps for the next text, in tokens: some three megabytes, enough for inserts of
// some thousand rows.
const maxPooled = 1 << 17

func newParser(sql string) (*parser, error) {
	p := parsers.Get().(*parser)
	p.src = sql
	p.lex = lexer{src: sql, toks: p.toks[:0], open: p.lex.open[:0]}
	if err := p.lex.run(); err != nil {
		p.toks = p.lex.toks
		p.free()
		return nil, err
	}
	p.toks = p.lex.toks
	return p, nil
}

// free gives the parser back. Nothing of the client's text may stay in it.
func (p *parser) free() {
	if cap(p.toks) > maxPooled {
		return
	}
	p.skeleton.reset()
	*p = parser{toks: p.toks[:0], lex: lexer{open: p.lex.open[:0]}, skeleton: p.skeleton}
	parsers.Put(p)
}

// finish lets TiDB read the skeleton and gives the first error there is.
func (p *parser) finish() error {
	if p.err != nil {
		return p.err
	}
	if p.late != nil {
		return p.late
	}
	if err := p.lift(); err != nil {
		return err
	}
	return nil
}

func (p *parser) tok() *token { return &p.toks[p.i] }
func (p *parser) kind() kind  { return p.toks[p.i].kind }
func (p *parser) pos() ast.Pos {
	return ast.Pos(p.toks[p.i].pos)
}

// ahead is the token n places further on.
func (p *parser) ahead(n int) *token { return &p.toks[min(p.i+n, len(p.toks)-1)] }

// word is the token's word, or empty.
func (p *parser) word() string { return words[p.toks[p.i].word] }

func (t *token) text(p *parser) string { return p.src[t.beg:t.end] }

func (p *parser) next() {
	if p.i < len(p.toks)-1 {
		p.i++
	}
}

// is says whether these words come next.
func (p *parser) is(ws ...string) bool {
	for n, w := range ws {
		if words[p.ahead(n).word] != w {
			return false
		}
	}
	return true
}

// accept takes these words if they come next.
func (p *parser) accept(ws ...string) bool {
	if !p.is(ws...) {
		return false
	}
	p.i += len(ws)
	return true
}

// expect takes these words; the first that is missing is a syntax error.
func (p *parser) expect(ws ...string) {
	for _, w := range ws {
		if p.word() != w {
			p.syntax()
			return
		}
		p.next()
	}
}

// acceptThen takes the first word if it comes next, and then expects the others.
func (p *parser) acceptThen(first string, rest ...string) bool {
	if p.word() != first {
		return false
	}
	p.next()
	p.expect(rest...)
	return true
}

func (p *parser) acceptKind(k kind) bool {
	if p.kind() != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectKind(k kind) {
	if !p.acceptKind(k) {
		p.syntax()
	}
}

// fail keeps the first error and goes to the end of the text.
func (p *parser) fail(err *pgerr.Error) {
	if p.err == nil {
		p.err = err
	}
	p.i = len(p.toks) - 1
}

// syntax is a syntax error at the next token.
func (p *parser) syntax() {
	t := p.tok()
	if t.kind == tBad {
		p.fail(p.lex.bad)
		return
	}
	text := t.text(p)
	switch {
	case t.kind == tNString: // PostgreSQL takes the N for a word of its own
		text = text[:1]
	case (t.kind == tUString || t.kind == tUQuoted) && words[p.ahead(1).word] == "uescape":
		text = p.src[t.beg:p.ahead(2).end]
	}
	p.fail(near("syntax error", text).At(int(t.pos)))
}

func (p *parser) unsupported(at ast.Pos, format string, args ...any) {
	p.fail(pgerr.Unsupported(format, args...).At(int(at)))
}

// maxDepth bounds the nesting of brackets, subqueries and prefixes; maxHeight the height of an expression,
// which a long chain of operators has too. Both keep recursion, here and above, far from the end of the
// stack, and are past what people and programs write.
const (
	maxDepth  = 1000
	maxHeight = 20000
)

func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.tooDeep()
	}
}

func (p *parser) leave() { p.depth-- }

// taller counts one more thing that stands behind an operand.
func (p *parser) taller() {
	p.inner++
	if p.inner > maxHeight {
		p.tooDeep()
	}
}

func (p *parser) tooDeep() {
	p.fail(pgerr.New(pgerr.StatementTooComplex, "stack depth limit exceeded").
		WithDetail("An expression or query is nested more than %d levels deep, or has more than %d operators in a row.",
			maxDepth, maxHeight).At(int(p.tok().pos)))
}
