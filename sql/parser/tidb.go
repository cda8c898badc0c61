package parser

import (
	"errors"
	"io"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/tributary-db/tributary/sql/pgerr"

	tidbparser "github.com/pingcap/tidb/pkg/parser"
	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"
)

// marker is a hole in TiDB's tree: its parameter marker, of which only the place in the skeleton matters.
type marker struct {
	tidb.TexprNode
	at int
}

// Accept lets a visitor of TiDB's pass.
func (m *marker) Accept(v tidb.Visitor) (tidb.Node, bool) {
	n, _ := v.Enter(m)
	return v.Leave(n)
}

// Restore prints the marker.
func (m *marker) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain("?")
	return nil
}

// What else TiDB asks of a value; a hole has none.

func (*marker) SetValue(any)             {}
func (*marker) GetValue() any            { return nil }
func (*marker) GetDatumString() string   { return "" }
func (*marker) GetString() string        { return "" }
func (*marker) GetProjectionOffset() int { return -1 }
func (*marker) SetProjectionOffset(int)  {}
func (*marker) SetOrder(int)             {}
func (*marker) Format(io.Writer)         {}

// A skeleton has no literals, so that TiDB, whose parser panics without a driver for values, never makes one.
var errLiteral = errors.New("a skeleton has no literals")

var setDriver sync.Once

func driver() {
	noLiteral := func(string) (any, error) { return nil, errLiteral }
	tidb.NewParamMarkerExpr = func(at int) tidb.ParamMarkerExpr { return &marker{at: at} }
	tidb.NewValueExpr = func(any, string, string) tidb.ValueExpr { return &marker{at: -1} }
	tidb.NewDecimal, tidb.NewHexLiteral, tidb.NewBitLiteral = noLiteral, noLiteral, noLiteral
}

// tidbParsers keeps parsers, each of which has tables and a stack of its own.
var tidbParsers = sync.Pool{New: func() any {
	setDriver.Do(driver)
	t := tidbparser.New()
	t.SetSQLMode(mysql.ModeANSIQuotes | mysql.ModeNoBackslashEscapes | mysql.ModeIgnoreSpace)
	return t
}}

// lift reads the skeleton and hands each of its statements to the sink that waits for it.
func (p *parser) lift() *pgerr.Error {
	if len(p.sinks) == 0 {
		return nil
	}
	text := string(p.out)
	t := tidbParsers.Get().(*tidbparser.Parser)
	statements, _, err := t.ParseSQL(text)
	if err != nil {
		return p.refused(text, err)
	}
	l := &lifter{p: p}
	for i, s := range statements {
		p.sinks[i](l, s)
	}
	if len(text) <= keptBytes { // a parser's stack keeps what it held last
		tidbParsers.Put(t)
	}
	return l.err
}

// refused makes a syntax error of TiDB's refusal. The dialect finds syntax errors itself, so this is the net
// below it: the place is that of the operand or operator where TiDB stopped.
func (p *parser) refused(text string, err error) *pgerr.Error {
	at := len(text)
	if _, rest, found := strings.Cut(err.Error(), ` near "`); found {
		if _, total, long := strings.Cut(rest, "(total length "); long {
			n, _ := strconv.Atoi(strings.TrimSuffix(total, ")"))
			at -= n
		} else {
			at -= len(strings.TrimSuffix(rest, `" `))
		}
	}
	pos := 0
	if i := sort.Search(len(p.ops), func(i int) bool { return p.ops[i].at > at }); i > 0 {
		pos = int(p.ops[i-1].pos)
	}
	if i := sort.Search(len(p.holes), func(i int) bool { return p.holes[i].at > at }); i > 0 {
		pos = max(pos, p.holes[i-1].expr.Position())
	}
	i := sort.Search(len(p.toks)-1, func(i int) bool { return int(p.toks[i].pos) >= pos })
	return near("syntax error", p.toks[i].text(p)).At(int(p.toks[i].pos))
}
