package parser

import (
	"github.com/tributary-db/tributary/sql/ast"
)

// subscribe reads the rest of SUBSCRIBE.
func (p *parser) subscribe(pos ast.Pos) ast.Statement {
	s := &ast.Subscribe{Pos: pos}
	p.accept("to")
	if p.kind() == '(' {
		p.next()
		s.Query = p.embedQuery()
		p.expectKind(')')
	} else {
		s.Relation = p.name()
	}
	// The clauses come in any order, each once.
	upTo := false
	for p.err == nil {
		switch {
		case s.Options == nil && p.accept("with"):
			s.Options = p.options()
		case s.AsOf == nil && p.is("as", "of"):
			s.AsOf = &ast.AsOf{Pos: p.pos()}
			p.i += 2
			s.AsOf.AtLeast = p.accept("at", "least")
			p.embedInto(&s.AsOf.At)
		case !upTo && p.accept("up", "to"):
			upTo = true
			p.embedInto(&s.UpTo)
		case s.Envelope == ast.EnvelopeNone && p.accept("envelope"):
			p.envelope(s)
		case s.Within == nil && p.accept("within", "timestamp"):
			p.within(s)
		default:
			return s
		}
	}
	return s
}

func (p *parser) envelope(s *ast.Subscribe) {
	s.Envelope = ast.EnvelopeUpsert
	if p.accept("debezium") {
		s.Envelope = ast.EnvelopeDebezium
	} else {
		p.expect("upsert")
	}
	p.expectKind('(')
	p.expect("key")
	s.Key = parenList(p, p.identAt)
	p.expectKind(')')
}

func (p *parser) within(s *ast.Subscribe) {
	if p.word() != "order" {
		p.syntax()
		return
	}
	p.outside(func() { s.Within = p.orderBy() }, func(a *args) { a.order(s.Within) })
}

// copy reads the rest of COPY.
func (p *parser) copy(pos ast.Pos) ast.Statement {
	s := &ast.Copy{Pos: pos}
	if p.kind() == '(' {
		p.next()
		s.Source = p.inner1("subscribe", "insert", "update", "delete")
		p.expectKind(')')
	} else {
		p.copyBinary(s)
		s.Table = p.name()
		s.Columns = p.maybeColumns()
	}
	if s.Source == nil && p.accept("from") {
		s.From = true
	} else {
		p.expect("to")
	}
	p.copyTarget(s)
	p.copyOptions(s)
	if s.From && p.accept("where") {
		p.embedInto(&s.Where)
	}
	return s
}

// copyBinary reads the BINARY of older versions.
func (p *parser) copyBinary(s *ast.Copy) {
	if at := p.pos(); p.accept("binary") {
		s.Options = append(s.Options, ast.Option{Pos: at, Name: "FORMAT", Value: &ast.Literal{Pos: at, Kind: ast.String, Text: "binary"}})
	}
}

func (p *parser) copyTarget(s *ast.Copy) {
	switch {
	case p.accept("stdin"), p.accept("stdout"):
		// PostgreSQL takes either word in either direction.
		if !s.From {
			s.Target = ast.CopyStdout
		}
	case p.accept("program"):
		s.Target = ast.CopyProgram
		s.File = p.stringLiteral()
	default:
		s.Target = ast.CopyFile
		s.File = p.stringLiteral()
	}
}

func (p *parser) stringLiteral() ast.Expr {
	pos := p.pos()
	return &ast.Literal{Pos: pos, Kind: ast.String, Text: p.stringValue()}
}

// copyOptions reads WITH (…) or the older list of words, which becomes the same.
func (p *parser) copyOptions(s *ast.Copy) {
	add := func(name string, value ast.Expr) {
		s.Options = append(s.Options, ast.Option{Pos: p.pos(), Name: name, Value: value})
	}
	if p.acceptThen("using", "delimiters") || p.accept("delimiters") {
		add("DELIMITER", p.stringLiteral())
	}
	p.accept("with")
	if p.kind() == '(' {
		s.Options = append(s.Options, parenList(p, p.wordOption)...)
		return
	}
	for p.oldCopyOption(add) {
	}
}

// wordOption reads NAME [value] among the options of COPY and EXPLAIN: the name is one word, no sign need stand
// between, and the value may be a word, a list or *.
func (p *parser) wordOption() ast.Option {
	o := ast.Option{Pos: p.pos(), Name: upperWord(p.label())}
	eq := p.acceptKind('=')
	if at := p.pos(); p.acceptKind('*') {
		o.Value = &ast.Literal{Pos: at, Kind: ast.String, Text: "*"}
	} else if k := p.kind(); k != ',' && k != ')' || eq {
		o.Value = p.optionWord()
	}
	return o
}

// optionWord is value without the reserved words, but for the few that are values.
func (p *parser) optionWord() ast.Expr {
	if t := p.tok(); t.kind == tIdent && wordInfos[t.word].category == ast.Reserved {
		switch words[t.word] {
		case "true", "false", "on", "default":
		default:
			p.syntax()
			return nil
		}
	}
	return p.value()
}

func (p *parser) oldCopyOption(add func(string, ast.Expr)) bool {
	word := func(name, value string) { add(name, &ast.Literal{Pos: p.pos(), Kind: ast.String, Text: value}) }
	columns := func(name string) {
		at := p.pos()
		if p.acceptKind('*') {
			word(name, "*")
			return
		}
		row := &ast.Row{Pos: at}
		for _, c := range list(p, p.identAt) {
			row.Items = append(row.Items, &ast.Literal{Pos: c.Pos, Kind: ast.String, Text: c.Name})
		}
		add(name, row)
	}
	switch {
	case p.accept("csv"):
		word("FORMAT", "csv")
	case p.accept("binary"):
		word("FORMAT", "binary")
	case p.accept("header"):
		add("HEADER", nil)
	case p.accept("freeze"):
		add("FREEZE", nil)
	case p.accept("force", "quote"):
		columns("FORCE_QUOTE")
	case p.accept("force", "null"):
		columns("FORCE_NULL")
	case p.acceptThen("force", "not", "null"):
		columns("FORCE_NOT_NULL")
	case p.word() == "delimiter", p.word() == "null", p.word() == "quote", p.word() == "escape", p.word() == "encoding":
		name := upperWord(p.word())
		p.next()
		if name != "ENCODING" {
			p.accept("as")
		}
		add(name, p.stringLiteral())
	default:
		return false
	}
	return true
}

// declare reads the rest of DECLARE.
func (p *parser) declare(pos ast.Pos) ast.Statement {
	s := &ast.Declare{Pos: pos, Name: p.ident()}
	for {
		switch {
		case p.acceptThen("no", "scroll"):
			s.Options = append(s.Options, "NO SCROLL")
			continue
		case p.accept("scroll"), p.accept("binary"), p.accept("insensitive"), p.accept("asensitive"):
			s.Options = append(s.Options, upperWord(words[p.toks[p.i-1].word]))
			continue
		}
		break
	}
	p.expect("cursor")
	switch {
	case p.acceptThen("with", "hold"):
		s.Options = append(s.Options, "WITH HOLD")
	case p.acceptThen("without", "hold"):
		s.Options = append(s.Options, "WITHOUT HOLD")
	}
	p.expect("for")
	s.Source = p.inner1("subscribe")
	return s
}

// fetch reads the rest of FETCH.
func (p *parser) fetch(pos ast.Pos) ast.Statement {
	s := &ast.Fetch{Pos: pos, Count: 1}
	p.fetchDirection(s)
	if !p.accept("from") {
		p.accept("in")
	}
	s.Name = p.ident()
	if p.accept("with") {
		s.Options = p.options()
	}
	return s
}

func (p *parser) fetchDirection(s *ast.Fetch) {
	// A word that is a direction may also be the name of the cursor: what follows decides.
	if last := p.ahead(1).kind; p.isName() && (last == tEOF || last == ';' || words[p.ahead(1).word] == "with") {
		return
	}
	switch {
	case p.accept("next"):
	case p.accept("prior"):
		s.Direction = ast.FetchBackward
	case p.accept("first"):
		s.Direction = ast.FetchAbsolute
	case p.accept("last"):
		s.Direction, s.Count = ast.FetchAbsolute, -1
	case p.accept("absolute"):
		s.Direction, s.Count = ast.FetchAbsolute, p.signed()
	case p.accept("relative"):
		s.Direction, s.Count = ast.FetchRelative, p.signed()
	case p.accept("forward"):
		p.fetchCount(s)
	case p.accept("backward"):
		s.Direction = ast.FetchBackward
		p.fetchCount(s)
	default:
		p.fetchCount(s)
	}
}

// fetchCount reads a number or ALL, if either is there.
func (p *parser) fetchCount(s *ast.Fetch) {
	switch k := p.kind(); {
	case p.accept("all"):
		s.All, s.Count = true, 0
	case k == tNumber, k == '-', k == '+':
		s.Count = p.signed()
	}
}

func (p *parser) closeCursor(pos ast.Pos) ast.Statement {
	s := &ast.CloseCursor{Pos: pos}
	if !p.accept("all") {
		s.Name = p.ident()
	}
	return s
}
