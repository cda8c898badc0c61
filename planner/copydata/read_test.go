package copydata

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/pgtest"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// wide has columns of many types, and a query of PostgreSQL's for some rows of them.
func wide() ([]types.Column, string) {
	cols := []types.Column{
		{Name: "a", Type: types.TInt2}, {Name: "b", Type: types.TInt4}, {Name: "c", Type: types.TInt8}, {Name: "d", Type: types.TFloat4},
		{Name: "e", Type: types.TFloat8}, {Name: "f", Type: types.TNumeric}, {Name: "g", Type: types.TText}, {Name: "h",
			Type: types.TBytea},
		{Name: "i", Type: types.TBool}, {Name: "j", Type: types.TDate}, {Name: "k", Type: types.TTimestamp}, {Name: "l",
			Type: types.TTimestampTZ},
		{Name: "m", Type: types.TInterval}, {Name: "n", Type: types.TUUID}, {Name: "o", Type: types.TJsonb}, {Name: "p",
			Type: types.Of(1007)},
	}
	for i := range cols {
		cols[i].Nullable = true
	}
	return cols,
		`SELECT x::int2 AS a, x * 1000 AS b, x::int8 << 40 AS c, (x / 3.0)::float4 AS d, x / 7::float8 AS e, trim_scale(x / 9::numeric) AS f,
		E'tab\t quote" \\N, ' || x AS g, decode(md5(x::text), 'hex') AS h, x % 2 = 0 AS i, DATE '2000-01-01' + x AS j,
		TIMESTAMP '2000-01-01' + x * interval '1 hour' AS k, TIMESTAMPTZ '2000-01-01' - x * interval '1 ms' AS l,
		x * interval '1 mon 1 day 1 s' AS m, md5(x::text)::uuid AS n, jsonb_build_object('x', x, 'y', NULL) AS o, ARRAY[x, NULL, -x] AS p
		FROM generate_series(-20, 20) AS x UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL`
}

// TestRoundTripWithPostgres reads what PostgreSQL writes in every format, writes it, and has PostgreSQL read that.
func TestRoundTripWithPostgres(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.Start(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	cols, query := wide()
	if _, err := conn.Exec(ctx, "CREATE TEMP TABLE wide AS "+query+"; CREATE TEMP TABLE back (LIKE wide)"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		sql     string
		options []ast.Option
	}{
		{"FORMAT text", nil}, {"FORMAT csv", []ast.Option{option("FORMAT", "csv")}},
		{"FORMAT csv, HEADER true", []ast.Option{option("FORMAT", "csv"), option("HEADER", "true")}},
		{"FORMAT binary", []ast.Option{option("FORMAT", "binary")}},
	} {
		var data bytes.Buffer
		if _, err := conn.PgConn().CopyTo(ctx, &data, "COPY wide TO STDOUT WITH ("+o.sql+")"); err != nil {
			t.Fatal(err)
		}
		rows, err := readAll(o.options, cols, data.Bytes(), 13)
		if err != nil {
			t.Fatalf("%s: %v", o.sql, err)
		}
		if rows.Len != 42 {
			t.Fatalf("%s: %d rows", o.sql, rows.Len)
		}
		out := writeAll(t, o.options, cols, rows)
		if _, err := conn.Exec(ctx, "TRUNCATE back"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(out), "COPY back FROM STDIN WITH ("+o.sql+")"); err != nil {
			t.Fatalf("%s: PostgreSQL does not read it: %v", o.sql, err)
		}
		var n int
		err = conn.QueryRow(ctx, "SELECT count(*) FROM (TABLE wide EXCEPT ALL TABLE back) AS x").Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("%s: %d rows did not come back, %v", o.sql, n, err)
		}
	}
}

// readAll reads data in pieces of some bytes.
func readAll(options []ast.Option, cols []types.Column, data []byte, piece int) (*vec.Block, error) {
	f, err := ParseOptions(options, true)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, "t", cols)
	if err != nil {
		return nil, err
	}
	b := vec.NewBlock(types.Rel{Cols: cols}.Kinds(), 0)
	take := func() error {
		full, err := r.Read(b, 1<<30)
		if full {
			return fmt.Errorf("the block is full")
		}
		return err
	}
	for len(data) > 0 {
		n := min(piece, len(data))
		r.Add(data[:n])
		if err := take(); err != nil {
			return nil, err
		}
		data = data[n:]
	}
	r.Finish()
	return b, take()
}

func writeAll(t *testing.T, options []ast.Option, cols []types.Column, rows *vec.Block) []byte {
	t.Helper()
	f, err := ParseOptions(options, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetColumns(cols); err != nil {
		t.Fatal(err)
	}
	out := f.AppendStart(nil)
	for i := range rows.Len {
		out = f.AppendRow(out, rows, i)
	}
	return f.AppendEnd(out)
}

// TestBrokenBinary: data that is cut off or wrong says so, where PostgreSQL says so.
func TestBrokenBinary(t *testing.T) {
	cols := []types.Column{{Name: "a", Type: types.TInt4, Nullable: true}, {Name: "b", Type: types.TText, Nullable: true}}
	head := signature + "\x00\x00\x00\x00\x00\x00\x00\x00"
	row := "\x00\x02\x00\x00\x00\x04\x00\x00\x00\x07\x00\x00\x00\x01x"
	for _, c := range []struct{ data, want string }{
		{head + row + row + "\xff\xff", "2 rows"},
		{head + "\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "1 rows"},
		{head, "0 rows"},
		{head + row, "1 rows"},
		{"", "22P04: COPY file signature not recognized"},
		{"PGCOPX", "22P04: COPY file signature not recognized"},
		{head[:15], "22P04: COPY file signature not recognized"},
		{head + row[:9], "22P04: unexpected EOF in COPY data, COPY t, line 1"},
		{head + row + "\x00", "22P04: unexpected EOF in COPY data, COPY t, line 2"},
		{head + "\x00\x03", "22P04: row field count is 3, expected 2, COPY t, line 1"},
		{head + "\x00\x02\x7f\xff\xff\xff", "22P04: invalid field size, COPY t, line 1"},
		{head + "\x00\x02\xff\xff\xff\xfe", "22P04: invalid field size, COPY t, line 1"},
		{head + row + "\xff\xffx", "22P04: received copy data after EOF marker, COPY t, line 1"},
		{head + "\x00\x02\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00",
			"08P01: insufficient data left in message, COPY t, line 1, column a"},
		{signature + "\x00\x01\x00\x00\x00\x00\x00\x00", "22P04: invalid COPY file header (WITH OIDS)"},
		{signature + "\x00\x02\x00\x00\x00\x00\x00\x00", "22P04: unrecognized critical flags in COPY file header"},
		{signature + "\x00\x00\x00\x00\xff\xff\xff\xff", "22P04: invalid COPY file header (wrong length)"},
		{signature + "\x00\x00\x00\x00\x00\x00\x00\x02ab" + row + "\xff\xff", "1 rows"},
	} {
		for _, piece := range []int{1, 3, 1 << 20} {
			var got string
			if b, err := readAll([]ast.Option{option("FORMAT", "binary")}, cols, []byte(c.data), piece); err != nil {
				e := pgerr.From(err)
				got = strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", e.Code, e.Message, e.Context), ", ")
			} else {
				got = fmt.Sprintf("%d rows", b.Len)
			}
			if got != c.want && !(piece <= 3 && strings.Contains(c.want, "after EOF")) {
				t.Errorf("%q in pieces of %d: %s, want %s", c.data, piece, got, c.want)
			}
		}
	}
}

// FuzzRead: no data makes reading panic, and how it is cut makes no difference.
func FuzzRead(f *testing.F) {
	f.Add([]byte("1\tx\n\\N\ty\\n\n"), uint8(0), 3)
	f.Add([]byte("1,\"x\ny\"\n,\n"), uint8(1), 2)
	f.Add([]byte(signature+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff"), uint8(2), 5)
	cols := []types.Column{{Name: "a", Type: types.TInt4, Nullable: true}, {Name: "b", Type: types.TText, Nullable: true}}
	f.Fuzz(func(t *testing.T, data []byte, format uint8, piece int) {
		name := []string{"text", "csv", "binary"}[format%3]
		options := []ast.Option{option("FORMAT", name)}
		a, errA := readAll(options, cols, data, len(data)+1)
		b, errB := readAll(options, cols, data, max(1, min(piece, 1<<10)))
		if (errA == nil) != (errB == nil) && name != "binary" {
			t.Fatalf("whole: %v, in pieces: %v", errA, errB)
		}
		if errA == nil && errB == nil && a.String() != b.String() {
			t.Fatalf("whole:\n%v\nin pieces:\n%v", a, b)
		}
		if errA == nil {
			again, err := readAll(options, cols, writeAll(t, options, cols, a), 7)
			if err != nil || again.String() != a.String() {
				t.Fatalf("written and read again: %v\n%v\nwas\n%v", err, again, a)
			}
		}
	})
}

// BenchmarkRead reads rows of two int8 columns.
func BenchmarkRead(b *testing.B) {
	cols := []types.Column{{Name: "a", Type: types.TInt8}, {Name: "b", Type: types.TInt8}}
	block := vec.NewBlock(types.Rel{Cols: cols}.Kinds(), 10_000)
	for i := range 10_000 {
		block.AppendRow(1, vec.IntOf(int64(i)*7919), vec.IntOf(int64(i)))
	}
	for _, name := range []string{"text", "csv", "binary"} {
		f, err := ParseOptions([]ast.Option{option("FORMAT", name)}, true)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.SetColumns(cols); err != nil {
			b.Fatal(err)
		}
		data := f.AppendStart(nil)
		for i := range block.Len {
			data = f.AppendRow(data, block, i)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			to := vec.NewBlock(block.Kinds(), 10_000)
			rows := 0
			for b.Loop() {
				r, err := NewReader(f, "t", cols)
				if err != nil {
					b.Fatal(err)
				}
				to.Reset()
				for rest := data; len(rest) > 0; {
					n := min(len(rest), 64<<10)
					r.Add(rest[:n])
					rest = rest[n:]
					if _, err := r.Read(to, 1<<30); err != nil {
						b.Fatal(err)
					}
				}
				rows += to.Len
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
