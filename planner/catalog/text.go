package catalog

import (
	"slices"
	"strings"

	"github.com/tributary-db/tributary/storage/tvc"
)

// Text is SQL that refers to items by id: pieces of text with references between them. Snapshot.SQL
// writes the references out as the items are called at that time. So nothing need be rewritten when an
// item, its schema or its database is renamed.
//
// A Text is made by printing a statement whose references to items were replaced by Mark(id), and giving
// the result to ParseText. References must have an alias, so that columns can go on being qualified by
// the name the item had.
type Text struct {
	// pieces are the text around the references: always one more than refs, unless the Text is empty.
	pieces []string
	refs   []tvc.ID
}

// markByte starts and ends a mark. No statement has this character: PostgreSQL refuses it in text.
const markByte = "\x00"

// Mark is an identifier that stands for an item; the printer of statements quotes it as it must.
func Mark(id tvc.ID) string { return markByte + id.String() + markByte }

// ParseText reads a printed statement with marks in it. Text between two mark characters that is no id
// stays as it is.
func ParseText(sql string) Text {
	var t Text
	piece := ""
	for sql != "" {
		before, rest, found := strings.Cut(sql, markByte)
		name, after, closed := strings.Cut(rest, markByte)
		id, err := tvc.ParseID(name)
		if !found || !closed || err != nil {
			break
		}
		piece += before
		// The printer has put the mark between quotes.
		piece = strings.TrimSuffix(piece, `"`)
		t.pieces, t.refs = append(t.pieces, piece), append(t.refs, id)
		piece, sql = "", strings.TrimPrefix(after, `"`)
	}
	if piece+sql != "" || len(t.refs) > 0 {
		t.pieces = append(t.pieces, piece+sql)
	}
	return t
}

// PlainText is SQL that refers to no item.
func PlainText(sql string) Text { return Text{pieces: []string{sql}} }

// IsEmpty says whether there is no text.
func (t Text) IsEmpty() bool { return len(t.pieces) == 0 }

// Refs lists the items referred to, ascending and each once.
func (t Text) Refs() []tvc.ID {
	refs := slices.Clone(t.refs)
	slices.SortFunc(refs, tvc.ID.Compare)
	return slices.Compact(refs)
}

// Render writes the text with each reference named by name.
func (t Text) Render(name func(tvc.ID) string) string {
	var b strings.Builder
	for i, p := range t.pieces {
		if i > 0 {
			b.WriteString(name(t.refs[i-1]))
		}
		b.WriteString(p)
	}
	return b.String()
}

// marked is the text with marks, as ParseText reads it.
func (t Text) marked() string {
	return t.Render(func(id tvc.ID) string { return Mark(id) })
}
