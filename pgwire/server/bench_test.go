package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// BenchmarkSelectConstant is the way of the shortest statement there is, to and fro, in pgx's modes.
func BenchmarkSelectConstant(b *testing.B) {
	s := serve(b)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		b.Run(mode.String(), func(b *testing.B) {
			conn := s.connect(b)
			b.ReportAllocs()
			for b.Loop() {
				var n int
				if err := conn.QueryRow(context.Background(), "SELECT 1", mode).Scan(&n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInsert is a small write without a disk beneath it.
func BenchmarkInsert(b *testing.B) {
	s := serve(b)
	conn := s.connect(b)
	if _, err := conn.Exec(context.Background(), "CREATE TABLE t (a int8, b text)"); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := conn.Exec(context.Background(), "INSERT INTO t VALUES ($1, $2)", i, "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCopyIn loads rows of two int8 columns through the protocol.
func BenchmarkCopyIn(b *testing.B) {
	s := serve(b)
	conn := s.connect(b)
	if _, err := conn.Exec(context.Background(), "CREATE TABLE t (a int8, b int8)"); err != nil {
		b.Fatal(err)
	}
	var data strings.Builder
	const rows = 100_000
	for i := range rows {
		fmt.Fprintf(&data, "%d\t%d\n", i*7919, i)
	}
	total := 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.PgConn().CopyFrom(context.Background(), strings.NewReader(data.String()), "COPY t FROM STDIN"); err != nil {
			b.Fatal(err)
		}
		total += rows
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkRows sends rows of two columns to a client that throws them away.
func BenchmarkRows(b *testing.B) {
	s := serve(b)
	conn := s.connect(b)
	const rows = 100_000
	total := 0
	b.ReportAllocs()
	for b.Loop() {
		r := conn.PgConn().Exec(context.Background(), fmt.Sprintf("SELECT x, x::text FROM generate_series(1, %d) AS x", rows))
		for r.NextResult() {
			for rr := r.ResultReader(); rr.NextRow(); {
				total++
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
