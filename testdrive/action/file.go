package action

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tempPath finds a file of the script's own directory.
func (m *Machine) tempPath(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", &problem{"malformed argument",
			fmt.Sprintf("path %q must be relative and stay inside the temporary directory", name)}
	}
	return filepath.Join(m.o.TempDir, name), nil
}

// fileAppend is $ file-append path=…: the lines below, with byte escapes (\xNN, \n, \t, \\) resolved, go to the end of a
// file of ${testdrive.temp-dir}; each append is one stream if it is compressed.
func fileAppend(m *Machine, _ context.Context, c *call) error {
	path, err := m.tempPath(c.get("path"))
	if err != nil {
		return err
	}
	content, err := fileContent(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	switch compression := c.get("compression"); compression {
	case "", "none":
		_, err = io.WriteString(f, content)
	case "gzip":
		z := gzip.NewWriter(f)
		_, err = io.WriteString(z, content)
		err = errors.Join(err, z.Close())
	default:
		err = &problem{"malformed argument", fmt.Sprintf("compression %q is not supported: none and gzip are", compression)}
	}
	return errors.Join(err, f.Close())
}

func fileContent(c *call) (string, error) {
	repeat := 1
	if text, given := c.arg("repeat"); given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return "", &problem{"malformed argument", fmt.Sprintf("repeat must be a number, not %q", text)}
		}
		repeat = n
	}
	newline := "\n"
	switch text, given := c.arg("trailing-newline"); {
	case !given || text == "true":
	case text == "false":
		newline = ""
	default:
		return "", &problem{"malformed argument", fmt.Sprintf("trailing-newline must be true or false, not %q", text)}
	}
	var out strings.Builder
	if header, given := c.arg("header"); given {
		out.WriteString(header + "\n")
	}
	body, err := unescapeBytes(strings.Join(c.body, "\n"))
	if err != nil {
		return "", err
	}
	for i := range repeat {
		out.WriteString(body)
		if i+1 < repeat {
			out.WriteByte('\n')
		}
	}
	out.WriteString(newline)
	return out.String(), nil
}

func unescapeBytes(text string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case '\\':
			out.WriteByte('\\')
		case 'x':
			if i+2 >= len(text) {
				return "", &problem{"malformed escape", `\x needs two digits`}
			}
			b, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", &problem{"malformed escape", `\x` + text[i+1:i+3]}
			}
			out.WriteByte(byte(b))
			i += 2
		default:
			out.WriteByte('\\')
			out.WriteByte(text[i])
		}
	}
	return out.String(), nil
}

// fileDelete is $ file-delete path=….
func fileDelete(m *Machine, _ context.Context, c *call) error {
	path, err := m.tempPath(c.get("path"))
	if err != nil {
		return err
	}
	return os.Remove(path)
}
