package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A server listens on a socket in its data directory for what other commands on its machine ask of it. Who may use the
// directory may ask: it is its owner's alone.
const controlSocket = "control"

// controlPath gives a path of the socket that is short enough for one (107 bytes on Linux): close ends its use.
func controlPath(dir string) (path string, done func() error, err error) {
	path = filepath.Join(dir, controlSocket)
	if len(path) < 100 {
		return path, func() error { return nil }, nil
	}
	// Through an open directory every path is short.
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), controlSocket), f.Close, nil
}

// serveControl does for other commands what only the process that uses the directory can do, until stop is called. The
// directory is the server's, so a socket that is there is left from one that was killed.
func serveControl(dir string, d *dataDirectory, log *slog.Logger) (stop func() error, err error) {
	path, done, err := controlPath(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, done())
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	l.SetUnlinkOnClose(false)
	ctx, cancel := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("POST /backup", func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if !filepath.IsAbs(to) {
			http.Error(w, "where to is no absolute path", http.StatusBadRequest)
			return
		}
		log.Info("making a backup", "to", to)
		done, err := d.copyTo(r.Context(), to)
		if err != nil {
			log.Warn("a backup has failed", "to", to, "error", err)
			w.WriteHeader(http.StatusInternalServerError)
			done = err.Error()
		}
		fmt.Fprintln(w, done)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: stopGrace, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the server's socket fails", "error", err)
		}
	})
	return func() error {
		// A backup that is being made ends unfinished, and then nothing reads the stores any more.
		cancel()
		err := srv.Shutdown(context.Background())
		serving.Wait()
		if d.registers.InPlace() == nil { // or else the socket there is another server's
			if removed := os.Remove(path); !errors.Is(removed, os.ErrNotExist) {
				err = errors.Join(err, removed)
			}
		}
		return errors.Join(err, done())
	}, nil
}

// askForBackup has the server that uses a directory copy it.
func askForBackup(ctx context.Context, dir, to string) (string, error) {
	path, done, err := controlPath(dir)
	if err != nil {
		return "", err
	}
	defer done()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/backup?to="+url.QueryEscape(to), nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask the server that uses it: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("ask the server that uses it: %w", err)
	}
	text := strings.TrimSpace(string(body))
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server that uses it says: %s", text)
	}
	return text, nil
}
