package shard

import (
	"fmt"
	"strings"
)

// String shows a state for people and tests.
func (s *state) String() string {
	if s == nil {
		return "no shard\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version %d since %v upper %v", s.version, s.since, s.upper)
	if s.sealed {
		b.WriteString(" sealed\n")
		return b.String()
	}
	fmt.Fprintf(&b, " schema %d rows %d Σdiff %d fingerprint %v", s.schemaID(), s.totals.Rows, s.totals.DiffSum, s.totals.Fingerprint)
	if s.inlineBytes > 0 {
		fmt.Fprintf(&b, " inline %d", s.inlineBytes)
	}
	if s.objectRuns > 0 {
		fmt.Fprintf(&b, " object-runs %d", s.objectRuns)
	}
	if s.rollup.version > 0 {
		fmt.Fprintf(&b, " rollup r%d-%d of version %d", s.rollup.object.epoch, s.rollup.object.n, s.rollup.version)
	}
	b.WriteByte('\n')
	for _, t := range s.tokens {
		fmt.Fprintf(&b, "  token %d-%d\n", t.Epoch, t.N)
	}
	for _, x := range s.batches {
		fmt.Fprintf(&b, "  batch %d [%v, %v) rows %d Σdiff %d\n", x.id, x.lower, x.upper, x.totals.Rows, x.totals.DiffSum)
		for _, r := range x.runs {
			b.WriteString("    run")
			for _, p := range r {
				b.WriteString(" " + p.String())
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (p *partRef) String() string {
	where := fmt.Sprintf("inline %d B", len(p.inline))
	if !p.isInline() {
		where = fmt.Sprintf("p%d-%d %d B", p.object.epoch, p.object.n, p.size)
	}
	at := fmt.Sprintf("at %d", p.times.min)
	if p.times.own {
		at = fmt.Sprintf("at %d to %d", p.times.min, p.times.max)
	}
	return fmt.Sprintf("(%s, %d rows, schema %d, %s)", where, p.rows, p.schema, at)
}
