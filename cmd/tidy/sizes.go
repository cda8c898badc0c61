package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"unicode/utf8"
)

// measured is the size of one thing that has a limit.
type measured struct {
	what  string // as in oversize.what
	path  string
	line  int
	size  int
	limit int
	noun  string
}

// checkSizes holds functions, files, packages and lines against their limits, and the ratchet against both.
func checkSizes(t *tree, ratchet []oversize) []finding {
	var out []finding
	var all []measured
	perPackage := map[string]int{}
	for _, f := range t.files {
		if f.generated {
			continue
		}
		all = append(all, measured{f.path, f.path, 0, len(f.lines), fileLimit, "file"})
		if !f.test {
			out = append(out, longLines(f)...)
			perPackage[f.dir] += codeLines(t, f)
			all = append(all, functionSizes(t, f)...)
		}
	}
	for _, dir := range t.dirs() {
		all = append(all, measured{dir, dir, 0, perPackage[dir], packageLimit, "package"})
	}
	used := make([]bool, len(ratchet))
	for _, m := range all {
		i := slices.IndexFunc(ratchet, func(o oversize) bool { return o.what == m.what })
		allowed := m.limit
		if i >= 0 {
			used[i] = true
			allowed = ratchet[i].upTo
		}
		switch {
		case m.size > allowed:
			out = append(out, finding{m.path, m.line,
				fmt.Sprintf("%s has %d lines, the limit is %d", m.noun, m.size, allowed)})
		case i >= 0 && m.size <= m.limit:
			out = append(out, finding{m.path, m.line,
				m.noun + " keeps the limit now: remove its entry from cmd/tidy/exceptions.go"})
		case i >= 0 && m.size < allowed-allowed/10:
			out = append(out, finding{m.path, m.line,
				fmt.Sprintf("%s has shrunk to %d lines: lower its entry in cmd/tidy/exceptions.go", m.noun, m.size)})
		}
	}
	for i, o := range ratchet {
		if !used[i] {
			out = append(out, finding{path: "cmd/tidy/exceptions.go", text: "entry for " + o.what + ", which is not there"})
		}
	}
	return out
}

// codeLines counts the lines that are neither blank nor comment.
func codeLines(t *tree, f *file) int {
	comment := map[int]bool{}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			first := t.line(c.Pos())
			// What begins after code on its line is no line of its own.
			if len(bytes.TrimSpace(f.lines[first-1][:t.fset.Position(c.Pos()).Column-1])) > 0 {
				first++
			}
			for l := first; l <= t.line(c.End()); l++ {
				comment[l] = true
			}
		}
	}
	n := 0
	for i, line := range f.lines {
		if !comment[i+1] && len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

func longLines(f *file) []finding {
	var out []finding
	for i, line := range f.lines {
		width := utf8.RuneCount(line) + 3*bytes.Count(line, []byte("\t"))
		if width > lineLimit {
			out = append(out, finding{f.path, i + 1, fmt.Sprintf("line has %d columns, the limit is %d", width, lineLimit)})
		}
	}
	return out
}

// functionSizes measures every function with a body, unless it says that it switches over a closed set.
func functionSizes(t *tree, f *file) []measured {
	var out []measured
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		first, last := t.line(fn.Pos()), t.line(fn.End())
		if saysClosedSet(f, fn) {
			continue
		}
		out = append(out, measured{
			what: f.path + ":" + functionName(fn), path: f.path, line: first,
			size: last - first + 1, limit: functionLimit, noun: "function " + functionName(fn),
		})
	}
	return out
}

func saysClosedSet(f *file, fn *ast.FuncDecl) bool {
	begin := fn.Pos()
	if fn.Doc != nil {
		begin = fn.Doc.Pos()
	}
	for _, c := range f.syntax.Comments {
		if c.Pos() >= begin && c.End() <= fn.End() && strings.Contains(c.Text(), "closed set") {
			return true
		}
	}
	return false
}

// functionName is "Func", or "Type.Method" without stars and type parameters.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
