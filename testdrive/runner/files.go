package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stdin is the path that means the standard input.
const stdin = "-"

// findFiles lists the files that were named, and those with the extension in the folders that were, each folder's
// in the order of their names.
func findFiles(paths []string, extension string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if p == stdin {
			files = append(files, p)
			continue
		}
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		before := len(files)
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == extension {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == before {
			return nil, fmt.Errorf("no %s files in %s", extension, p)
		}
	}
	return files, nil
}
