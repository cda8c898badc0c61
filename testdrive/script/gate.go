package script

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Gate lets a block run only on some versions of the server: those v with Min ≤ v ≤ Max. The zero Gate is open.
type Gate struct {
	Set      bool
	Min, Max int64
}

// Open says whether the block is for this version.
func (g Gate) Open(version int64) bool { return !g.Set || g.Min <= version && version <= g.Max }

func (g Gate) String() string {
	switch {
	case !g.Set:
		return ""
	case g.Min == g.Max:
		return fmt.Sprintf("[version=%d]", g.Min)
	case g.Max == math.MaxInt64:
		return fmt.Sprintf("[version>=%d]", g.Min)
	case g.Min == math.MinInt64:
		return fmt.Sprintf("[version<=%d]", g.Max)
	}
	return fmt.Sprintf("[%d<=version<=%d]", g.Min, g.Max)
}

var gateText = regexp.MustCompile(`^(?:(\d+)(<=?))?version(?:(<=?|>=?|=)(\d+))?$`)

// parseGate reads "[version<N]" and the like from the beginning of text, which is what follows the sigil.
func parseGate(text string) (Gate, string, error) {
	if !strings.HasPrefix(text, "[") {
		return Gate{}, text, nil
	}
	inner, rest, closed := strings.Cut(text[1:], "]")
	if !closed {
		return Gate{}, "", errors.New("version gate is not closed")
	}
	m := gateText.FindStringSubmatch(strings.Join(strings.Fields(inner), ""))
	if m == nil || m[1] == "" && m[3] == "" {
		return Gate{}, "", fmt.Errorf("malformed version gate [%s]", inner)
	}
	g := Gate{Set: true, Min: math.MinInt64, Max: math.MaxInt64}
	if m[1] != "" {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return Gate{}, "", fmt.Errorf("malformed version gate [%s]", inner)
		}
		g.Min = n
		if m[2] == "<" {
			g.Min++
		}
	}
	if m[3] == "" {
		return g, rest, nil
	}
	n, err := strconv.ParseInt(m[4], 10, 64)
	if err != nil {
		return Gate{}, "", fmt.Errorf("malformed version gate [%s]", inner)
	}
	switch m[3] {
	case "<":
		g.Max = n - 1
	case "<=":
		g.Max = n
	case ">":
		g.Min = max(g.Min, n+1)
	case ">=":
		g.Min = max(g.Min, n)
	case "=":
		g.Min, g.Max = max(g.Min, n), n
	}
	return g, rest, nil
}
