package shard

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Describe shows a shard's state for people: its schemas, then what String says.
func (c *Client) Describe(ctx context.Context, id ID) (string, error) {
	st, err := c.loadExisting(ctx, id)
	if err != nil {
		return "", err
	}
	out := ""
	for i, s := range st.schemas {
		out += fmt.Sprintf("schema %d: %v", i+1, s.Rel)
		if s.Errors {
			out += ", or an error"
		}
		out += "\n"
	}
	return out + st.String(), nil
}

func (c *Client) loadExisting(ctx context.Context, id ID) (*state, error) {
	st, err := c.load(ctx, id)
	if err == nil && st == nil {
		err = fmt.Errorf("shard %s: %w", id, ErrNotFound)
	}
	return st, err
}

// Dump writes the rows of a shard, one a line, part by part: time, diff and the columns' values, with tabs between; \N is
// NULL, and a text that does not fit into a line is quoted as Go does. With an object's key it writes that part alone.
func (c *Client) Dump(ctx context.Context, id ID, object string, w io.Writer) error {
	st, err := c.loadExisting(ctx, id)
	if err != nil {
		return err
	}
	// A handle of its own, which shares no decoded part with the process's.
	sh := &Shard{id: id, client: c, key: st.key}
	out := bufio.NewWriter(w)
	found := object == ""
	for _, b := range st.batches {
		for n, r := range b.runs {
			for _, p := range r {
				if object != "" && (p.isInline() || partKey(id, p.object) != object) {
					continue
				}
				found = true
				fmt.Fprintf(out, "# batch %d [%v, %v), run %d, %s\n", b.id, b.lower, b.upper, n, p.describe(id))
				if err := sh.dumpPart(ctx, st, p, out); err != nil {
					return err
				}
			}
		}
	}
	if !found {
		return fmt.Errorf("shard %s names no part %s", id, object)
	}
	return out.Flush()
}

func (s *Shard) dumpPart(ctx context.Context, st *state, p *partRef, out *bufio.Writer) error {
	blocks, err := s.fresh(ctx, st, p)
	if err != nil {
		return err
	}
	schema := st.schemas[p.schema-1]
	var line []byte
	for _, block := range blocks {
		for i := range block.Len {
			at := p.times.min
			if block.Times != nil {
				at = tvc.Time(block.Times[i])
			}
			line = fmt.Appendf(line[:0], "%d\t%+d", at, block.Diff(i))
			for c := range block.Cols {
				line = appendValue(append(line, '\t'), schema, c, &block.Cols[c], i)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendValue(line []byte, schema Schema, column int, v *vec.Vec, i int) []byte {
	if v.IsNull(i) {
		return append(line, `\N`...)
	}
	if column >= len(schema.Rel.Cols) {
		return fmt.Appendf(line, "error %q", v.Bytes(i))
	}
	from := len(line)
	line = row.AppendText(line, schema.Rel.Cols[column].Type, v, i)
	if text := line[from:]; bytes.ContainsAny(text, "\t\r\n\"\\") || len(text) == 0 {
		return fmt.Appendf(line[:from], "%q", bytes.Clone(text))
	}
	return line
}
