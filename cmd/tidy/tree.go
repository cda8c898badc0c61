package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// tree is a parsed source tree.
type tree struct {
	fset     *token.FileSet
	files    []*file // sorted by path
	packages map[string][]*file
}

// file is one parsed Go file.
type file struct {
	path      string // from the root, with slashes
	dir       string
	test      bool // a _test.go file
	generated bool
	lines     [][]byte
	syntax    *ast.File
}

// finding is one broken rule.
type finding struct {
	path string
	line int // 0: the whole file or folder
	text string
}

func (f finding) String() string {
	if f.line == 0 {
		return f.path + ": " + f.text
	}
	return f.path + ":" + strconv.Itoa(f.line) + ": " + f.text
}

// load parses every Go file under root that the go command would see.
func load(root fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet(), packages: map[string][]*file{}}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			// A file that another process removed in the meantime is no finding.
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(p) != ".go" || name[0] == '.' || name[0] == '_' {
			return nil
		}
		return t.add(root, p)
	})
	return t, err
}

func (t *tree) add(root fs.FS, p string) error {
	src, err := fs.ReadFile(root, p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	syntax, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	f := &file{
		path:      p,
		dir:       path.Dir(p),
		test:      strings.HasSuffix(p, "_test.go"),
		generated: ast.IsGenerated(syntax),
		lines:     bytes.Split(bytes.TrimSuffix(src, []byte("\n")), []byte("\n")),
		syntax:    syntax,
	}
	t.files = append(t.files, f)
	t.packages[f.dir] = append(t.packages[f.dir], f)
	return nil
}

// line is where a node begins.
func (t *tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

// dirs lists the folders that hold Go files, sorted.
func (t *tree) dirs() []string {
	var dirs []string
	for _, f := range t.files {
		if !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}
