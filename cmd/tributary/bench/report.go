package bench

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Report is what was measured, put together.
type Report struct {
	Host  string `json:"host"`
	Scale string `json:"scale"`
	// Quick says that times mean nothing.
	Quick  bool          `json:"quick"`
	Tables []TableReport `json:"tables"`
}

// TableReport is one table.
type TableReport struct {
	Name  string      `json:"name"`
	Title string      `json:"title"`
	Ways  []WayReport `json:"ways"`
	Goals []Goal      `json:"goals"`
	// Others is the largest share of the processors that others used during a cell; below 0 it is unknown.
	Others  float64 `json:"others"`
	columns []column
	plots   string
}

// WayReport is what one way took.
type WayReport struct {
	Way    string            `json:"way"`
	Values map[string]Spread `json:"values"`
}

// Spread is a value over the runs.
type Spread struct {
	Mean float64   `json:"mean"`
	Min  float64   `json:"min"`
	Max  float64   `json:"max"`
	Runs []float64 `json:"runs"`
}

// median is the middle one of the runs.
func (s Spread) median() float64 {
	sorted := slices.Sorted(slices.Values(s.Runs))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Goal is something hoped for, and what came of it.
type Goal struct {
	What   string  `json:"what"`
	AtMost float64 `json:"at_most"`
	Is     float64 `json:"is"`
	Met    bool    `json:"met"`
}

func (b *bench) report(chosen []table, host string) *Report {
	r := &Report{Host: host, Scale: b.scale(), Quick: b.o.Quick}
	for _, t := range chosen {
		out := TableReport{Name: t.name, Title: t.title, columns: t.columns, plots: t.plots}
		for _, w := range t.ways {
			out.Ways = append(out.Ways, b.way(t, w, &out.Others))
		}
		for _, g := range t.goals {
			is := out.median(g.way, g.key)
			if g.over != "" {
				is /= out.median(g.over, g.key)
			}
			// The hundredth part of a hundredth is the machine's.
			out.Goals = append(out.Goals, Goal{What: g.what, AtMost: g.atMost, Is: is, Met: is <= g.atMost+1e-4})
		}
		r.Tables = append(r.Tables, out)
	}
	return r
}

func (b *bench) way(t table, w way, others *float64) WayReport {
	out := WayReport{Way: w.name, Values: map[string]Spread{}}
	for _, c := range b.cells {
		if c.Table != t.name || c.Way != w.name {
			continue
		}
		*others = max(*others, c.Others)
		for k, v := range c.Values {
			s := out.Values[k]
			if len(s.Runs) == 0 {
				s.Min, s.Max = v, v
			}
			s.Min, s.Max, s.Runs = min(s.Min, v), max(s.Max, v), append(s.Runs, v)
			s.Mean += (v - s.Mean) / float64(len(s.Runs))
			out.Values[k] = s
		}
	}
	return out
}

func (t *TableReport) median(way, key string) float64 {
	for _, w := range t.Ways {
		if w.Way == way {
			return w.Values[key].median()
		}
	}
	return 0
}

// text writes the tables, a line for each value and a column for each way: mean (least to greatest).
func (r *Report) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s; %s: mean (least to greatest)\n", r.Host, r.Scale)
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s: %s; others used up to %.0f%% of the processors\n", t.Name, t.Title, 100*t.Others)
		for _, way := range t.Ways {
			fmt.Fprintf(w, "\t%s", way.Way)
		}
		fmt.Fprintln(w)
		for _, c := range t.columns {
			fmt.Fprint(w, c.title)
			for _, way := range t.Ways {
				s := way.Values[c.key]
				fmt.Fprintf(w, "\t%.*f (%.*f to %.*f)", c.digits, s.Mean, c.digits, s.Min, c.digits, s.Max)
			}
			fmt.Fprintln(w)
		}
		for _, g := range t.Goals {
			met := "met"
			switch {
			case r.Quick:
				met = "which --quick cannot tell"
			case !g.Met:
				met = "MISSED"
			}
			fmt.Fprintf(w, "goal: %s at most %.4g: %.4g, %s\n", g.What, g.AtMost, g.Is, met)
		}
	}
	return w.Flush()
}

// plot draws each table's most telling value: a bar for each way.
func (r *Report) plot(dir string) error {
	for _, t := range r.Tables {
		p := plot.New()
		p.Title.Text, p.Y.Min = t.Title, 0
		for _, c := range t.columns {
			if c.key == t.plots {
				p.Y.Label.Text = c.title
			}
		}
		var bars plotter.Values
		var names []string
		for _, w := range t.Ways {
			bars, names = append(bars, w.Values[t.plots].Mean), append(names, w.Way)
		}
		chart, err := plotter.NewBarChart(bars, vg.Points(30))
		if err != nil {
			return fmt.Errorf("draw table %s: %w", t.Name, err)
		}
		p.Add(chart)
		p.NominalX(names...)
		if err := p.Save(vg.Points(150+100*float64(len(names))), vg.Points(300), filepath.Join(dir, t.Name+".svg")); err != nil {
			return fmt.Errorf("draw table %s: %w", t.Name, err)
		}
	}
	return nil
}
