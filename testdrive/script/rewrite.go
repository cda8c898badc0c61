package script

import "strings"

// Edit replaces the expectation of one block.
type Edit struct {
	Body  Span
	Lines []string
}

// RowsEdit writes a > block's expectation anew. Comments inside the old one go; those after it
// stay.
func (f *File) RowsEdit(b Block, columns []string, rows [][]string) Edit {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = FormatRow(r)
	}
	return f.edit(b, columns, lines)
}

// HashEdit is RowsEdit for a block that has a hash instead of rows.
func (f *File) HashEdit(b Block, columns []string, hash Hash) Edit {
	return f.edit(b, columns, []string{hash.String()})
}

func (f *File) edit(b Block, columns, lines []string) Edit {
	e := Edit{Body: b.Body}
	if columns != nil {
		e.Lines = append(e.Lines, FormatRow(columns), "---")
	}
	e.Lines = append(e.Lines, lines...)
	e.Lines = append(e.Lines, f.trailer(b.Body)...)
	return e
}

// TextEdit writes a ? block's expectation anew.
func (f *File) TextEdit(b Block, text string) Edit {
	e := Edit{Body: b.Body}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line != "" && (isSigil(line[0]) || line[0] == '#' || line[0] == '\\') {
			line = `\` + line
		}
		e.Lines = append(e.Lines, line)
	}
	e.Lines = append(e.Lines, f.trailer(b.Body)...)
	return e
}

// trailer is the blank lines and comments at the end of a body: they belong to what follows.
func (f *File) trailer(s Span) []string {
	first := s.Last
	for first > s.First && (isBlank(f.Lines[first-1]) || strings.HasPrefix(f.Lines[first-1], "#")) {
		first--
	}
	return f.Lines[first:s.Last]
}

// Apply gives the text with edits made; they must be in the order of the file.
func (f *File) Apply(edits []Edit) string {
	var out []string
	at := 0
	for _, e := range edits {
		out = append(out, f.Lines[at:e.Body.First]...)
		out = append(out, e.Lines...)
		at = e.Body.Last
	}
	out = append(out, f.Lines[at:]...)
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}
