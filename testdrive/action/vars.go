package action

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand replaces ${name} by the variable's value, passed through change.
func (m *Machine) expand(text string, change func(string) string) (string, error) {
	var failure error
	out := variable.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		value, ok := m.lookup(name)
		if !ok {
			if failure == nil {
				failure = &problem{"unknown variable", fmt.Sprintf("${%s} is not set", name)}
			}
			return match
		}
		if change != nil {
			value = change(value)
		}
		return value
	})
	return out, failure
}

func (m *Machine) lookup(name string) (string, bool) {
	if value, ok := m.vars[name]; ok {
		return value, true
	}
	if env, ok := strings.CutPrefix(name, "env."); ok && m.o.Env != nil {
		return m.o.Env(env)
	}
	return "", false
}

func (m *Machine) expandAll(texts []string) ([]string, error) {
	out := make([]string, len(texts))
	for i, t := range texts {
		var err error
		if out[i], err = m.expand(t, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}
