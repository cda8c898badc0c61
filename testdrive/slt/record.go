package slt

import (
	"fmt"
	"regexp"

	"github.com/tributary-db/tributary/testdrive/script"
)

// file is a parsed file.
type file struct {
	name    string
	lines   []string
	records []record
}

// record is one entry of a file.
type record struct {
	line int // from 1
	sql  string
	// skip leaves the record out: skipif, onlyif or a kind that we drop on purpose.
	skip bool
	mode mode
	do   command
}

// mode is how results are laid out and formatted.
type mode int

const (
	standard  mode = iota // a value per line
	cockroach             // a row per line
)

// command is one of the types below: a closed set.
type command interface{ command() }

// statement must succeed, affect count rows if count is not nil, or fail.
type statement struct {
	count *int64
	fails *failure
}

// failure is an expected error: its text must match, and its code if codes are checked.
type failure struct {
	code  string // SQLSTATE, or nothing
	match *regexp.Regexp
	text  string // match as written
}

// query must give a result, or fail.
type query struct {
	types     string
	sort      sortMode
	colnames  bool
	multiline bool
	noView    bool // not to be run as a view
	label     string
	fails     *failure

	columns  []string
	values   []string // row by row
	hash     *script.Hash
	hasRows  bool // there is a ---- line
	expected script.Span
}

type sortMode int

const (
	noSort sortMode = iota
	rowSort
	valueSort
)

// simple is one message of the simple protocol with all its results as text.
type simple struct {
	conn, user, password string
	sort                 sortMode
	lines                []string
	expected             script.Span
}

// copyFile loads a file into a table.
type copyFile struct{ table, path string }

// The others change how what follows is run.
type (
	setUser     struct{ name string }
	resetServer struct{}
	addReplace  struct {
		match *regexp.Regexp
		with  string
	}
	setThreshold struct{ values int }
	halt         struct{}
)

func (*statement) command()    {}
func (*query) command()        {}
func (*simple) command()       {}
func (*copyFile) command()     {}
func (*setUser) command()      {}
func (*resetServer) command()  {}
func (*addReplace) command()   {}
func (*setThreshold) command() {}
func (*halt) command()         {}

func (f *file) errorf(line int, format string, args ...any) error {
	return &script.Error{File: f.name, Line: line, Text: fmt.Sprintf(format, args...), Source: f.lines[line-1]}
}
