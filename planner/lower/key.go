package lower

import (
	"encoding/binary"
	"fmt"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// nodeKey is a byte string that two nodes share only if they do the same on the same inputs.
func nodeKey(op plan.Op, cols []types.T, inputs []plan.NodeID) string {
	var k keyer
	for _, in := range inputs {
		k.num(int(in))
	}
	k.sep()
	for _, t := range cols {
		k.typ(t)
	}
	k.op(op)
	return string(k.out)
}

type keyer struct{ out []byte }

func (k *keyer) num(n int)     { k.out = binary.AppendVarint(k.out, int64(n)) }
func (k *keyer) sep()          { k.out = append(k.out, 0xff) }
func (k *keyer) flag(b bool)   { k.out = append(k.out, map[bool]byte{true: 1}[b]) }
func (k *keyer) text(s string) { k.num(len(s)); k.out = append(k.out, s...) }

func (k *keyer) nums(ns []int) {
	k.num(len(ns))
	for _, n := range ns {
		k.num(n)
	}
}

func (k *keyer) flags(bs []bool) {
	for _, b := range bs {
		k.flag(b)
	}
}

func (k *keyer) typ(t types.T) {
	k.num(int(t.OID))
	k.num(int(t.Mod))
	if t.Record != nil {
		for _, f := range t.Record.Fields {
			k.text(f.Name)
			k.typ(f.Type)
		}
		k.sep()
	}
}

func (k *keyer) datum(d vec.Datum) {
	k.out = append(k.out, byte(d.Kind()))
	switch d.Kind() {
	case types.Bool:
		k.flag(d.Bool())
	case types.Int:
		k.out = binary.AppendVarint(k.out, d.Int())
	case types.Float:
		k.text(d.GoString())
	case types.Bytes:
		k.text(d.Str())
	}
}

func (k *keyer) op(op plan.Op) {
	switch op := op.(type) {
	case *plan.Get:
		k.text("get " + op.ID.String())
	case *plan.Constant:
		k.text("constant")
		k.block(op.Rows)
		if op.Err != nil {
			k.text(op.Err.Error())
		}
	case *plan.MFP:
		k.text("mfp")
		k.num(op.Arity)
		k.exprs(op.Map)
		k.exprs(op.Filter)
		k.nums(op.Project)
	case *plan.TableFunc:
		k.text("table " + op.Func.Name)
		k.num(int(op.Func.OID))
		k.exprs(op.Args)
		k.flag(op.Ordinality)
	case *plan.Join:
		k.text("join")
		for _, s := range op.Stages {
			k.nums(s.Left)
			k.nums(s.Right)
			k.flags(s.NullEq)
		}
		k.flag(op.Delta)
		k.nums(op.Out)
	case *plan.Reduce:
		k.reduce(op)
	case *plan.TopK:
		k.text("topk")
		k.nums(op.Group)
		k.order(op.Order)
		k.num(int(op.Limit))
		k.num(int(op.Offset))
	case *plan.Threshold:
		k.text("threshold")
	case *plan.Negate:
		k.text("negate")
	case *plan.Union:
		k.text("union")
	case *plan.Guard:
		k.text("guard")
		k.num(op.Keys)
		k.text(op.Err.Error())
	default:
		panic(fmt.Sprintf("lower: unknown operator %T", op))
	}
}

func (k *keyer) block(b *vec.Block) {
	k.num(b.Len)
	for i := range b.Len {
		k.num(int(b.Diff(i)))
		for c := range b.Cols {
			k.datum(b.Cols[c].Datum(i))
		}
	}
}

func (k *keyer) reduce(op *plan.Reduce) {
	k.text("reduce")
	k.num(op.Keys)
	for _, a := range op.Aggs {
		k.text(a.Func.Name)
		k.num(int(a.Func.OID))
		k.nums(a.Args)
		k.flag(a.Distinct)
		k.num(a.Filter)
		k.order(a.Order)
	}
}

func (k *keyer) order(order []plan.Order) {
	k.num(len(order))
	for _, o := range order {
		k.num(o.Col)
		k.flag(o.Desc)
		k.flag(o.NullsFirst)
	}
}

func (k *keyer) exprs(es []scalar.Expr) {
	k.num(len(es))
	for _, e := range es {
		k.expr(e)
	}
}

func (k *keyer) expr(e scalar.Expr) {
	k.typ(e.Type())
	switch e := e.(type) {
	case *scalar.Col:
		k.text("col")
		k.num(e.Index)
	case *scalar.Param:
		k.text("param")
		k.num(e.Index)
	case *scalar.Const:
		k.text("const")
		k.datum(e.Value)
	case *scalar.Call:
		k.text("call")
		k.text(e.Func.Name)
		k.num(int(e.Func.OID))
	case *scalar.In:
		k.text("in")
		k.flag(e.HasNull)
		k.num(len(e.Set))
		for _, d := range e.Set {
			k.datum(d)
		}
	default:
		k.text(fmt.Sprintf("%T", e))
	}
	k.exprs(scalar.Children(e))
}
