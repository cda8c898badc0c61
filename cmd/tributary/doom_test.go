package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/storage/blob"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/shard"
)

// doomEnv makes a server that is started through the test binary end itself by SIGKILL, at a place in the way of a view's
// interval: a place, and the file that arms it. While that file is not there, the server is like any other.
const doomEnv = "TRIBUTARY_TEST_DOOM"

// The places.
const (
	// atStaged is when an interval is open and has rows, and is not sealed, since the one before it is being put.
	atStaged = "staged"
	// atEncoding is when one of the interval's objects is put, its writer has not been told, and another one comes: what
	// a single writer has after that is not encoded yet.
	atEncoding = "encoding"
	// atPut is when an object is put and its writer has not been told.
	atPut = "put"
	// atAppend is when all objects are put, before the step.
	atAppend = "append"
	// atDurable is when the step is durable and nobody has been told.
	atDurable = "durable"
)

// doom is the stores of a process that is going to end.
type doom struct {
	at, armedBy string
	// objects are how many are put before the step that it is about: others may come before.
	objects  int
	registry *prometheus.Registry
	mu       struct {
		sync.Mutex
		puts int
	}
}

// doomSpec is the value of doomEnv.
func doomSpec(at string, objects int, armedBy string) string {
	return fmt.Sprintf("%s:%d:%s", at, objects, armedBy)
}

// arm has a server that was started with a doomSpec die in the next interval of a view.
func arm(armedBy, view string) error {
	if err := os.WriteFile(armedBy+".new", []byte(view), 0o600); err != nil {
		return err
	}
	return os.Rename(armedBy+".new", armedBy)
}

// serveDoomed is "tributary serve" with the flags that startChild gives, over stores that end the process.
func serveDoomed(args []string, spec string) error {
	d := &doom{}
	words := strings.SplitN(spec, ":", 3)
	objects, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	d.at, d.objects, d.armedBy = words[0], objects, words[2]
	cmd := serveCommand()
	if err := cmd.ParseFlags(args); err != nil {
		return err
	}
	flag := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	workers, err := strconv.Atoi(flag("workers"))
	if err != nil {
		return err
	}
	return serve(context.Background(), serveOptions{stores: storeOptions{dataDir: flag("data-dir")}, sqlListen: flag("sql-listen"),
		httpListen: flag("http-listen"), logLevel: flag("log-level"), workers: workers, open: d.open})
}

func (d *doom) open(ctx context.Context, o serveOptions, p coordParts) (consensus.Store, blob.Store, func() error, error) {
	d.registry = p.registry
	registers, objects, closeStores, err := openStores(ctx, o, p)
	return doomedRegisters{registers, d}, doomedObjects{objects, d}, closeStores, err
}

// view is the shard of the view in whose interval the process is to end; "" if it is not armed.
func (d *doom) view() string {
	id, err := os.ReadFile(d.armedBy)
	if err != nil {
		return ""
	}
	return string(id)
}

func die() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {}
}

type doomedRegisters struct {
	consensus.Store
	d *doom
}

// Commit ends the process before or after a step that changes the view.
func (r doomedRegisters) Commit(ctx context.Context, units []consensus.Unit) ([]consensus.Outcome, error) {
	id := r.d.view()
	of := -1
	if id != "" {
		key := shard.RegisterKey(shard.ID(id))
		of = slices.IndexFunc(units, func(u consensus.Unit) bool {
			return slices.ContainsFunc(u, func(e consensus.Entry) bool { return e.Key == key && e.Data != nil })
		})
	}
	if of >= 0 && r.d.hasPut() < r.d.objects {
		of = -1 // a rollup, or how far the view is
	}
	if of >= 0 && r.d.at == atAppend {
		die()
	}
	out, err := r.Store.Commit(ctx, units)
	if of >= 0 && r.d.at == atDurable && err == nil && out[of].Done {
		die()
	}
	return out, err
}

// hasPut is how many objects of the view were put since the process is armed.
func (d *doom) hasPut() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.puts
}

type doomedObjects struct {
	blob.Store
	d *doom
}

// Put ends the process at an object of the view.
func (o doomedObjects) Put(ctx context.Context, key string, data []byte) error {
	id := o.d.view()
	if id == "" || !strings.HasPrefix(key, id+"/p") {
		return o.Store.Put(ctx, key, data)
	}
	switch o.d.at {
	case atStaged:
		o.d.dieWhenStaged()
	case atEncoding, atPut:
		o.d.mu.Lock()
		if o.d.mu.puts++; o.d.mu.puts > 1 {
			die()
		}
		if err := o.Store.Put(ctx, key, data); err != nil {
			panic(err)
		}
		if o.d.at == atPut {
			die()
		}
		o.d.mu.Unlock()
		select {}
	}
	err := o.Store.Put(ctx, key, data)
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	o.d.mu.puts++
	return err
}

// dieWhenStaged waits, while an interval is being put and so stays as it is, until what the view has staged changes: by
// rows of the next one.
func (d *doom) dieWhenStaged() {
	look := time.NewTicker(time.Millisecond)
	for before := d.staged(); d.staged() == before; <-look.C {
	}
	die()
}

func (d *doom) staged() float64 {
	families, err := d.registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if f.GetName() != "tributary_sink_staged_bytes" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == "materialize.public."+doomedView {
				return m.GetGauge().GetValue()
			}
		}
	}
	panic(fmt.Sprintf("%s has no metric", doomedView))
}
