package shard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// machine is the pure state under a script. After every operation the records are encoded, decoded and applied to
// the state before, and the state goes through a rollup: all must agree.
type machine struct {
	t       *testing.T
	st      *state
	bound   func(tvc.Frontier) tvc.Frontier
	objects uint64
	bytes   int
	quick   bool // leave the rollup out
}

func (m *machine) do(op Op) (result string) {
	defer func() {
		if r := recover(); r != nil {
			v, ok := r.(invariants.Violation)
			if !ok {
				panic(r)
			}
			result = "violation: " + v.Message + "\n"
		}
	}()
	records, refusal := m.st.decide(op, m.bound)
	if refusal != nil {
		return "refused: " + refusal.String() + "\n"
	}
	if len(records) == 0 {
		return "nothing to do\n"
	}
	next := m.st.apply(records)
	data := encodeEntry(Token{1, 7}, records)
	m.bytes = len(data)
	token, decoded, err := decodeEntry(data)
	if err != nil || token != (Token{1, 7}) {
		m.t.Fatal(token, err)
	}
	if again := m.st.apply(decoded); !m.quick && again.String() != next.String() {
		m.t.Fatalf("applied after decoding:\n%s\nwant\n%s", again, next)
	}
	if m.quick {
		m.st = next
		return "done"
	}
	rolled, err := decodeRollup(encodeRollup(next))
	if !next.sealed && (err != nil || rolled.String() != next.String()) {
		m.t.Fatalf("%v: rolled up:\n%s\nwant\n%s", err, rolled, next)
	}
	m.st = next
	return fmt.Sprintf("done: since %v upper %v\n", next.since, next.upper)
}

// written makes parts of which only the references matter.
func (m *machine) written(d *datadriven.TestData) *Written {
	w := &Written{stamp: true, schema: m.st.schemaID()}
	if d.HasArg("schema") {
		w.schema = SchemaID(uintArg(m.t, d, "schema", 0))
	}
	rows := int(uintArg(m.t, d, "rows", 1))
	if d.HasArg("times") {
		lo, hi, _ := strings.Cut(stringArg(m.t, d, "times"), "-")
		w.stamp = false
		fmt.Sscan(lo, &w.times.min)
		fmt.Sscan(hi, &w.times.max)
		w.times.own = lo != hi
	}
	part := func() *partRef {
		w.totals = w.totals.Add(Totals{Rows: int64(rows), DiffSum: int64(rows), Fingerprint: tvc.Fingerprint{uint64(rows), 1}})
		return &partRef{schema: w.schema, rows: rows, slot: &slot{}, times: w.times}
	}
	if n := uintArg(m.t, d, "inline", 0); n > 0 {
		p := part()
		p.inline = make([]byte, n)
		w.runs = append(w.runs, run{p})
	}
	for range uintArg(m.t, d, "objects", 0) {
		p := part()
		m.objects++
		p.object, p.size = objectName{1, m.objects}, int64(uintArg(m.t, d, "size", 1000))
		w.runs = append(w.runs, run{p})
	}
	if d.HasArg("diff") {
		w.totals.DiffSum = int64(uintArg(m.t, d, "diff", 0))
	}
	return w
}

func uintArg(t *testing.T, d *datadriven.TestData, name string, otherwise uint64) uint64 {
	if !d.HasArg(name) {
		return otherwise
	}
	var x uint64
	d.ScanArgs(t, name, &x)
	return x
}

func stringArg(t *testing.T, d *datadriven.TestData, name string) string {
	var x string
	d.ScanArgs(t, name, &x)
	return x
}

// scriptTypes are the types that a column of a script may have, int8 if it says nothing.
var scriptTypes = map[string]types.T{
	"": types.TInt8, "int4": types.TInt4, "text": types.TText, "bytea": types.TBytea, "jsonb": types.TJsonb,
	"varchar5": {OID: types.OIDVarchar, Mod: 9},
}

// schemaOf reads columns as in a,b:text?; those with ? are nullable.
func schemaOf(columns string, errors bool) Schema {
	s := Schema{Errors: errors}
	for _, c := range strings.Split(columns, ",") {
		c, nullable := strings.CutSuffix(c, "?")
		name, of, _ := strings.Cut(c, ":")
		s.Rel.Cols = append(s.Rel.Cols, types.Column{Name: name, Type: scriptTypes[of], Nullable: nullable})
	}
	return s
}

// TestStateMachine drives the pure state by scripts, each of whose answers is written down.
//
// Of what must be kept, this is: upper moves only by an append whose lower is the upper (append.txt); since only forward, and
// only as far as its bound (since.txt); an append has a token, and one that is repeated has no second effect (token.txt).
func TestStateMachine(t *testing.T) {
	datadriven.Walk(t, "testdata/state", func(t *testing.T, path string) {
		m := &machine{t: t}
		sh := &Shard{id: "u1"}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m.t = t
			switch d.Cmd {
			case "new":
				*m = machine{t: t}
				return ""
			case "create":
				return m.do(create{Create: Create{ID: "u1", Schema: schemaOf(stringArg(t, d, "cols"), d.HasArg("errors")),
					Since: tvc.Frontier(uintArg(t, d, "since", 0)), Upper: tvc.Frontier(uintArg(t, d, "upper", 0))}})
			case "bound":
				at := tvc.Frontier(uintArg(t, d, "at", 0))
				m.bound = func(tvc.Frontier) tvc.Frontier { return at }
				return ""
			case "append":
				op := Append{Shard: sh, Upper: tvc.Frontier(uintArg(t, d, "upper", 0)), AnyLower: !d.HasArg("lower"),
					Lower: tvc.Frontier(uintArg(t, d, "lower", 0)), Written: []*Written{m.written(d)}}
				if d.HasArg("token") {
					op.Token = Token{Epoch: 1, N: uintArg(t, d, "token", 0)}
				}
				return m.do(op)
			case "append-many":
				n := uintArg(t, d, "times", 0)
				for i := range n {
					m.quick = i < n-1
					op := Append{Shard: sh, Upper: m.st.upper + 1, AnyLower: true, Written: []*Written{m.written(&datadriven.TestData{CmdArgs: d.CmdArgs[1:]})}}
					if d.HasArg("tokens") {
						op.Token = Token{Epoch: 2, N: uintArg(t, d, "from", 0) + i}
					}
					m.do(op)
				}
				return fmt.Sprintf("since %v upper %v batches %d inline %d\n", m.st.since, m.st.upper, len(m.st.batches), m.st.inlineBytes)
			case "downgrade":
				return m.do(Downgrade{Shard: sh, Since: tvc.Frontier(uintArg(t, d, "since", 0))})
			case "evolve":
				op := Evolve{Shard: sh, Expect: SchemaID(uintArg(t, d, "expect", 0)), Schema: schemaOf(stringArg(t, d, "cols"), d.HasArg("errors"))}
				if !m.st.sealed {
					if err := checkEvolution(m.st.schema(), op.Schema); err != nil {
						return "error: " + err.Error() + "\n"
					}
				}
				return m.do(op)
			case "seal":
				return m.do(Seal{Shard: sh})
			case "replace":
				w := m.written(d)
				if d.HasArg("same") {
					// As a compaction would have it: the sums of what is replaced.
					from, to, _ := m.st.find(uintArg(t, d, "first", 0), uintArg(t, d, "last", 0))
					rows := w.totals.Rows
					w.totals = Totals{}
					for _, b := range m.st.batches[from:to] {
						w.totals = w.totals.Add(b.totals)
					}
					w.totals.Rows = rows
				}
				return m.do(replace{sh: sh, first: uintArg(t, d, "first", 0), last: uintArg(t, d, "last", 0),
					since: tvc.Frontier(uintArg(t, d, "since", 0)), written: w})
			case "rollup":
				return m.do(setRollup{sh: sh, rollup: rollupRef{version: consensus.Version(uintArg(t, d, "version", 0)), object: objectName{1, 99}}})
			case "plan":
				from, to, ok := m.st.plan(tvc.Frontier(uintArg(t, d, "since", 0)))
				if !ok {
					return fmt.Sprintf("nothing (wants maintenance: %v)\n", m.st.wantsMaintenance())
				}
				return fmt.Sprintf("batches %d to %d\n", m.st.batches[from].id, m.st.batches[to-1].id)
			case "bytes":
				return fmt.Sprintf("%d\n", m.bytes)
			case "state":
				return m.st.String()
			}
			return "unknown command"
		})
	})
}
