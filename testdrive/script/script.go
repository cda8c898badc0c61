// Package script reads testdrive files (.td): blocks that begin with $, >, ! or ? in the first column.
//
// Promises:
//
//	R1  Parse is pure: text in, blocks or an *Error with a position out. Nothing is expanded or run.
//	R2  A block remembers which lines of the file hold its expectation, so that they can be rewritten without
//	    touching anything else.
//	R3  FormatRow writes what Cells reads back.
//
// Everything here is immutable once made, so it is safe from many goroutines.
package script

import (
	"fmt"
	"strings"
)

// Error is a malformed script.
type Error struct {
	File   string
	Line   int // from 1
	Text   string
	Source string // what stands there
}

// Error is the whole message: what is wrong, and below it the source.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
	for line := range strings.SplitSeq(e.Source, "\n") {
		text += strings.TrimRight("\n    "+short(line), " \n")
	}
	return text
}

// File is a parsed script.
type File struct {
	Name   string
	Lines  []string
	Blocks []Block
}

// Block is one command of a script.
type Block struct {
	Line    int // of the command, from 1
	Gate    Gate
	Command Command
	// Body is the region of the lines after the command and before the next one: Lines[First:Last].
	Body Span
	// Source is the command as written, continuation lines included, expectation not.
	Source string
}

// Span is a half-open range of indices of File.Lines.
type Span struct{ First, Last int }

// Command is one of *Action, *Query, *Failure and *Text: a closed set.
type Command interface{ command() }

// Action is a $ block: something to do.
type Action struct {
	Name string
	Args []Arg // in the order written
	// Body is the lines below, without comments and blank lines.
	Body []string
}

// Arg is key=value; a key alone has no value.
type Arg struct {
	Key, Value string
	HasValue   bool
}

// Query is a > block: a statement and the rows it must give.
type Query struct {
	SQL string
	// Columns are the expected column names; nil if the block does not say.
	Columns []string
	Rows    [][]string
	// Hash stands for the rows if it is not nil.
	Hash *Hash
}

// Hash says how many rows there are and what the digest of their cells is.
type Hash struct {
	Count int
	MD5   string
}

// Failure is a ! block: a statement and the error it must give.
type Failure struct {
	SQL   string
	Match Match
	Text  string // what to look for; empty for Timeout
	// Detail and Hint must occur in the fields of these names, if they are not empty.
	Detail, Hint string
}

// Match is how an error's message is held against the expectation.
type Match int

// Contains, Exact and Regex compare messages; Timeout wants the statement to be still running at the end.
const (
	Contains Match = iota
	Exact
	Regex
	Timeout
)

// Text is a ? block: a statement that gives one row of one text, and the text.
type Text struct {
	SQL      string
	Expected string
}

func (*Action) command()  {}
func (*Query) command()   {}
func (*Failure) command() {}
func (*Text) command()    {}

// SQL is the statement of a block, or nothing for an action.
func (b Block) SQL() string {
	switch c := b.Command.(type) {
	case *Query:
		return c.SQL
	case *Failure:
		return c.SQL
	case *Text:
		return c.SQL
	case *Action:
		return ""
	default:
		panic(fmt.Sprintf("script: unknown command %T", c))
	}
}

// Parse reads a script; name is for messages only.
func Parse(name, text string) (*File, error) {
	f := &File{Name: name, Lines: splitLines(text)}
	p := parser{file: f}
	for p.next < len(f.Lines) {
		if err := p.block(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// splitLines cuts at newlines; a carriage return before one goes too.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}
