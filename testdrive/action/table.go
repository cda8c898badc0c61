package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/testdrive/script"
)

// spec is one action: what it is called, which arguments it has, and what it does.
type spec struct {
	name     string
	required []string
	optional []string
	// anyArgs lets every argument name pass.
	anyArgs bool
	// body says whether lines below belong to it.
	body bodyRule
	// whileSkipping makes it run inside a skipped region too.
	whileSkipping bool
	run           func(m *Machine, ctx context.Context, c *call) error
}

type bodyRule int

const (
	noBody bodyRule = iota
	needsBody
	mayHaveBody
)

// call is one use of an action, with its variables replaced.
type call struct {
	args  []script.Arg
	body  []string
	tries *int
}

// arg gives an argument's value, or nothing.
func (c *call) arg(key string) (string, bool) {
	for _, a := range c.args {
		if a.Key == key {
			return a.Value, true
		}
	}
	return "", false
}

// get is the value of an argument that the table says is there.
func (c *call) get(key string) string {
	value, _ := c.arg(key)
	return value
}

// bool reads an argument that is true or false; false if it is not there.
func (c *call) bool(key string) (bool, error) {
	switch value, given := c.arg(key); {
	case !given || value == "false":
		return false, nil
	case value == "true":
		return true, nil
	default:
		return false, &problem{"malformed argument", fmt.Sprintf("%s must be true or false, not %q", key, value)}
	}
}

// specs is the table of actions.
var specs = []spec{
	{name: "assert-metric", required: []string{"name"}, optional: []string{"labels", "min", "max", "equals"},
		run: assertMetric},
	{name: "copy-in", required: []string{"statement"}, optional: []string{"connection", "error"}, body: mayHaveBody,
		run: copyIn},
	{name: "copy-out", required: []string{"statement"}, optional: []string{"connection", "error"}, body: mayHaveBody,
		run: copyOut},
	{name: "file-append", required: []string{"path"},
		optional: []string{"compression", "header", "repeat", "trailing-newline"}, body: mayHaveBody, run: fileAppend},
	{name: "file-delete", required: []string{"path"}, run: fileDelete},
	{name: "http-request", required: []string{"method", "url"},
		optional: []string{"content-type", "accept-additional-status-codes"}, body: mayHaveBody, run: httpRequest},
	{name: "kill", run: func(m *Machine, ctx context.Context, _ *call) error { return m.Restart(ctx, true) }},
	{name: "nop", run: doNothing},
	{name: "postgres-connect", required: []string{"name", "url"}, run: postgresConnect},
	{name: "postgres-execute", required: []string{"connection"}, optional: []string{"background"}, body: needsBody,
		run: postgresExecute},
	{name: "psql-execute", required: []string{"command"}, body: mayHaveBody, run: psqlExecute},
	{name: "random-sleep", required: []string{"duration"}, run: randomSleep},
	{name: "restart", run: func(m *Machine, ctx context.Context, _ *call) error { return m.Restart(ctx, false) }},
	{name: "set", anyArgs: true, body: mayHaveBody, run: setVariables},
	{name: "set-arg-default", anyArgs: true, run: setArgDefault},
	{name: "set-from-file", anyArgs: true, run: setFromFile},
	{name: "set-from-metric", required: []string{"var", "name"}, optional: []string{"labels"}, run: setFromMetric},
	{name: "set-from-sql", required: []string{"var"}, body: needsBody, run: setFromSQL},
	{name: "set-max-tries", required: []string{"max-tries"}, run: setMaxTries},
	{name: "set-regex", required: []string{"match"}, optional: []string{"replacement"}, run: setRegex},
	{name: "set-sql-timeout", required: []string{"duration"}, optional: []string{"force"}, run: setTimeout},
	// Nothing is checked at a file's end, so there is nothing to leave out; scripts written for Materialize say why they
	// want it.
	{name: "skip-consistency-checks", required: []string{"reason"}, run: doNothing},
	{name: "skip-end", whileSkipping: true, run: skipEnd},
	{name: "skip-if", body: needsBody, whileSkipping: true, run: skipIf},
	{name: "sleep", required: []string{"duration"}, run: fixedSleep},
	{name: "sleep-is-probably-flaky-i-have-justified-my-need-with-a-comment", required: []string{"duration"},
		run: fixedSleep},
	{name: "unset-regex", run: unsetRegex},
}

func doNothing(*Machine, context.Context, *call) error { return nil }

// foreign are the beginnings of names of actions that drive systems we have nothing to do with.
var foreign = []struct{ prefix, system string }{
	{"check-consistency", "Materialize's internal HTTP port"},
	{"check-shard-tombstone", "Materialize's storage"},
	{"duckdb-", "DuckDB"},
	{"fivetran-", "Fivetran"},
	{"glue-", "AWS Glue"},
	{"kafka-", "Kafka"},
	{"mysql-", "MySQL"},
	{"persist-", "Materialize's storage"},
	{"postgres-verify-slot", "logical replication"},
	{"protobuf-", "a protobuf compiler"},
	{"s3-", "S3"},
	{"schema-registry-", "a schema registry"},
	{"sql-server-", "SQL Server"},
	{"webhook-", "webhook sources"},
}

// Names lists the actions there are.
func Names() []string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.name
	}
	return names
}

// Check says what is wrong with an action before anything runs, so that a script with a misspelt action at its end
// does not run half.
func Check(file string, b script.Block) error {
	a, ok := b.Command.(*script.Action)
	if !ok {
		return nil
	}
	if text := checkAction(a); text != "" {
		return &script.Error{File: file, Line: b.Line, Text: text, Source: b.Source}
	}
	return nil
}

func checkAction(a *script.Action) string {
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == a.Name })
	if i < 0 {
		for _, f := range foreign {
			if strings.HasPrefix(a.Name, f.prefix) {
				return fmt.Sprintf("action %s is not supported: it needs %s", a.Name, f.system)
			}
		}
		return fmt.Sprintf("unknown action %s", a.Name)
	}
	s := specs[i]
	for _, arg := range a.Args {
		if !s.anyArgs && !slices.Contains(s.required, arg.Key) && !slices.Contains(s.optional, arg.Key) {
			return fmt.Sprintf("action %s has no argument %s", a.Name, arg.Key)
		}
		if !s.anyArgs && !arg.HasValue {
			return fmt.Sprintf("argument %s of action %s has no value", arg.Key, a.Name)
		}
	}
	for _, key := range s.required {
		if !slices.ContainsFunc(a.Args, func(arg script.Arg) bool { return arg.Key == key }) {
			return fmt.Sprintf("action %s needs argument %s", a.Name, key)
		}
	}
	if s.anyArgs && len(a.Args) == 0 {
		return fmt.Sprintf("action %s needs an argument", a.Name)
	}
	switch {
	case s.body == noBody && len(a.Body) > 0:
		return fmt.Sprintf("action %s takes no lines below it", a.Name)
	case s.body == needsBody && len(a.Body) == 0:
		return fmt.Sprintf("action %s needs lines below it", a.Name)
	}
	return ""
}

// runAction expands the variables of an action that Check has let pass, and does it.
func (m *Machine) runAction(ctx context.Context, b script.Block, a *script.Action, tries *int) error {
	if text := checkAction(a); text != "" {
		return &problem{"malformed action", text}
	}
	s := specs[slices.IndexFunc(specs, func(s spec) bool { return s.name == a.Name })]
	if m.skipping && !s.whileSkipping {
		return nil
	}
	if !m.skipping {
		open, err := m.gateOpen(ctx, b.Gate)
		if err != nil || !open {
			return err
		}
	}
	c := &call{tries: tries}
	for _, arg := range a.Args {
		value, err := m.expand(arg.Value, nil)
		if err != nil {
			return err
		}
		c.args = append(c.args, script.Arg{Key: arg.Key, Value: value, HasValue: arg.HasValue})
	}
	var err error
	if c.body, err = m.expandAll(a.Body); err != nil {
		return err
	}
	return s.run(m, ctx, c)
}
