package plan_test

import (
	"testing"

	"github.com/tributary-db/tributary/compute/plan"
	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// TestWhatLimitsMayRelyOn lists which plans give no negative counts, from contents as they are and consolidated, and
// which can be left off when there are rows enough.
func TestWhatLimitsMayRelyOn(t *testing.T) {
	taken := vec.NewBlock([]types.Kind{types.Int}, 1)
	taken.AppendRow(-1, vec.IntOf(1))
	get := plan.Node{Op: &plan.Get{}}
	over := func(op plan.Op) []plan.Node { return []plan.Node{get, {Op: op, Inputs: []plan.NodeID{0}}} }
	for name, c := range map[string]struct {
		nodes                        []plan.Node
		raw, consolidated, streaming bool
	}{
		"a collection":         {[]plan.Node{get}, false, true, true},
		"mapped rows":          {over(&plan.MFP{}), false, true, true},
		"a table function":     {over(&plan.TableFunc{}), false, true, true},
		"constant rows":        {[]plan.Node{{Op: &plan.Constant{}}}, true, true, true},
		"constant deletions":   {[]plan.Node{{Op: &plan.Constant{Rows: taken}}}, false, false, true},
		"an error":             {[]plan.Node{{Op: &plan.Constant{Err: pgerr.New(pgerr.DivisionByZero, "division by zero")}}}, true, true, false},
		"groups":               {over(&plan.Reduce{}), true, true, false},
		"the first rows":       {over(&plan.TopK{Limit: 3, Offset: 2}), true, true, false},
		"rows in order":        {over(&plan.TopK{Limit: -1}), false, true, false},
		"all but the first":    {over(&plan.TopK{Limit: -1, Offset: 1}), false, false, false},
		"negated rows":         {over(&plan.Negate{}), false, false, false},
		"a scalar subquery":    {over(&plan.Guard{}), false, true, false},
		"rows that are joined": {[]plan.Node{get, {Op: &plan.Join{}, Inputs: []plan.NodeID{0, 0}}}, false, true, true},
		"a union":              {[]plan.Node{get, {Op: &plan.Union{}, Inputs: []plan.NodeID{0, 0}}}, false, true, true},
		"a difference": {append(over(&plan.Negate{}), plan.Node{Op: &plan.Union{}, Inputs: []plan.NodeID{0, 1}},
			plan.Node{Op: &plan.Threshold{}, Inputs: []plan.NodeID{2}}), true, true, false},
	} {
		d := &plan.Dataflow{Nodes: c.nodes}
		if raw, consolidated, streaming := d.Positive(false), d.Positive(true), d.Streams(); raw != c.raw ||
			consolidated != c.consolidated || streaming != c.streaming {
			t.Errorf("%s: positive %v, consolidated %v, streams %v", name, raw, consolidated, streaming)
		}
	}
}
