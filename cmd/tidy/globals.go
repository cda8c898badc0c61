package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkGlobals finds package-level variables that change: those without a value, those whose type is made to
// change (locks, atomics, channels, pools), and those that code of the package writes to. What a pointer or a
// method does to one is not seen: this is a check of syntax.
func checkGlobals(t *tree) []finding {
	var out []finding
	for _, dir := range t.dirs() {
		globals := map[string]bool{}
		for _, f := range t.packages[dir] {
			if f.test {
				continue
			}
			for _, d := range f.syntax.Decls {
				if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
					out = append(out, checkVars(t, f, gen, globals)...)
				}
			}
		}
		for _, f := range t.packages[dir] {
			if f.test {
				continue
			}
			for _, d := range f.syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					out = append(out, checkWrites(t, f, fn, globals)...)
				}
			}
		}
	}
	return out
}

// checkVars looks at one var declaration and adds the names that nothing may write to.
func checkVars(t *tree, f *file, gen *ast.GenDecl, globals map[string]bool) []finding {
	var out []finding
	for _, s := range gen.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		embedded := hasEmbed(gen.Doc) || hasEmbed(spec.Doc)
		for i, name := range spec.Names {
			if name.Name == "_" || globalAllowed(f, name.Name) {
				continue
			}
			globals[name.Name] = true
			var value ast.Expr
			if i < len(spec.Values) {
				value = spec.Values[i]
			}
			problem := ""
			switch {
			case len(spec.Values) == 0 && !embedded:
				problem = " has no value: it can only be mutable"
			case changeable(spec.Type) || changeable(value):
				problem = " is made to change"
			default:
				continue
			}
			out = append(out, finding{f.path, t.line(name.Pos()), "package-level variable " + name.Name + problem})
		}
	}
	return out
}

func globalAllowed(f *file, name string) bool {
	return slices.ContainsFunc(globalsAllowed, func(e exception) bool { return e.where == f.path+":"+name })
}

func hasEmbed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// changeable says whether a type, or the value that makes one, is for changing.
func changeable(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return false
		}
		return pkg.Name == "atomic" || pkg.Name == "sync"
	case *ast.ChanType:
		return true
	case *ast.IndexExpr:
		return changeable(e.X)
	case *ast.StarExpr:
		return changeable(e.X)
	case *ast.UnaryExpr:
		return changeable(e.X)
	case *ast.CompositeLit:
		return changeable(e.Type)
	case *ast.StructType:
		return slices.ContainsFunc(e.Fields.List, func(f *ast.Field) bool { return changeable(f.Type) })
	case *ast.CallExpr:
		// An empty map or a buffer is there to be filled.
		return isIdent(e.Fun, "make")
	}
	return false
}

// checkWrites finds assignments to globals in one function. A name that the function also declares is taken
// for the local one.
func checkWrites(t *tree, f *file, fn *ast.FuncDecl, globals map[string]bool) []finding {
	locals := localNames(fn)
	var out []finding
	report := func(target ast.Expr) {
		name, ok := rootName(target)
		if ok && globals[name] && !locals[name] {
			out = append(out, finding{f.path, t.line(target.Pos()), "writes to package-level variable " + name})
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, target := range n.Lhs {
					report(target)
				}
			}
		case *ast.IncDecStmt:
			report(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				report(n.Key)
				report(n.Value)
			}
		case *ast.CallExpr:
			if (isIdent(n.Fun, "delete") || isIdent(n.Fun, "clear")) && len(n.Args) > 0 {
				report(n.Args[0])
			}
		}
		return true
	})
	return out
}

// rootName is the variable at the left end of x.f[i].g.
func rootName(e ast.Expr) (string, bool) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name, true
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return "", false
		}
	}
}

// localNames collects every name that a function declares anywhere in it.
func localNames(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			for _, n := range f.Names {
				names[n.Name] = true
			}
		}
	}
	fields(fn.Recv)
	define := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, target := range n.Lhs {
					define(target)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				define(n.Key)
				define(n.Value)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}
