package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
)

// TestABucketThatRefuses: what the server of the bucket says is told to the client, with the bucket's name, as an error of
// input and output; what needs no object goes on, and so does everything once the bucket is well.
func TestABucketThatRefuses(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	next := gofakes3.New(backend).Server()
	type refusal struct {
		status int
		code   string
		// times is how many more requests are refused.
		times atomic.Int64
	}
	var refusing atomic.Pointer[refusal]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r := refusing.Load(); r != nil && r.times.Add(-1) >= 0 {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(r.status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>for a reason</Message></Error>", r.code)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	conn, _, _ := serveOn(t, func(ctx context.Context, _ serveOptions, _ coordParts) (consensus.Store, blob.Store, func() error, error) {
		objects, err := blob.OpenS3(ctx, "s3://bucket/env?region=us-east-1&endpoint="+server.URL)
		return consensus.NewMemory(), objects, func() error { return nil }, err
	})
	exec1(t, conn, "ALTER SYSTEM SET storage_cache_max_bytes = 0", "CREATE TABLE t (a int8, b text)", fmt.Sprintf(largeInsert, 0),
		"CREATE TABLE small (a int8)")
	want := []string{"0\t20000"}
	for i, r := range []*refusal{
		{status: 403, code: "AccessDenied"}, {status: 404, code: "NoSuchBucket"}, {status: 400, code: "ExpiredToken"},
		{status: 403, code: "InvalidAccessKeyId"}, {status: 503, code: "SlowDown"}, {status: 500, code: "InternalError"},
	} {
		r.times.Store(2)
		refusing.Store(r)
		i++
		if r.status < 500 {
			r.times.Store(1 << 30)
			failsWith(t, conn, fmt.Sprintf(largeInsert, i), "58030", "put object u", "bucket bucket at "+server.URL, r.code+": for a reason")
			failsWith(t, conn, "SELECT count(*) FROM t", "58030", "get object u", "bucket bucket at "+server.URL, r.code+": for a reason")
		} else {
			exec1(t, conn, fmt.Sprintf(largeInsert, i)) // it is tried again
			want = append(want, fmt.Sprintf("%d\t20000", i))
		}
		exec1(t, conn, fmt.Sprintf("INSERT INTO small VALUES (%d)", i))
	}
	refusing.Store(nil)
	if got := table(t, conn, "SELECT a, count(*) FROM t GROUP BY a ORDER BY a"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := strings.Join(table(t, conn, "SELECT a FROM small ORDER BY a"), " "); got != "1 2 3 4 5 6" {
		t.Error(got)
	}
}
