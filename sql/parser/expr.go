package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
)

// level is how strongly an operator binds, lowest first: PostgreSQL's table of precedences.
type level uint8

const (
	levelNone level = iota
	levelOr
	levelAnd
	levelNot
	levelIs
	levelCompare
	levelLike // LIKE, ILIKE, SIMILAR TO, IN, BETWEEN
	levelOp   // operators without a level of their own
	levelSum
	levelProduct
	levelPower
	levelZone // AT TIME ZONE
	levelCollate
	levelSign
)

// chain is one expression while it is written: operands with operators between them. TiDB finds out which
// operator takes which operands; what the chain must know is what its grammar cannot say.
type chain struct {
	// stop ends the chain at operators of this level and below.
	stop level
	// plain is PostgreSQL's b_expr, which stands where words such as AND mean something else: it has operators
	// and IS DISTINCT FROM, but no other operators that are words.
	plain bool
	// label says that a label without AS may follow: the chain is a whole result of a SELECT.
	label bool
	// substring says that SIMILAR without TO ends the expression.
	substring bool
	// call says that nothing may stand behind the operand: it is a function in FROM.
	call bool
	// lowest is the lowest level of the operators so far, prefixes included; none is waiting if it is zero.
	lowest level
	// height grows with operators, since trees lean to the left. Behind an AND or OR it starts again: links
	// counts those, and top is the greatest height between them.
	height, top, links int
	// compare, like and distinct say that an operator that does not associate is waiting for the end of its
	// right operand, so that another of its kind is a syntax error.
	compare, like, distinct bool
	// escape says that an ESCAPE may follow.
	escape bool
}

// expr writes an expression.
func (p *parser) expr() { p.chain(&chain{}) }

// plainExpr writes an expression where AND and the like are not part of it.
func (p *parser) plainExpr() { p.chain(&chain{plain: true}) }

// chain writes an expression and gives its height.
func (p *parser) chain(c *chain) int {
	p.enter()
	c.grow(p, p.operand(c, levelNone))
	for p.err == nil {
		l, kind := p.infix(c)
		if l <= c.stop {
			break
		}
		p.operator(c, l, kind)
	}
	p.leave()
	h := max(c.top, c.height) + c.links/linksPerLevel
	p.inner = max(p.inner, h)
	if h > maxHeight {
		p.tooDeep()
	}
	return h
}

// linksPerLevel is how many ANDs and ORs count as one level of height: a chain of them is one node here, and deep
// only in TiDB's tree.
const linksPerLevel = 8

// grow takes in the height of an operand.
func (c *chain) grow(p *parser, operand int) {
	c.height = max(c.height, operand) + 1
	if c.height > maxHeight {
		p.tooDeep()
	}
}

// infixKind tells apart how infix and postfix operators are written.
type infixKind uint8

const (
	infixNone   infixKind = iota
	infixNative           // TiDB has it
	infixCustom
	infixIs
	infixLike
	infixIn
	infixBetween
	infixEscape
)

// infix says what the next token is behind an operand. A NOT before IN, LIKE and BETWEEN is not counted.
func (p *parser) infix(c *chain) (level, infixKind) {
	switch p.kind() {
	case '=', '<', '>', tLessEq, tGreatEq, tNotEq:
		return levelCompare, infixNative
	case '+', '-':
		return levelSum, infixNative
	case '*', '/', '%':
		return levelProduct, infixNative
	case '^':
		return levelPower, infixNative
	case tOp:
		return levelOp, infixCustom
	case tIdent:
		return p.infixWord(c)
	}
	return levelNone, infixNone
}

func (p *parser) infixWord(c *chain) (level, infixKind) {
	w := p.word()
	if c.plain {
		switch {
		case w == "operator" && p.ahead(1).kind == '(':
			return levelOp, infixCustom
		case w == "is":
			return levelIs, infixIs
		}
		return levelNone, infixNone
	}
	l, kind := p.wordOperator(c, w)
	complete := c.lowest == 0 || l < c.lowest || l == c.lowest && l != levelIs && l != levelLike
	if c.label && complete && kind != infixEscape && p.labelEnds() {
		return levelNone, infixNone
	}
	return l, kind
}

func (p *parser) wordOperator(c *chain, w string) (level, infixKind) {
	after := 1
	if w == "not" {
		if !p.notBefore() {
			return levelNone, infixNone
		}
		w = words[p.ahead(1).word]
		after = 2
	}
	switch w {
	case "or":
		return levelOr, infixNative
	case "and":
		return levelAnd, infixNative
	case "is", "isnull", "notnull":
		return levelIs, infixIs
	case "in":
		return levelLike, infixIn
	case "like", "ilike":
		return levelLike, infixLike
	case "similar":
		if !c.substring || words[p.ahead(after).word] == "to" {
			return levelLike, infixLike
		}
	case "between":
		return levelLike, infixBetween
	case "escape":
		if c.escape {
			return levelLike, infixEscape
		}
	case "operator":
		return levelOp, infixCustom
	case "overlaps":
		p.unsupported(p.pos(), "OVERLAPS")
	}
	return levelNone, infixNone
}

// labelEnds says whether the word here is followed by the end of a result: then it is the result's label, even
// if it could be an operator, as in SELECT a OR FROM t, unless an operator before it binds less strongly.
func (p *parser) labelEnds() bool {
	if !wordInfos[p.tok().word].bare {
		return false
	}
	switch t := p.ahead(1); t.kind {
	case tEOF, ';', ')', ',':
		return true
	case tIdent:
		return resultEnd(words[t.word])
	}
	return false
}

// operator writes an operator and its right operand, if it has one.
func (p *parser) operator(c *chain, l level, kind infixKind) {
	p.associate(c, l, kind)
	c.escape = c.escape && l > levelLike
	switch kind {
	case infixNative:
		p.native(c, l)
	case infixCustom:
		pos := p.pos()
		p.infixOp(c, l, pos, p.anyOperator(), "<< ")
	case infixIs:
		p.isTest(c)
	case infixLike:
		p.likeOp(c)
	case infixIn:
		p.inOp(c)
	case infixBetween:
		p.betweenOp(c)
	case infixEscape:
		p.next()
		n := p.openInfix("| ")
		p.setMark(n, func(a *args) ast.Expr {
			like := a.left.(*ast.Like)
			like.Escape = a.right
			return like
		})
		p.right(c, l)
	}
}

// right writes the right operand of an operator.
func (p *parser) right(c *chain, l level) {
	c.waits(l)
	c.grow(p, p.operand(c, l))
}

// waits notes that an operator or prefix of a level waits for its right operand.
func (c *chain) waits(l level) {
	if c.lowest == 0 || l < c.lowest {
		c.lowest = l
	}
}

// associate refuses operators that do not associate with one before them.
func (p *parser) associate(c *chain, l level, kind infixKind) {
	if c.lowest >= l { // all that waited is complete
		c.lowest = 0
	}
	if l == levelCompare && c.compare || l == levelLike && c.like && kind != infixEscape || l == levelIs && c.distinct {
		p.syntax()
		return
	}
	if l < levelLike {
		c.like = false
	}
	if l < levelCompare {
		c.compare = false
	}
	if l < levelIs {
		c.distinct = false
	}
}

// nativeOps are the operators that TiDB has, by token.
var nativeOps = map[kind]string{
	'=': "=", '<': "<", '>': ">", tLessEq: "<=", tGreatEq: ">=", tNotEq: "<>",
	'+': "+", '-': "-", '*': "*", '/': "/", '%': "%", '^': "^",
}

func (p *parser) native(c *chain, l level) {
	if l <= levelAnd {
		word := "AND "
		if l == levelOr {
			word = "OR "
		}
		p.op(word, p.pos())
		p.next()
		c.top, c.height = max(c.top, c.height), 0
		c.links++
		p.right(c, l)
		return
	}
	op, pos := nativeOps[p.kind()], p.pos()
	p.next()
	if l == levelCompare {
		p.infixOp(c, l, pos, ast.Op{Symbol: op}, "= ")
		return
	}
	if p.quantifierFollows(c) {
		p.quantified(c, pos, ast.Op{Symbol: op}, op+" ")
		return
	}
	p.skeleton.op(op, pos)
	p.write(" ")
	p.right(c, l)
}

// infixOp writes a comparison or custom operator that has been read, and its right operand. Both may have
// ANY or ALL on their right. carrier is the operator of TiDB's that has the level.
func (p *parser) infixOp(c *chain, l level, pos ast.Pos, op ast.Op, carrier string) {
	if p.quantifierFollows(c) {
		p.quantified(c, pos, op, carrier)
		return
	}
	if l == levelCompare {
		c.compare = true
		p.skeleton.op(op.Symbol, pos)
		p.write(" ")
	} else {
		p.setMark(p.openInfix(carrier), func(a *args) ast.Expr {
			return &ast.Binary{Pos: pos, Op: op, Left: a.left, Right: a.right}
		})
	}
	p.right(c, l)
}

// openInfix writes an infix mark without arguments.
func (p *parser) openInfix(carrier string) int {
	p.write(carrier)
	n := p.open('x')
	p.shut()
	p.write(carrier)
	return n
}

func (p *parser) quantifierFollows(c *chain) bool {
	if c.plain {
		return false
	}
	switch p.word() {
	case "any", "some", "all":
		return true
	}
	return false
}

// quantified writes ANY (…) or ALL (…) behind an operator.
func (p *parser) quantified(c *chain, pos ast.Pos, op ast.Op, carrier string) {
	q := &ast.Quantified{Pos: pos, Op: op, All: p.word() == "all"}
	p.next()
	p.write(carrier)
	n := p.open('y')
	if p.kind() == '(' && p.tok().query {
		p.parenQuery()
		p.close(c, n, false, func(a *args) ast.Expr {
			q.Left, q.Query = a.left, a.takeQuery()
			return q
		})
		return
	}
	p.expectKind('(')
	p.expr()
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		q.Left, q.Array = a.left, a.take()
		return q
	})
}

// anyOperator takes an operator or OPERATOR(schema.operator).
func (p *parser) anyOperator() ast.Op {
	if !p.accept("operator") {
		op := ast.Op{Symbol: p.tok().text(p)}
		p.next()
		return op
	}
	p.expectKind('(')
	var op ast.Op
	for p.isName() {
		if op.Schema != "" {
			p.unsupported(p.pos(), "an operator with more than one qualifier")
		}
		op.Schema = p.ident()
		p.expectKind('.')
	}
	op.Symbol = p.operatorSymbol()
	p.expectKind(')')
	return op
}

// operatorSymbol takes any operator, those with levels of their own included.
func (p *parser) operatorSymbol() string {
	t := p.tok()
	if s, ok := nativeOps[t.kind]; ok {
		p.next()
		return s
	}
	if t.kind != tOp {
		p.syntax()
		return ""
	}
	p.next()
	return t.text(p)
}

// isTest writes IS …, ISNULL and NOTNULL.
func (p *parser) isTest(c *chain) {
	e := &ast.Is{Pos: p.pos()}
	switch {
	case p.accept("isnull"):
	case p.accept("notnull"):
		e.Not = true
	default:
		p.next()
		if e.Not = p.word() == "not" && !p.notBefore(); e.Not {
			p.next()
		}
		switch {
		case c.plain && p.word() != "distinct":
			p.syntax()
		case p.accept("null"):
		case p.accept("true"):
			e.Test = ast.IsTrue
		case p.accept("false"):
			e.Test = ast.IsFalse
		case p.accept("unknown"):
			e.Test = ast.IsUnknown
		case p.accept("distinct"):
			p.expect("from")
			p.distinctFrom(c, e)
			return
		default:
			p.isOther()
		}
	}
	p.write("= ")
	n := p.open('y')
	p.close(c, n, false, func(a *args) ast.Expr {
		e.Arg = a.left
		return e
	})
	c.grow(p, 0)
}

func (p *parser) isOther() {
	switch p.word() {
	case "document", "normalized":
		p.unsupported(p.pos(), "IS %s", upperWord(p.word()))
	case "nfc", "nfd", "nfkc", "nfkd":
		p.unsupported(p.pos(), "IS NORMALIZED")
	}
	p.syntax()
}

// distinctFrom writes IS DISTINCT FROM. Its right operand takes in comparisons, which TiDB has on the level of
// the mark, so it gets parentheses.
func (p *parser) distinctFrom(c *chain, is *ast.Is) {
	p.setMark(p.openInfix("= "), func(a *args) ast.Expr {
		return &ast.IsDistinct{Pos: is.Pos, Left: a.left, Right: a.right, Not: is.Not}
	})
	p.write("(")
	c.waits(levelIs)
	c.grow(p, p.chain(&chain{stop: levelIs, plain: c.plain}))
	p.write(") ")
	c.distinct = true
}

func (p *parser) likeOp(c *chain) {
	e := &ast.Like{Pos: p.pos(), Not: p.accept("not")}
	symbol := "~~"
	switch {
	case p.accept("ilike"):
		e.Kind, symbol = ast.ILikeOp, "~~*"
	case p.accept("similar"):
		p.expect("to")
		e.Kind = ast.SimilarOp
	default:
		p.next()
	}
	if e.Kind != ast.SimilarOp && p.quantifierFollows(c) {
		if e.Not {
			symbol = "!" + symbol
		}
		p.quantified(c, e.Pos, ast.Op{Symbol: symbol}, "| ")
		return
	}
	p.setMark(p.openInfix("| "), func(a *args) ast.Expr {
		e.Arg, e.Pattern = a.left, a.right
		return e
	})
	p.right(c, levelLike)
	c.like, c.escape = true, true
}

func (p *parser) inOp(c *chain) {
	e := &ast.In{Pos: p.pos(), Not: p.accept("not")}
	p.next()
	p.write("| ")
	n := p.open('y')
	if p.tok().query {
		p.parenQuery()
		p.close(c, n, false, func(a *args) ast.Expr {
			e.Arg, e.Query = a.left, a.takeQuery()
			return e
		})
		return
	}
	p.expectKind('(')
	e.List = p.exprs()
	p.expectKind(')')
	p.close(c, n, false, func(a *args) ast.Expr {
		e.Arg = a.left
		a.fill(e.List)
		return e
	})
}

func (p *parser) betweenOp(c *chain) {
	e := &ast.Between{Pos: p.pos(), Not: p.accept("not")}
	p.next()
	if p.accept("symmetric") {
		e.Symmetric = true
	} else {
		p.accept("asymmetric")
	}
	p.write("| ")
	n := p.open('x')
	p.plainExpr()
	p.shut()
	p.write("| ")
	p.expect("and")
	p.setMark(n, func(a *args) ast.Expr {
		e.Arg, e.High, e.Low = a.left, a.right, a.take()
		return e
	})
	p.right(c, levelLike)
	c.like = true
}

// operand writes what stands on the right of an operator of a level, prefixes included, and gives its height.
// A prefix takes in everything that binds more strongly than itself, even where the operator on its left
// binds more strongly still (a = NOT b = c is a = (NOT (b = c))); then it gets parentheses.
func (p *parser) operand(c *chain, after level) int {
	switch p.kind() {
	case '+', '-':
		return p.prefixSign(c)
	case tOp:
		return p.prefixOp(c, after)
	case tIdent:
		switch {
		case p.word() == "not":
			return p.prefixNot(c, after)
		case p.word() == "operator" && p.ahead(1).kind == '(':
			return p.prefixOp(c, after)
		}
	}
	return p.primary(c)
}

// prefixed writes the operand of a prefix and gives the height of both.
func (p *parser) prefixed(c *chain, after level) int {
	p.enter()
	h := p.operand(c, after) + 1
	p.leave()
	return h
}

// prefixSign writes a sign and its operand. COLLATE and AT TIME ZONE, which stand behind operands, bind less
// strongly than a sign: if one follows, sign and operand become a marked operand.
func (p *parser) prefixSign(c *chain) int {
	start := len(p.out)
	p.skeleton.op(string(p.kind()), p.pos())
	p.write(" ")
	p.next()
	inner := *c
	inner.stop = levelSign
	h := p.prefixed(&inner, levelSign)
	if p.zoneFollows(c) || p.collateFollows(c) {
		n := p.enclose('m', start)
		p.close(c, n, false, func(a *args) ast.Expr { return a.take() })
	}
	return h
}

func (p *parser) prefixNot(c *chain, after level) int {
	if c.plain {
		p.syntax()
		return 0
	}
	pos := p.pos()
	p.next()
	if after <= levelNot && c.stop < levelNot {
		c.waits(levelNot)
		p.skeleton.op("NOT ", pos)
		return p.prefixed(c, levelNot)
	}
	p.write("(")
	p.skeleton.op("NOT ", pos)
	h := p.chain(&chain{stop: levelAnd}) + 1
	p.write(") ")
	return h
}

func (p *parser) prefixOp(c *chain, after level) int {
	pos := p.pos()
	op := p.anyOperator()
	build := func(a *args) ast.Expr { return &ast.Unary{Pos: pos, Op: op, Arg: a.right} }
	inline := after < levelOp && c.stop < levelOp
	if !inline {
		p.write("(")
	}
	n := p.open('x')
	p.setMark(n, build)
	p.shut()
	p.write("<< ")
	if inline {
		c.waits(levelOp)
		return p.prefixed(c, levelOp)
	}
	h := p.chain(&chain{stop: levelOp, plain: c.plain}) + 1
	p.write(") ")
	return h
}
