package main

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// checkStatements finds init functions, goroutines without a registered owner, clocks and sleeping tests.
func checkStatements(t *tree) []finding {
	var out []finding
	for _, f := range t.files {
		add := func(n ast.Node, text string) {
			out = append(out, finding{f.path, t.line(n.Pos()), text})
		}
		mayStart := f.test || slices.ContainsFunc(goroutineOwners, func(e exception) bool {
			return strings.HasPrefix(f.path, e.where)
		})
		mayRead := f.test || strings.HasPrefix(f.path, "cmd/") || path.Base(f.path) == "metrics.go"
		timeName, importsTime := localName(f.syntax, "time")
		// Inside synctest's bubble time is virtual and a sleep costs nothing.
		_, virtual := localName(f.syntax, "testing/synctest")
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					add(n, "init function: hand state in instead")
				}
			case *ast.GoStmt:
				if !mayStart {
					add(n, "go statement outside the list of goroutine owners (cmd/tidy/exceptions.go)")
				}
			case *ast.CallExpr:
				if !mayStart && startsGoroutine(n) {
					add(n, "starts a goroutine outside the list of goroutine owners (cmd/tidy/exceptions.go)")
				}
			case *ast.SelectorExpr:
				if !importsTime || !isIdent(n.X, timeName) {
					return true
				}
				switch n.Sel.Name {
				case "Now", "Since", "Until":
					if !mayRead {
						add(n, "time."+n.Sel.Name+" outside cmd and metrics.go: have the clock handed in")
					}
				case "Sleep":
					if f.test && !virtual && !slices.ContainsFunc(sleepers, func(e exception) bool { return e.where == f.path }) {
						add(n, "time.Sleep in a test: wait for the event, or use testing/synctest")
					}
				}
			}
			return true
		})
	}
	return out
}

// startsGoroutine spots x.Go(func() …), as WaitGroup and errgroup have it.
func startsGoroutine(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Go" || len(call.Args) != 1 {
		return false
	}
	_, literal := call.Args[0].(*ast.FuncLit)
	return literal
}

// localName is the name under which a file knows an import.
func localName(f *ast.File, p string) (string, bool) {
	for _, spec := range f.Imports {
		if importPath(spec.Path.Value) != p {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, true
		}
		return path.Base(p), true
	}
	return "", false
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
