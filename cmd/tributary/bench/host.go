package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// foreignLimit is how much of the machine others may use while a cell is measured, before it is measured again.
const foreignLimit = 0.10

// host is a look at what the machine and this process have done so far.
type host struct {
	at time.Time
	// busy and all are ticks of the processors; known says that the machine tells them.
	busy, all float64
	known     bool
	own       float64 // seconds of processor time
}

func lookAtHost() host {
	h := host{at: time.Now()}
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		h.own = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	f, err := os.Open("/proc/stat")
	if err != nil {
		return h
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		return h
	}
	for i, field := range strings.Fields(lines.Text())[1:] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil || i > 7 { // what follows is counted already
			break
		}
		h.all += n
		if i != 3 && i != 4 { // idle, waiting for disks
			h.busy += n
		}
	}
	h.known = h.all > 0
	return h
}

// since gives what share of the machine this process and all others have used since before; others is below 0 if that
// cannot be told.
func (h host) since(before host) (own, others float64) {
	cpus := float64(runtime.NumCPU())
	took := h.at.Sub(before.at).Seconds()
	own = (h.own - before.own) / (took * cpus)
	if !h.known || !before.known || h.all == before.all {
		return own, -1
	}
	return own, max(0, (h.busy-before.busy)/(h.all-before.all)-own)
}

// describeHost tells what is measured on.
func describeHost() string {
	model := runtime.GOOS + "/" + runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("%d processors (%s), load before %s, %s", runtime.NumCPU(), model, load, runtime.Version())
}

// heap watches how large this process's heap gets.
type heap struct {
	base, peak atomic.Uint64
	stop, done chan struct{}
}

const heapEvery = 10 * time.Millisecond

func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// watchHeap begins to watch, after what is not used any more has been freed.
func watchHeap() *heap {
	debug.FreeOSMemory()
	h := &heap{stop: make(chan struct{}), done: make(chan struct{})}
	h.base.Store(heapBytes())
	go func() {
		defer close(h.done)
		tick := time.NewTicker(heapEvery)
		defer tick.Stop()
		for {
			h.peak.Store(max(h.peak.Load(), heapBytes()))
			select {
			case <-tick.C:
			case <-h.stop:
				return
			}
		}
	}()
	return h
}

// end gives by how much the heap has grown at most.
func (h *heap) end() float64 {
	close(h.stop)
	<-h.done
	return float64(h.peak.Load() - min(h.peak.Load(), h.base.Load()))
}

// goroutinesStarted counts the goroutines that were ever started.
func goroutinesStarted() float64 {
	s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}
