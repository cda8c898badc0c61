package action

import (
	"context"
	"regexp"
)

// setRegex is $ set-regex match=… [replacement=…]: from now on every cell and every error text is rewritten
// before it is compared. The latest one counts.
func setRegex(m *Machine, _ context.Context, c *call) error {
	re, err := regexp.Compile(c.get("match"))
	if err != nil {
		return &problem{"malformed regular expression", err.Error()}
	}
	m.regex, m.replacement = re, "<regex_match>"
	if replacement, given := c.arg("replacement"); given {
		m.replacement = replacement
	}
	return nil
}

func unsetRegex(m *Machine, _ context.Context, _ *call) error {
	m.regex, m.replacement = nil, ""
	return nil
}
