package adt_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
)

// TestTextGolden reads and prints the corpora; TestTextAgainstOracle holds the same against PostgreSQL.
func TestTextGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			parse, ok := parsers[d.Cmd]
			if !ok {
				t.Fatalf("no type %s", d.Cmd)
			}
			var b strings.Builder
			for _, s := range lines(t, d.Input+"\n") {
				fmt.Fprintf(&b, "%s\n", parse(s))
			}
			return b.String()
		})
	})
}

func TestTextAgainstOracle(t *testing.T) {
	o := newOracle(t)
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			expr := "$1::" + d.Cmd
			switch d.Cmd {
			case "numeric":
				expr = "trim_scale($1::numeric)"
			case "pair":
				expr = "$1::pg_temp.pair"
			case "varchar":
				expr = "$1::varchar(3)"
			}
			inputs := lines(t, d.Input+"\n")
			if d.Cmd == "jsonb" {
				// PostgreSQL prints blanks: hold what we make of its text against what we make of the input.
				outs := o.eval(expr, inputs)
				for i, want := range outs {
					if !strings.HasPrefix(want, "error") {
						want = parsers["jsonb"](want)
					}
					if got := parsers["jsonb"](inputs[i]); got != want {
						t.Errorf("%q:\n  ours   %s\n  oracle %s", inputs[i], got, want)
					}
				}
				return d.Expected
			}
			o.compare(expr, inputs, parsers[d.Cmd])
			return d.Expected
		})
	})
}

// TestTextMutationsAgainstOracle holds inputs that are nearly right, or right in an unusual way, against
// PostgreSQL.
func TestTextMutationsAgainstOracle(t *testing.T) {
	o := newOracle(t)
	r := rand.New(rand.NewPCG(9, mutationSeed))
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "date", "time", "timestamp", "timestamptz", "interval", "int4[]", "text[]":
			default:
				return d.Expected
			}
			corpus := lines(t, d.Input+"\n")
			var inputs []string
			for len(inputs) < sampled(1500) {
				if s := mutate(r, corpus); utf8.ValidString(s) && !dependsOnNow(s) {
					inputs = append(inputs, s)
				}
			}
			inputs = slices.DeleteFunc(inputs, func(s string) bool {
				return strings.HasSuffix(parsers[d.Cmd](s), "not recognized")
			})
			o.compare("$1::"+d.Cmd, inputs, parsers[d.Cmd])
			return d.Expected
		})
	})
}

const mutationSeed = 1

// posixDST is a time zone with rules of its own, such as foo5bar, which PostgreSQL makes of many a typing
// error and we refuse.
var posixDST = regexp.MustCompile(`[a-z/]+[-+0-9:]*[0-9][a-z/.]|--`)

// dependsOnNow says whether PostgreSQL looks at its clock or reads what we refuse.
func dependsOnNow(s string) bool {
	s = strings.ToLower(s)
	if posixDST.MatchString(s) {
		return true
	}
	for _, w := range []string{"now", "today", "tomorrow", "yesterday"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func mutate(r *rand.Rand, corpus []string) string {
	words := strings.Fields(corpus[r.IntN(len(corpus))])
	other := strings.Fields(corpus[r.IntN(len(corpus))])
	if len(words) == 0 || len(other) == 0 {
		return ""
	}
	switch r.IntN(5) {
	case 0: // a word of another one in place of one
		words[r.IntN(len(words))] = other[r.IntN(len(other))]
	case 1: // a word of another one more
		words = slices.Insert(words, r.IntN(len(words)+1), other[r.IntN(len(other))])
	case 2: // words in another order
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	case 3: // a byte changed
		w := []byte(words[r.IntN(len(words))])
		w[r.IntN(len(w))] = "0123456789:-+./ TzP"[r.IntN(19)]
		words[r.IntN(len(words))] = string(w)
	case 4: // a byte gone
		i := r.IntN(len(words))
		at := r.IntN(len(words[i]))
		words[i] = words[i][:at] + words[i][at+1:]
	}
	return strings.Join(words, " ")
}
