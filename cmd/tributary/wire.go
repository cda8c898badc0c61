package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/compute/controller"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/session"
	"github.com/tributary-db/tributary/sql/settings"
	"github.com/tributary-db/tributary/storage/collection"
	"github.com/tributary-db/tributary/storage/tvc"
)

// allSettings joins the settings that the doors know.
func allSettings() *settings.Set {
	return settings.NewSet(slices.Concat(session.Settings(), controller.Settings(), collection.Settings())...)
}

// coordParts is what the coordinator is made of beside its stores.
type coordParts struct {
	settings *settings.Set
	registry *prometheus.Registry
	log      *slog.Logger
	// sharing is how views are written; nil means as always.
	sharing controller.Sharing
}

// openCoord opens the stores and the coordinator over them; the function it gives closes them again.
func openCoord(ctx context.Context, o serveOptions, p coordParts) (*coord.Coord, func() error, error) {
	registers, objects, closeStores, err := o.open(ctx, o, p)
	if err != nil {
		return nil, nil, err
	}
	c, err := coord.New(ctx, coord.Options{Consensus: registers, Blob: objects, Random: rand.Reader, Registry: p.registry, Log: p.log,
		Clock:    func() tvc.Time { return tvc.Time(time.Now().UnixMicro()) },
		Settings: p.settings, Workers: o.workers, ViewSharing: p.sharing})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start: %w", err), closeStores())
	}
	return c, func() error { return errors.Join(c.Close(), closeStores()) }, nil
}
