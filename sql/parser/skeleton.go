package parser

import (
	"strconv"

	"github.com/tributary-db/tributary/sql/ast"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
)

// skeleton is what TiDB's parser reads, with what its holes and marks stand for. Its words are
//
//	?         a hole: an operand that the dialect has read whole
//	m_1(…)    a marked operand: a call whose arguments are the expressions inside it
//	x_1(…)    an infix or prefix operator, between two operators of TiDB's on the right level of
//	          precedence: a << x_1() << b, and x_1() << b for a prefix
//	y_1(…)    a postfix operator, on the right of such an operator: a = y_1()
//	s_1(…)    the first result of every SELECT: which SELECT it is, and the expressions of its own clauses
//	t_1       an entry of FROM; t_0 is nothing
//	c_1       a CTE
//	j_1(…)    the condition of every join, all of which are LEFT JOINs here
//	o_1(…)    ORDER BY and what follows it
//
// All marks number from 1 and are made before the marks inside them.
type skeleton struct {
	out   []byte
	holes []hole
	ops   []opPlace
	marks []mark
	// selects, tables, ctes, joins and tails are what s, t, c, j and o number.
	selects []*selectMark
	tables  []ast.TableExpr
	ctes    []*cteMark
	joins   []*ast.Join
	tails   []*tailMark
	// sinks take the statements that TiDB makes of the skeleton, in order.
	sinks []func(*lifter, tidb.StmtNode)
}

// hole is an operand; at is its place in the skeleton, by which it is found again.
type hole struct {
	at   int
	expr ast.Expr
}

// opPlace ties an operator's place in the skeleton to its place in the client's text.
type opPlace struct {
	at  int
	pos ast.Pos
}

// mark builds an expression from the lifted arguments of its call.
type mark func(a *args) ast.Expr

// selectMark is one SELECT, VALUES, TABLE, SHOW or query in parentheses.
type selectMark struct {
	body ast.QueryBody
	// build fills the body's own clauses from the mark's arguments; nil if they need none.
	build func(a *args)
	// aliases are those of the results, in order.
	aliases []string
	// queryPos is the start of the query that this body is the first of; setPos is the set operator before it.
	queryPos, setPos ast.Pos
}

type cteMark struct {
	cte  ast.CTE
	with *ast.With
}

// tailMark is what follows the body of a query.
type tailMark struct {
	build func(q *ast.Query, a *args)
}

// keptBytes and keptEntries bound what a skeleton keeps for the next text.
const (
	keptBytes   = 1 << 16
	keptEntries = 1 << 12
)

// reset empties the skeleton and drops all it points at, keeping room for the next.
func (s *skeleton) reset() {
	if cap(s.out) > keptBytes || cap(s.holes) > keptEntries || cap(s.marks) > keptEntries {
		*s = skeleton{}
		return
	}
	clear(s.holes)
	clear(s.marks)
	*s = skeleton{out: s.out[:0], holes: s.holes[:0], ops: s.ops[:0], marks: s.marks[:0]}
}

func (s *skeleton) write(text string) { s.out = append(s.out, text...) }

func (s *skeleton) hole(e ast.Expr) {
	s.holes = append(s.holes, hole{len(s.out), e})
	s.write("? ")
}

// op writes an operator that TiDB has on PostgreSQL's level.
func (s *skeleton) op(text string, pos ast.Pos) {
	s.ops = append(s.ops, opPlace{len(s.out), pos})
	s.write(text)
}

func (s *skeleton) number(letter byte, n int) {
	s.out = append(s.out, letter, '_') // S3 is a word of TiDB's
	s.out = strconv.AppendInt(s.out, int64(n), 10)
}

// open starts a marked call; what build is comes with setMark, before the lift.
func (s *skeleton) open(letter byte) int {
	s.marks = append(s.marks, nil)
	n := len(s.marks)
	s.number(letter, n)
	s.out = append(s.out, '(')
	return n
}

// enclose starts a marked call around what has been written from a place on.
func (s *skeleton) enclose(letter byte, from int) int {
	inside := string(s.out[from:])
	s.out = s.out[:from]
	n := s.open(letter)
	shift := len(s.out) - from
	s.write(inside)
	for i := len(s.holes) - 1; i >= 0 && s.holes[i].at >= from; i-- {
		s.holes[i].at += shift
	}
	for i := len(s.ops) - 1; i >= 0 && s.ops[i].at >= from; i-- {
		s.ops[i].at += shift
	}
	return n
}

// dropEmpty takes back the start of a marked call if nothing has been written since.
func (s *skeleton) dropEmpty(letter byte, n int) bool {
	was := len(s.out)
	s.number(letter, n)
	mark := len(s.out) - was
	empty := was > mark && s.out[was-1] == '(' && string(s.out[was-1-mark:was-1]) == string(s.out[was:])
	s.out = s.out[:was]
	if empty {
		s.out = s.out[:was-1-mark]
	}
	return empty
}

// dropHole takes back what has been written from a place on if it is nothing but a hole, and gives what fills it.
func (s *skeleton) dropHole(from int) ast.Expr {
	if len(s.holes) == 0 {
		return nil
	}
	h := s.holes[len(s.holes)-1]
	if h.at < from || h.at > from+1 || len(s.out) != h.at+len("? ") {
		return nil
	}
	s.out, s.holes = s.out[:from], s.holes[:len(s.holes)-1]
	return h.expr
}

func (s *skeleton) shut() { s.write(") ") }

func (s *skeleton) setMark(n int, build mark) { s.marks[n-1] = build }

// arg starts the next argument of the marked call that is open.
func (s *skeleton) arg() {
	if s.out[len(s.out)-1] != '(' {
		s.write(",")
	}
}

// sink ends a statement of the skeleton.
func (s *skeleton) sink(take func(*lifter, tidb.StmtNode)) {
	s.write(";")
	s.sinks = append(s.sinks, take)
}

// args are the arguments of a mark, lifted one by one as they are taken. left and right are the operands of
// an infix mark, left that of a postfix one, right that of a prefix one.
type args struct {
	l           *lifter
	list        []tidb.ExprNode
	left, right ast.Expr
}

// take lifts the next argument.
func (a *args) take() ast.Expr {
	e := a.l.expr(a.list[0])
	a.list = a.list[1:]
	return e
}

func (a *args) takeAll(n int) []ast.Expr {
	es := make([]ast.Expr, n)
	for i := range es {
		es[i] = a.take()
	}
	return es
}

// fill lifts arguments into the places that are still empty.
func (a *args) fill(es []ast.Expr) {
	for i, e := range es {
		if e == nil {
			es[i] = a.take()
		}
	}
}

// takeQuery lifts an argument that is a query.
func (a *args) takeQuery() *ast.Query {
	q := a.l.subquery(a.list[0])
	a.list = a.list[1:]
	return q
}

func (a *args) order(items []ast.OrderItem) {
	for i := range items {
		items[i].Expr = a.take()
	}
}
