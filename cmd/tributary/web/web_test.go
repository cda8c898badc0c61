package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/cmd/tributary/web"
)

func TestPages(t *testing.T) {
	reg := prometheus.NewRegistry()
	served := prometheus.NewCounter(prometheus.CounterOpts{Name: "served_total"})
	reg.MustRegister(served)
	served.Inc()
	var ready web.Ready
	s := httptest.NewServer(web.Handler(reg, &ready))
	defer s.Close()
	get := func(path string) (int, string) {
		t.Helper()
		resp, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	for _, c := range []struct {
		path   string
		status int
		has    string
	}{
		{"/metrics", 200, "served_total 1"},
		{"/api/livez", 200, ""},
		{"/api/readyz", 503, "not ready"},
		{"/debug/pprof/goroutine?debug=1", 200, "web_test.TestPages"},
		{"/elsewhere", 404, ""},
	} {
		if status, body := get(c.path); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s: %d %.200s", c.path, status, body)
		}
	}
	ready.Set()
	if status, _ := get("/api/readyz"); status != 200 {
		t.Errorf("ready: %d", status)
	}
}
