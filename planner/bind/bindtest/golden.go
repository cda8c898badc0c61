package bindtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/planner/lower"
	"github.com/tributary-db/tributary/planner/rewrite"
	"github.com/tributary-db/tributary/sql/parser"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Golden runs a command of a golden file:
//
//	exec                 runs statements that make or fill things
//	create               binds a CREATE and prints the item; then makes it
//	rename name=n to=m   renames an item
//	write                prints what an INSERT, UPDATE or DELETE is bound to
//	bind                 prints a query's tree as it is bound, and what is done last
//	rewrite [rule=r …]   prints the tree rewritten by all optional rules, or by the named ones alone
//	rows name=n count=k  says how many rows a relation has
//	lower [lookup]       prints the plan; with lookup, an index may answer it
func (w *World) Golden(d *datadriven.TestData) string {
	switch d.Cmd {
	case "exec":
		w.Exec(d.Input)
		return ""
	case "create":
		return w.create(d.Input)
	case "rename":
		from := d.CmdArgs[0].Vals[0]
		to := d.CmdArgs[1].Vals[0]
		w.apply(&catalog.Rename{ID: w.Snapshot.Resolve(w.Env().Path, catalog.Name{Item: from}).ID, Name: to})
		return ""
	case "rows":
		n, err := strconv.ParseInt(d.CmdArgs[1].Vals[0], 10, 64)
		if err != nil {
			w.t.Fatalf("%s: %v", d.Pos, err)
		}
		w.Sizes[d.CmdArgs[0].Vals[0]] = n
		return ""
	case "write":
		return w.writeText(d.Input)
	case "bind", "rewrite", "lower":
		q, err := w.Query(d.Input)
		if err != nil {
			return errorText(err)
		}
		s, err := w.golden(d, q)
		if err != nil {
			return errorText(err)
		}
		return s
	}
	w.t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	return ""
}

func errorText(err error) string {
	e := pgerr.From(err)
	s := fmt.Sprintf("ERROR %s %s", e.Code, e.Message)
	if e.Position != 0 {
		s += fmt.Sprintf(" at %d", e.Position)
	}
	if e.Detail != "" {
		s += "\nDETAIL " + e.Detail
	}
	if e.Hint != "" {
		s += "\nHINT " + e.Hint
	}
	return s
}

func (w *World) golden(d *datadriven.TestData, q *bind.Query) (string, error) {
	if d.Cmd == "bind" {
		return logical.Format(q.Root) + lastText(q), nil
	}
	opts := rewrite.Options{Env: Session{}}
	for _, arg := range d.CmdArgs {
		if arg.Key == "rule" {
			opts.Off = map[rewrite.Rule]bool{}
			for _, r := range rewrite.Rules() {
				opts.Off[r] = true
			}
			for _, v := range arg.Vals {
				delete(opts.Off, rewrite.Rule(v))
			}
		}
	}
	n, err := rewrite.Tree(q.Root, opts)
	if err != nil {
		return "", err
	}
	if d.Cmd == "rewrite" {
		return logical.Format(n), nil
	}
	if d.HasArg("lookup") {
		if lk, ok := lower.Lookup(n, w.Indexes); ok {
			return lk.String() + "\n", nil
		}
	}
	df, err := lower.Dataflow("query", n, Session{})
	if err != nil {
		return "", err
	}
	if err := checkPlan(df); err != nil {
		return "", err
	}
	return df.String(), nil
}

// lastText is what is done to the rows last.
func lastText(q *bind.Query) string {
	limit, offset, err := lower.Limits(q.Limit, q.Offset, Session{})
	if err != nil {
		return errorText(err) + "\n"
	}
	f := plan.Finishing{Order: q.Order, Limit: limit, Offset: offset, Project: q.Project}
	names := make([]string, len(q.Rel.Cols))
	for i, c := range q.Rel.Cols {
		names[i] = c.Name + " " + c.Type.String()
		if !c.Nullable {
			names[i] += " not null"
		}
	}
	return "=> " + strings.TrimSpace(f.String()) + ": " + strings.Join(names, ", ") + "\n"
}

// Indexes lists the indexes on a relation.
func (w *World) Indexes(id tvc.ID) []lower.Index {
	var list []lower.Index
	for it := range w.Snapshot.IndexesOn(id) {
		ix, _, err := bind.Index(w.Env(), it)
		if err != nil {
			w.t.Fatalf("index %s: %v", it.Name, err)
		}
		list = append(list, ix)
	}
	return list
}

// create binds a CREATE, prints the item, and makes it.
func (w *World) create(sql string) string {
	list, err := parser.Parse(sql)
	if err != nil {
		return errorText(err)
	}
	it, err := w.item(list[0].AST)
	if err != nil {
		return errorText(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", it.Kind, it.Name, it.Rel)
	for i, d := range it.Defaults {
		if d != "" {
			fmt.Fprintf(&b, "default of %s: %s\n", it.Rel.Cols[i].Name, d)
		}
	}
	for _, k := range it.Key {
		fmt.Fprintf(&b, "key: column %d %s %s\n", k.Column, k.SQL, k.Type)
	}
	for _, k := range it.Rel.Keys {
		fmt.Fprintf(&b, "unique: %v\n", k)
	}
	if !it.Query.IsEmpty() {
		fmt.Fprintf(&b, "query: %s\n", it.Query.Render(func(id tvc.ID) string { return "[" + id.String() + "]" }))
	}
	if len(it.DependsOn) > 0 {
		fmt.Fprintf(&b, "depends on: %v\n", it.DependsOn)
	}
	if err := w.add(it); err != nil {
		return b.String() + errorText(err)
	}
	return b.String()
}

func (w *World) writeText(sql string) string {
	list, err := parser.Parse(sql)
	if err != nil {
		return errorText(err)
	}
	b, err := bindWrite(w.Env(), list[0].AST)
	if err != nil {
		return errorText(err)
	}
	s := fmt.Sprintf("%s reads=%v\n", b.Table.Name, b.Reads)
	if b.Rows != nil {
		s += b.Rows.String()
	}
	if b.Root != nil {
		s += logical.Format(b.Root)
	}
	if b.Returning != nil {
		s += "returning " + b.Returning.String() + "\n"
	}
	return s
}
