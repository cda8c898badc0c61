package copydata

import (
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/row"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// Reader makes rows of data as it comes.
type Reader struct {
	f        *Format
	relation string
	cols     []types.Column
	scan     *scanner
	bin      *unpacker
	// match: the first row is still to be compared with the columns' names.
	match bool
	// forceNotNull and forceNull are the columns of the options of that name.
	forceNotNull, forceNull []bool
	// Refuse, if set, is asked about each row, alone in a block, that has a NULL in a column that is not nullable; its
	// error is given with the place of the row.
	Refuse func(one *vec.Block) error
	// Incomplete: every row is one to ask about, since the data lacks columns.
	Incomplete bool
	// Rows counts the rows that were read.
	Rows int64
}

// NewReader makes a reader of rows of the given columns; relation is for messages.
func NewReader(f *Format, relation string, cols []types.Column) (*Reader, error) {
	r := &Reader{f: f, relation: relation, cols: cols, match: f.match, forceNotNull: make([]bool, len(cols)),
		forceNull: make([]bool, len(cols))}
	if f.binary {
		r.bin = &unpacker{}
	} else {
		r.scan = newScanner(f)
	}
	if err := mark(cols, f.forceNotNull, r.forceNotNull, "FORCE_NOT_NULL"); err != nil {
		return nil, err
	}
	return r, mark(cols, f.forceNull, r.forceNull, "FORCE_NULL")
}

// Add gives the reader a piece of the data, which it copies. All rows before must have been read.
func (r *Reader) Add(data []byte) {
	if r.bin != nil {
		r.bin.add(data)
		return
	}
	if !r.scan.over {
		r.scan.add(data)
	}
}

// Finish says that no more data comes; what is left is still to be read.
func (r *Reader) Finish() {
	if r.bin != nil {
		r.bin.ended = true
		return
	}
	r.scan.finish()
}

// Read appends rows to a block until the block has most rows, or there are none for now; then full is false. After an
// error the block is of no use.
func (r *Reader) Read(to *vec.Block, most int) (full bool, err error) {
	for to.Len < most {
		var ok bool
		if r.bin != nil {
			ok, err = r.readBinary(to)
		} else {
			ok, err = r.readText(to)
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// readText reads a row in text or csv format; false if there is none.
func (r *Reader) readText(to *vec.Block) (bool, error) {
	ok, err := r.scan.next()
	if err != nil {
		return false, r.located(err, "", nil)
	}
	if ok && r.match {
		// It must match: another header the scanner has left out.
		r.match = false
		if err := r.checkHeader(); err != nil {
			return false, err
		}
		return r.readText(to)
	}
	if !ok {
		return false, nil
	}
	fields := r.scan.fields
	if len(fields) != len(r.cols) {
		return false, r.wrongCount(len(fields))
	}
	missing := r.Incomplete
	for i := range fields {
		f := &fields[i]
		if r.f.csv && (r.forceNull[i] || r.forceNotNull[i]) {
			r.applyForce(i, f)
		}
		if f.null {
			missing = missing || !r.cols[i].Nullable
			to.Cols[i].AppendNull()
			continue
		}
		if err := row.ParseText(r.cols[i].Type, f.bytes, &to.Cols[i]); err != nil {
			return false, r.located(err, r.cols[i].Name, f)
		}
	}
	return true, r.added(to, missing)
}

// added counts a row that was appended, and has it refused if that is to be.
func (r *Reader) added(to *vec.Block, missing bool) error {
	to.Len++
	r.Rows++
	if !missing || r.Refuse == nil {
		return nil
	}
	if err := r.Refuse(to.Slice(to.Len-1, to.Len)); err != nil {
		return r.located(err, "", nil)
	}
	return nil
}

// located gives an error its place in the data.
func (r *Reader) located(err error, column string, value *field) error {
	if r.bin != nil {
		return pgerr.From(err).WithContext(r.bin.context(r.relation, column))
	}
	return pgerr.From(err).WithContext(r.scan.context(r.relation, column, value))
}

// checkHeader compares the first row with the columns' names.
func (r *Reader) checkHeader() error {
	fail := func(format string, args ...any) error {
		return r.located(pgerr.Newf(pgerr.BadCopyFileFormat, format, args...), "", nil)
	}
	fields := r.scan.fields
	if len(fields) != len(r.cols) {
		return fail("wrong number of fields in header line: got %d, expected %d", len(fields), len(r.cols))
	}
	for i, c := range r.cols {
		switch f := &fields[i]; {
		case f.null:
			return fail("column name mismatch in header line field %d: got null value (%q), expected %q", i+1, r.f.null, c.Name)
		case string(f.bytes) != c.Name:
			return fail("column name mismatch in header line field %d: got %q, expected %q", i+1, f.bytes, c.Name)
		}
	}
	return nil
}

func (r *Reader) applyForce(i int, f *field) {
	switch {
	case r.forceNotNull[i] && f.null:
		f.null = false
	case r.forceNull[i] && !f.null && string(f.bytes) == r.f.null:
		f.null = true
	}
}

func (r *Reader) wrongCount(n int) error {
	e := pgerr.New(pgerr.BadCopyFileFormat, "extra data after last expected column")
	if n < len(r.cols) {
		e = pgerr.Newf(pgerr.BadCopyFileFormat, "missing data for column %q", r.cols[n].Name)
	}
	return r.located(e, "", nil)
}
