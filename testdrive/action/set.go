package action

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// setVariables is $ set name=value …, or $ set name with the value in the lines below.
func setVariables(m *Machine, _ context.Context, c *call) error {
	if len(c.args) == 1 && !c.args[0].HasValue {
		if len(c.body) == 0 {
			return &problem{"malformed action", "set " + c.args[0].Key + " has neither a value nor lines below it"}
		}
		m.vars[c.args[0].Key] = strings.Join(c.body, "\n")
		return nil
	}
	if len(c.body) > 0 {
		return &problem{"malformed action", "set takes either values or one name and lines below it"}
	}
	for _, a := range c.args {
		if !a.HasValue {
			return &problem{"malformed action", "variable " + a.Key + " has no value"}
		}
		m.vars[a.Key] = a.Value
	}
	return nil
}

// setArgDefault is $ set-arg-default name=value: ${arg.name}, unless the command line gave it.
func setArgDefault(m *Machine, _ context.Context, c *call) error {
	for _, a := range c.args {
		if _, given := m.vars["arg."+a.Key]; !given {
			m.vars["arg."+a.Key] = a.Value
		}
	}
	return nil
}

// setFromFile is $ set-from-file name=path.
func setFromFile(m *Machine, _ context.Context, c *call) error {
	for _, a := range c.args {
		contents, err := os.ReadFile(a.Value)
		if err != nil {
			return fmt.Errorf("read variable %s: %w", a.Key, err)
		}
		m.vars[a.Key] = string(contents)
	}
	return nil
}

// textTypes are the types that set-from-sql takes as text.
var textTypes = []uint32{pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID}

// setFromSQL is $ set-from-sql var=name: one query, one row, one column of text; tried once.
func setFromSQL(m *Machine, ctx context.Context, c *call) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	res, err := m.main.query(ctx, strings.Join(c.body, "\n"))
	if err != nil {
		return &problem{"statement failed", describe(ctx, err)}
	}
	if len(res.rows) != 1 || len(res.columns) != 1 {
		return &problem{"statement must give one row of one column", res.shape()}
	}
	isText := false
	for _, oid := range textTypes {
		isText = isText || oid == res.oids[0]
	}
	if !isText {
		return &problem{"statement must give text", fmt.Sprintf("the type of its column is %d: cast it to text", res.oids[0])}
	}
	m.vars[c.get("var")] = res.rows[0][0]
	return nil
}
