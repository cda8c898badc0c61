// Command tidy checks the house rules that a machine can check: layers and doors, quarantined dependencies,
// package comments, sizes, goroutines, globals and clocks.
//
// It reads Go files with the standard parser and checks no types, so that it takes seconds. The layer table is
// layers.go, the list of exceptions is exceptions.go; both are data, changed in review only. Run it from
// anywhere in the module as "go run ./cmd/tidy"; it prints one finding a line and ends with status 1 if there
// is one. "go test ./..." runs it too. With -owners it lists instead the packages that own goroutines, which is where
// the race detector has something to find.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	owners := flag.Bool("owners", false, "list the packages that own goroutines")
	flag.Parse()
	root, err := findRoot()
	clean := true
	if err == nil && *owners {
		err = listOwners(os.DirFS(root))
	} else if err == nil {
		clean, err = report(os.DirFS(root))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidy:", err)
		os.Exit(2)
	}
	if !clean {
		os.Exit(1)
	}
}

// report prints the findings, and says whether there were none.
func report(root fs.FS) (bool, error) {
	findings, err := check(root, oversizes)
	if err != nil {
		return false, err
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	return len(findings) == 0, nil
}

// listOwners prints the packages of goroutineOwners that there are, as the go command takes them.
func listOwners(root fs.FS) error {
	t, err := load(root)
	if err != nil {
		return err
	}
	for _, dir := range t.dirs() {
		if slices.ContainsFunc(goroutineOwners, func(e exception) bool { return strings.TrimSuffix(e.where, "/") == dir }) {
			fmt.Println("./" + dir)
		}
	}
	return nil
}

// findRoot goes up from the working directory to the folder of go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod in this folder or above it")
		}
		dir = parent
	}
}

// check applies every rule to the tree under root, but for what the ratchet lets be larger.
func check(root fs.FS, ratchet []oversize) ([]finding, error) {
	t, err := load(root)
	if err != nil {
		return nil, err
	}
	findings, err := checkTopLevel(root)
	if err != nil {
		return nil, err
	}
	for _, rule := range []func(*tree) []finding{
		checkLayers, checkDependencies, checkComments, checkStatements, checkGlobals,
	} {
		findings = append(findings, rule(t)...)
	}
	findings = append(findings, checkSizes(t, ratchet)...)
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	return slices.Compact(findings), nil
}
