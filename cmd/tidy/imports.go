package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkTopLevel finds what has no place at the top of the module. What .gitignore names is not looked at.
func checkTopLevel(root fs.FS) ([]finding, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return nil, err
	}
	ignored, err := fs.ReadFile(root, ".gitignore")
	if err != nil {
		ignored = nil // A tree without one ignores nothing.
	}
	var out []finding
	for _, e := range entries {
		name := e.Name()
		known := slices.Contains(topLevel, name) ||
			slices.ContainsFunc(folders, func(f folder) bool { return f.name == name }) ||
			slices.ContainsFunc(strings.Fields(string(ignored)), func(pattern string) bool {
				ok, err := path.Match(strings.Trim(pattern, "/"), name)
				return ok && err == nil
			})
		if !known {
			out = append(out, finding{path: name, text: "has no place at the top: see the layer table in cmd/tidy/layers.go"})
		}
	}
	return out, nil
}

// place finds the folder and the room of a directory.
func place(dir string) (folder, room, bool) {
	top, rest, _ := strings.Cut(dir, "/")
	for _, f := range folders {
		if f.name != top {
			continue
		}
		for _, r := range f.rooms {
			if r.name == rest {
				return f, r, true
			}
			if inner, inside := strings.CutPrefix(rest, r.name+"/"); inside && inner == path.Base(r.name)+"test" {
				return f, room{name: rest, floor: r.floor + 1, forTests: true}, true
			}
		}
	}
	return folder{}, room{}, false
}

// checkLayers holds every import of ours against the layer table.
func checkLayers(t *tree) []finding {
	var out []finding
	for _, dir := range t.dirs() {
		isRoot := slices.ContainsFunc(folders, func(f folder) bool { return f.name == dir })
		if _, _, known := place(dir); !known && !isRoot {
			out = append(out, finding{path: dir, text: "package is not in the layer table (cmd/tidy/layers.go)"})
		}
	}
	for _, f := range t.files {
		from, fromRoom, known := place(f.dir)
		if !known {
			continue
		}
		for _, spec := range f.syntax.Imports {
			target, ours := strings.CutPrefix(importPath(spec.Path.Value), modulePath+"/")
			if !ours {
				continue
			}
			if problem := layerProblem(f, from, fromRoom, target); problem != "" {
				out = append(out, finding{f.path, t.line(spec.Pos()), problem})
			}
		}
	}
	return out
}

// layerProblem says why this file may not import target (a directory), or nothing.
func layerProblem(f *file, from folder, fromRoom room, target string) string {
	to, toRoom, known := place(target)
	switch {
	case !known:
		return fmt.Sprintf("imports %s, which is not in the layer table", target)
	case f.test && slices.Contains(from.testsSee, target):
		return ""
	case toRoom.forTests && !f.test && !fromRoom.forTests:
		return fmt.Sprintf("imports %s, which is for tests only", target)
	case to.name == from.name:
		if f.test || toRoom.floor < fromRoom.floor {
			return ""
		}
		return fmt.Sprintf("floor %d of %s imports %s on floor %d: only lower floors may be imported",
			fromRoom.floor, from.name, target, toRoom.floor)
	case !slices.Contains(from.sees, to.name):
		return fmt.Sprintf("%s imports %s: %s does not see %s", from.name, target, from.name, to.name)
	case f.test || fromRoom.forTests:
		return ""
	}
	for _, d := range to.doors {
		if (d.room == "*" || d.room == toRoom.name) && strings.HasPrefix(f.path, d.only) {
			return ""
		}
	}
	return fmt.Sprintf("imports %s, which is no door of %s for %s", target, to.name, f.dir)
}

// checkDependencies holds every import from outside against the list of dependencies.
func checkDependencies(t *tree) []finding {
	var out []finding
	for _, f := range t.files {
		for _, spec := range f.syntax.Imports {
			p := importPath(spec.Path.Value)
			if p == modulePath || strings.HasPrefix(p, modulePath+"/") {
				continue
			}
			if problem := dependencyProblem(f, p); problem != "" {
				out = append(out, finding{f.path, t.line(spec.Pos()), problem})
			}
		}
	}
	return out
}

func dependencyProblem(f *file, p string) string {
	_, r, _ := place(f.dir)
	forTests := f.test || r.forTests
	best := dependency{}
	for _, d := range dependencies {
		if (p == d.path || strings.HasPrefix(p, d.path+"/")) && len(d.path) > len(best.path) {
			best = d
		}
	}
	first, _, _ := strings.Cut(p, "/")
	switch {
	case best.path == "" && strings.Contains(first, "."):
		return fmt.Sprintf("imports %s, which is not on the list of dependencies (cmd/tidy/layers.go)", p)
	case best.path == "" || best.in == nil || forTests:
		return ""
	}
	for _, prefix := range best.in {
		if base, anywhere := strings.CutPrefix(prefix, "*/"); anywhere && path.Base(f.path) == base {
			return ""
		}
		if strings.HasPrefix(f.path, prefix) {
			return ""
		}
	}
	return fmt.Sprintf("imports %s (%s), whose place is %s", p, best.why, strings.Join(best.in, ", "))
}

// importPath unquotes an import's literal, which the parser has already found to be well-formed.
func importPath(literal string) string {
	p, err := strconv.Unquote(literal)
	if err != nil {
		return literal
	}
	return p
}
