package session

import (
	"fmt"
	"strings"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/planner/bind"
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/planner/coord"
	"github.com/tributary-db/tributary/planner/logical"
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// maxRetries bounds how often a statement that reads in order to write is run again because what it read has changed.
// Among n writers of one row each attempt lets one through, so this allows for some hundred of them.
const maxRetries = 200

// bindWrite binds an INSERT, UPDATE or DELETE.
func bindWrite(e *bind.Env, st ast.Statement) (*bind.Write, error) {
	switch st := st.(type) {
	case *ast.Insert:
		return bind.Insert(e, st)
	case *ast.Update:
		return bind.Update(e, st)
	case *ast.Delete:
		return bind.Delete(e, st)
	}
	panic(fmt.Sprintf("session: bind write of %T", st))
}

// write runs an INSERT, UPDATE or DELETE. If it is a transaction by itself it is committed here, so that it can be run
// again if what it has read changes meanwhile.
func (s *Session) write(stmt *statement, st ast.Statement, args *arguments) (*Result, error) {
	end := func() {}
	defer func() { end() }()
	for try := range maxRetries {
		w, err := s.writeOnce(stmt, st, args)
		if err != nil {
			return nil, err
		}
		if !s.tx.implicit || !s.tx.alone {
			return w.result(), nil
		}
		err = s.commit(stmt.ctx)
		if err == nil {
			return w.result(), nil
		}
		if !w.reads || !pgerr.Is(err, pgerr.SerializationFailure) || stmt.ctx.Err() != nil {
			return nil, err
		}
		if try == 0 {
			if end, err = s.m.turns.take(stmt.ctx, w.table); err != nil {
				end = func() {}
				return nil, err
			}
		}
		s.needTxn().alone = true
	}
	return nil, pgerr.New(pgerr.SerializationFailure, "could not serialize access due to concurrent update")
}

// written is what a statement has written.
type written struct {
	table     tvc.ID
	verb      string
	reads     bool
	count     int64
	cols      []Column // of RETURNING; nil without
	returning *vec.Block
}

func (w *written) result() *Result {
	tag := fmt.Sprintf("%s %d", w.verb, w.count)
	if w.verb == "INSERT" {
		tag = fmt.Sprintf("INSERT 0 %d", w.count) // the zero was an OID once
	}
	r := &Result{tag: func(int64) string { return tag }}
	if w.cols != nil {
		r.Columns = w.cols
		r.rows = &blockReader{rows: &fixedRows{blocks: []*vec.Block{w.returning}}}
	}
	return r
}

// writeOnce binds the statement and gathers what it writes.
func (s *Session) writeOnce(stmt *statement, st ast.Statement, args *arguments) (*written, error) {
	p := s.newPlanner(stmt, args)
	b, err := bindWrite(p.bindEnv(), st)
	if err != nil {
		return nil, err
	}
	w := &written{table: b.Table.ID, verb: map[bind.WriteKind]string{bind.InsertRows: "INSERT", bind.UpdateRows: "UPDATE",
		bind.DeleteRows: "DELETE"}[b.Kind],
		reads: b.Reads}
	if b.Returning != nil {
		w.cols = columnsOf(*b.Returning)
		w.returning = vec.NewBlock(b.Returning.Kinds(), 0)
	}
	if p.args != nil && p.args.said && !sameColumns(w.cols, p.args.cols) {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "cached plan must not change result type")
	}
	writes, err := s.forWriting(p.snapshot, w.verb)
	if err != nil {
		return nil, err
	}
	if b.Root == nil {
		w.count = int64(b.Rows.Len)
		return w, writes.Add(stmt.ctx, b.Table, b.Rows)
	}
	return w, s.writeRows(stmt, p, b, w, writes)
}

// writeRows runs the query of a statement and writes what it gives.
func (s *Session) writeRows(stmt *statement, p *planner, b *bind.Write, w *written, writes coord.Writes) error {
	root, err := logical.WithParams(b.Root, p.values())
	if err != nil {
		return err
	}
	df, err := p.dataflow(strings.ToLower(w.verb), root)
	if err != nil {
		return err
	}
	ids := df.Imports()
	if df, err = s.overlay(p.snapshot, df); err != nil {
		return err
	}
	q := &coord.Query{Dataflow: df, Finishing: plan.Finishing{Limit: -1, Project: logical.Identity(logical.Arity(b.Root))},
		Cols: logical.Types(b.Root), Env: p.env}
	if len(ids) > 0 {
		cluster, err := p.cluster()
		if err != nil {
			return err
		}
		q.Cluster = cluster.ID
	}
	read, err := s.readOnce(stmt.ctx, ids)
	if err != nil {
		return err
	}
	p.env.logical = read.At()
	baseTables(p.snapshot, ids, s.tx.readTables)
	c, err := read.Query(stmt.ctx, q)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		rows, err := c.Next(stmt.ctx)
		if err != nil || rows == nil {
			return err
		}
		if err := s.writeBlock(stmt, b, w, writes, rows); err != nil {
			return err
		}
	}
}

// writeBlock writes one block of what a statement's query gave.
func (s *Session) writeBlock(stmt *statement, b *bind.Write, w *written, writes coord.Writes, rows *vec.Block) error {
	n := len(b.Table.Rel.Cols)
	from := 0 // where the table's columns begin in what is added
	if b.Kind == bind.UpdateRows {
		from = n
	}
	if b.Kind != bind.DeleteRows && b.Rows == nil {
		if err := bind.NotNull(b.Table, rows, from); err != nil {
			return err
		}
	}
	for i := range rows.Len {
		w.count += rows.Diff(i)
	}
	if err := w.keep(s, rows, rows.Cols[len(rows.Cols)-len(w.cols):]); err != nil {
		return err
	}
	if b.Kind != bind.InsertRows {
		if err := writes.Add(stmt.ctx, b.Table, part(rows, 0, n, -1)); err != nil {
			return err
		}
	}
	if b.Kind == bind.DeleteRows {
		return nil
	}
	return writes.Add(stmt.ctx, b.Table, part(rows, from, n, +1))
}

// part is n columns of a block, counting sign times as often.
func part(b *vec.Block, from, n int, sign int64) *vec.Block {
	out := &vec.Block{Len: b.Len, Cols: b.Cols[from : from+n], Diffs: b.Diffs}
	if sign < 0 {
		out.Diffs = make([]int64, b.Len)
		for i := range out.Diffs {
			out.Diffs[i] = -b.Diff(i)
		}
	}
	return out
}

// keep keeps the rows of RETURNING, each as often as it counts. They are few in all sensible cases; a bound stands
// against the others.
func (w *written) keep(s *Session, rows *vec.Block, cols []vec.Vec) error {
	if w.cols == nil {
		return nil
	}
	for i := range rows.Len {
		for range rows.Diff(i) {
			for c := range cols {
				w.returning.Cols[c].AppendFrom(&cols[c], i)
			}
			w.returning.Len++
		}
	}
	if most := varMaxResult.Get(s.vars); most > 0 && int64(w.returning.Size()) > most {
		return pgerr.Newf(pgerr.ConfigurationLimitExceeded, "result exceeds max size of %d bytes", most)
	}
	return nil
}

// overlay makes a dataflow see what the transaction has written itself: in the place of each table it reads stands the
// table with the transaction's rows. What is maintained over such a table cannot be read so.
func (s *Session) overlay(snapshot *catalog.Snapshot, d *plan.Dataflow) (*plan.Dataflow, error) {
	if s.tx.writes == nil {
		return d, nil
	}
	pending := map[tvc.ID]*vec.Block{}
	for _, id := range d.Imports() {
		under := map[tvc.ID]bool{}
		baseTables(snapshot, []tvc.ID{id}, under)
		for table := range under {
			blocks, ok := s.tx.writes.Pending(table)
			if !ok || len(blocks) > 0 && table != id {
				return nil, pgerr.Unsupported("reading %s after the transaction has written to %s",
					snapshot.Describe(s.path(), id), snapshot.Describe(s.path(), table)).WithHint("COMMIT first.")
			}
			if len(blocks) > 0 {
				pending[table] = joined(blocks)
			}
		}
	}
	if len(pending) == 0 {
		return d, nil
	}
	out := &plan.Dataflow{Name: d.Name}
	at := make([]plan.NodeID, len(d.Nodes))
	add := func(n plan.Node) plan.NodeID {
		out.Nodes = append(out.Nodes, n)
		return out.Result()
	}
	for i, n := range d.Nodes {
		inputs := make([]plan.NodeID, len(n.Inputs))
		for j, in := range n.Inputs {
			inputs[j] = at[in]
		}
		at[i] = add(plan.Node{Op: n.Op, Inputs: inputs, Cols: n.Cols})
		if get, ok := n.Op.(*plan.Get); ok && pending[get.ID] != nil {
			own := add(plan.Node{Op: &plan.Constant{Rows: pending[get.ID]}, Cols: n.Cols})
			at[i] = add(plan.Node{Op: &plan.Union{}, Inputs: []plan.NodeID{at[i], own}, Cols: n.Cols})
		}
	}
	return out, nil
}

func joined(blocks []*vec.Block) *vec.Block {
	all := vec.NewBlock(blocks[0].Kinds(), 0)
	for _, b := range blocks {
		all.AppendBlock(b)
	}
	return all
}
