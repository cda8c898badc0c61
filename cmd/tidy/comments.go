package main

import (
	"path"
	"slices"
	"strings"
)

// checkComments finds packages without a package comment, and folders whose doc.go is missing or has code.
func checkComments(t *tree) []finding {
	var out []finding
	for _, dir := range t.dirs() {
		production := slices.DeleteFunc(slices.Clone(t.packages[dir]), func(f *file) bool { return f.test })
		if len(production) > 0 && !slices.ContainsFunc(production, hasPackageComment) {
			out = append(out, finding{path: dir, text: "package has no package comment"})
		}
	}
	for _, fo := range folders {
		if fo.name == "cmd" || !slices.ContainsFunc(t.files, func(f *file) bool {
			return strings.HasPrefix(f.path, fo.name+"/")
		}) {
			continue
		}
		out = append(out, checkDoc(t, fo.name)...)
	}
	return out
}

// checkDoc looks at the root package of a folder: its map, its glossary and its doors, and nothing else.
func checkDoc(t *tree, name string) []finding {
	var out []finding
	found := false
	for _, f := range t.packages[name] {
		if path.Base(f.path) == "doc.go" {
			found = true
		}
		if len(f.syntax.Decls) > 0 || path.Base(f.path) != "doc.go" {
			out = append(out, finding{path: f.path, text: "the root package of a folder is doc.go, without code"})
		}
	}
	if !found {
		out = append(out, finding{path: name, text: "folder has no doc.go"})
	}
	return out
}

func hasPackageComment(f *file) bool {
	if f.syntax.Doc == nil {
		return false
	}
	text := f.syntax.Doc.Text()
	return strings.HasPrefix(text, "Package "+f.syntax.Name.Name+" ") || strings.HasPrefix(text, "Command ")
}
