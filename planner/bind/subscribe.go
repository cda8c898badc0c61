package bind

import (
	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// Subscription is a bound SUBSCRIBE.
type Subscription struct {
	Query *Query
	// Snapshot: what there is at the start comes first. Progress: the client is told what is complete.
	Snapshot, Progress bool
	// AsOf and UpTo are when it starts and ends; nil: now, never.
	AsOf *ast.AsOf
	UpTo ast.Expr
}

// Subscribe binds SUBSCRIBE.
func Subscribe(env *Env, e *ast.Subscribe) (*Subscription, error) {
	switch {
	case e.Envelope != ast.EnvelopeNone:
		return nil, unsupported(e.Pos, "ENVELOPE")
	case len(e.Within) > 0:
		return nil, unsupported(e.Pos, "WITHIN TIMESTAMP ORDER BY")
	}
	s := &Subscription{Snapshot: true, AsOf: e.AsOf, UpTo: e.UpTo}
	for _, o := range e.Options {
		on, err := optionBool(env, o)
		if err != nil {
			return nil, err
		}
		switch o.Name {
		case "SNAPSHOT":
			s.Snapshot = on
		case "PROGRESS":
			s.Progress = on
		default:
			return nil, fail(o.Pos, pgerr.SyntaxError, "unrecognized SUBSCRIBE option \"%s\"", o.Name)
		}
	}
	var err error
	if e.Query != nil {
		s.Query, err = Select(env, e.Query)
		if err != nil {
			return nil, err
		}
		if s.Query.AsOf != nil {
			return nil, unsupported(posOf(s.Query.AsOf.At), "AS OF in a subscribed query")
		}
	} else {
		b := newBinder(env)
		it, err := b.relation(e.Relation)
		if err != nil {
			return nil, err
		}
		n, err := b.contents(it)
		if err != nil {
			return nil, err
		}
		r := &relation{node: n, cols: colsOf(n), visible: len(it.Rel.Cols)}
		for i, c := range it.Rel.Cols {
			r.cols[i].name = c.Name
		}
		if s.Query, err = b.finished(r); err != nil {
			return nil, err
		}
	}
	return s, Maintainable(s.Query.Tree())
}

// optionBool is the value of an option that is on or off; its bare name means on.
func optionBool(env *Env, o ast.Option) (bool, error) {
	if o.Value == nil {
		return true, nil
	}
	if l, ok := o.Value.(*ast.Literal); ok {
		switch l.Text {
		case "true", "on", "1", "yes":
			return true, nil
		case "false", "off", "0", "no":
			return false, nil
		}
	}
	return false, fail(o.Pos, pgerr.InvalidParameterValue, "%s requires a Boolean value", o.Name)
}
