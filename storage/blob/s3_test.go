package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/tributary-db/tributary/storage/blob"
)

// fake is an S3 of the test's own, with a bucket named "bucket".
type fake struct {
	server  *httptest.Server
	backend *s3mem.Backend

	mu struct {
		sync.Mutex
		// spoil is called for each request, with how many there were of its method; it says whether it has answered.
		spoil func(w http.ResponseWriter, r *http.Request, n int, next http.Handler) bool
		seen  map[string]int
	}
}

func newFake(tb testing.TB) *fake {
	tb.Helper()
	// As the environment of a server would have them.
	if t, ok := tb.(*testing.T); ok {
		t.Setenv("AWS_ACCESS_KEY_ID", "key")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	}
	f := &fake{backend: s3mem.New()}
	f.mu.seen = map[string]int{}
	if err := f.backend.CreateBucket("bucket"); err != nil {
		tb.Fatal(err)
	}
	next := gofakes3.New(f.backend).Server()
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.mu.seen[r.Method]++
		n, spoil := f.mu.seen[r.Method], f.mu.spoil
		f.mu.Unlock()
		if spoil == nil || !spoil(w, r, n, next) {
			next.ServeHTTP(w, r)
		}
	}))
	tb.Cleanup(f.server.Close)
	return f
}

func (f *fake) url(place string) string {
	return "s3://" + place + "?region=us-east-1&endpoint=" + f.server.URL
}

// spoil begins to spoil requests, and counts anew.
func (f *fake) spoil(s func(w http.ResponseWriter, r *http.Request, n int, next http.Handler) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.spoil, f.mu.seen = s, map[string]int{}
}

func (f *fake) requests(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.seen[method]
}

func openS3(tb testing.TB, at string) *blob.S3 {
	tb.Helper()
	s, err := blob.OpenS3(context.Background(), at)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func refuse(w http.ResponseWriter, status int, code string) bool {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
	return true
}

// TestS3TriesAgain: what may go better at another moment is tried again, and then succeeds.
func TestS3TriesAgain(t *testing.T) {
	for name, spoil := range map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler) bool{
		"busy": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool { return refuse(w, 503, "SlowDown") },
		"failed": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			return refuse(w, 500, "InternalError")
		},
		"throttled": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
			return refuse(w, 429, "TooManyRequests")
		},
		"digest": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool { return refuse(w, 400, "BadDigest") },
		"cut": func(http.ResponseWriter, *http.Request, http.Handler) bool {
			panic(http.ErrAbortHandler)
		},
		"done, then cut": func(_ http.ResponseWriter, r *http.Request, next http.Handler) bool {
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		},
		"half a body": func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
			w.WriteHeader(rec.Code)
			w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
			panic(http.ErrAbortHandler)
		},
		"a flipped bit": func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
			if r.Method != http.MethodGet || strings.Contains(r.URL.RawQuery, "list-type") {
				return false
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			body := rec.Body.Bytes()
			body[len(body)/2] ^= 1
			w.Write(body)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, f := t.Context(), newFake(t)
			s := openS3(t, f.url("bucket"))
			f.spoil(func(w http.ResponseWriter, r *http.Request, n int, next http.Handler) bool {
				return n <= 2 && spoil(w, r, next)
			})
			want := bytes.Repeat([]byte("0123456789"), 10_000)
			if err := s.Put(ctx, "a/b", want); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Get(ctx, "a/b"); err != nil || !bytes.Equal(got, want) {
				t.Fatal(len(got), err)
			}
			f.spoil(func(w http.ResponseWriter, r *http.Request, n int, next http.Handler) bool {
				return n <= 2 && spoil(w, r, next)
			})
			if got := list(t, s, ""); got != "a/b:100000 " {
				t.Fatal(got)
			}
			if err := s.Delete(ctx, "a/b"); err != nil {
				t.Fatal(err)
			}
			if got := list(t, s, ""); got != "" {
				t.Fatal(got)
			}
		})
	}
}

// TestS3GivesUp: tries are bounded, end with ctx, and are not made at all where they cannot help.
func TestS3GivesUp(t *testing.T) {
	f := newFake(t)
	s := openS3(t, f.url("bucket"))
	f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		return refuse(w, 503, "SlowDown")
	})
	if err := s.Put(t.Context(), "k", nil); err == nil || !strings.Contains(err.Error(), "put object k (0 bytes)") || f.requests("PUT") != 6 {
		t.Errorf("%v after %d requests", err, f.requests("PUT"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		cancel()
		return refuse(w, 503, "SlowDown")
	})
	if _, err := s.Get(ctx, "k"); err == nil || f.requests("GET") != 1 {
		t.Errorf("%v after %d requests", err, f.requests("GET"))
	}
	f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		return refuse(w, 403, "AccessDenied")
	})
	if _, err := s.List(t.Context(), ""); err == nil || errors.Is(err, blob.ErrNotFound) || f.requests("GET") != 1 {
		t.Errorf("%v after %d requests", err, f.requests("GET"))
	}
	f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		return refuse(w, 404, "NoSuchBucket")
	})
	if _, err := s.Get(t.Context(), "k"); err == nil || errors.Is(err, blob.ErrNotFound) {
		t.Errorf("an object of a bucket that is gone: %v, which is not to be taken for one that was deleted", err)
	}
}

// TestS3SaysWhatTheServerSaid: an error names the object, the bucket, the server and its reason, by code and in words.
func TestS3SaysWhatTheServerSaid(t *testing.T) {
	f := newFake(t)
	s := openS3(t, f.url("bucket/folder"))
	for code, status := range map[string]int{"AccessDenied": 403, "InvalidAccessKeyId": 403, "ExpiredToken": 400, "NoSuchBucket": 404} {
		f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
			return refuse(w, status, code)
		})
		_, get := s.Get(t.Context(), "u1/k")
		_, list := s.List(t.Context(), "u1/")
		for name, err := range map[string]error{
			"put object u1/k": s.Put(t.Context(), "u1/k", []byte("x")), "get object u1/k": get, "list objects u1/": list,
			"delete object u1/k": s.Delete(t.Context(), "u1/k"),
		} {
			var server *blob.ServerError
			if !errors.As(err, &server) || server.Bucket != "bucket" || server.Endpoint != f.server.URL {
				t.Errorf("%s, %s: %v", code, name, err)
				continue
			}
			for _, want := range []string{name, "bucket bucket at " + f.server.URL, code + ": no"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", code, err, want)
				}
			}
		}
		if f.requests("PUT") != 1 || f.requests("DELETE") != 1 {
			t.Errorf("%s: asked %d times to put and %d times to delete", code, f.requests("PUT"), f.requests("DELETE"))
		}
	}
	f.spoil(func(w http.ResponseWriter, _ *http.Request, _ int, _ http.Handler) bool {
		return refuse(w, 403, "AccessDenied")
	})
	if _, err := blob.OpenS3(t.Context(), f.url("bucket")); err == nil || !strings.Contains(err.Error(), "bucket bucket at "+f.server.URL) {
		t.Error(err)
	}
}

// TestS3NoticesDamage: an object that has changed where it lies is an error, not data.
func TestS3NoticesDamage(t *testing.T) {
	f := newFake(t)
	s := openS3(t, f.url("bucket"))
	if err := s.Put(t.Context(), "k", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	o, err := f.backend.GetObject("bucket", "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.backend.PutObject("bucket", "k", o.Metadata, strings.NewReader("abd"), 3, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "k"); !errors.Is(err, blob.ErrCorrupt) || !strings.Contains(err.Error(), "checksum") {
		t.Error(err)
	}
}

// TestS3ListsPastAPage lists more objects than one answer has.
func TestS3ListsPastAPage(t *testing.T) {
	f := newFake(t)
	for i := range 2500 {
		_, err := f.backend.PutObject("bucket", fmt.Sprintf("x/u/%04d", i), map[string]string{}, strings.NewReader("a"), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	infos, err := openS3(t, f.url("bucket/x")).List(t.Context(), "u/")
	if err != nil || len(infos) != 2500 {
		t.Fatal(len(infos), err)
	}
	for i, o := range infos {
		if o.Key != fmt.Sprintf("u/%04d", i) || o.Size != 1 {
			t.Fatal(i, o)
		}
	}
}

// TestS3FoldersAreApart: environments in folders of one bucket do not see each other.
func TestS3FoldersAreApart(t *testing.T) {
	f := newFake(t)
	a, b := openS3(t, f.url("bucket/e1")), openS3(t, f.url("bucket/e10"))
	if err := errors.Join(a.Put(t.Context(), "k", []byte("a")), b.Put(t.Context(), "l", []byte("b"))); err != nil {
		t.Fatal(err)
	}
	if x, y := list(t, a, ""), list(t, b, ""); x != "k:1 " || y != "l:1 " {
		t.Error(x, y)
	}
	o, err := f.backend.GetObject("bucket", "e1/k", nil)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(o.Contents); err != nil || string(data) != "a" {
		t.Error(string(data), err)
	}
}

func TestS3RefusesURLs(t *testing.T) {
	f := newFake(t)
	for at, want := range map[string]string{
		"":                                  "no URL of the form s3://bucket/folder",
		"http://bucket":                     "no URL of the form s3://bucket/folder",
		"s3:///folder":                      "no URL of the form s3://bucket/folder",
		"s3://key:secret@bucket":            "credentials belong into the environment",
		"s3://bucket/../x":                  "object key",
		"s3://bucket?zone=x":                `parameter "zone"`,
		"s3://bucket?endpoint=x:9000":       "no URL of the form https://host:port",
		"s3://bucket?endpoint=http://h/x":   "no URL of the form https://host:port",
		f.url("none"):                       "there is no such bucket",
		"s3://b\x00":                        "invalid",
		"s3://bucket?endpoint=ftp://h:2000": "no URL of the form https://host:port",
	} {
		if _, err := blob.OpenS3(t.Context(), at); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", at, err, want)
		}
	}
}
