package ddl

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
	"github.com/tributary-db/tributary/sql/pgerr"
)

// wordOf gives the text of an expression that is a bare word, a string or a number, as the values of options and
// variables are.
func wordOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.Literal:
		if e.Kind != ast.Null && e.Kind != ast.Bits {
			return e.Text, true
		}
	case *ast.Column:
		if len(e.Names) == 1 {
			return e.Names[0], true
		}
	}
	return "", false
}

// optionWord gives the value of an option as text.
func optionWord(o ast.Option) (string, error) {
	if word, ok := wordOf(o.Value); ok {
		return word, nil
	}
	return "", pgerr.Newf(pgerr.SyntaxError, "%s requires a parameter", strings.ToLower(o.Name)).At(o.Position())
}

// optionBool gives the value of an option that is a boolean; its bare name is true.
func optionBool(o ast.Option) (bool, error) {
	if o.Value == nil {
		return true, nil
	}
	if word, ok := wordOf(o.Value); ok {
		switch strings.ToLower(word) {
		case "true", "on", "1":
			return true, nil
		case "false", "off", "0":
			return false, nil
		}
	}
	return false, pgerr.Newf(pgerr.SyntaxError, "%s requires a Boolean value", strings.ToLower(o.Name)).At(o.Position())
}

// SettingText puts the values of a SET together: a list of names for search_path, a text for all others.
func SettingText(name string, values []ast.Expr) (string, error) {
	list := strings.EqualFold(name, "search_path")
	texts := make([]string, len(values))
	for i, v := range values {
		word, ok := wordOf(v)
		if !ok {
			return "", pgerr.Newf(pgerr.InvalidParameterValue, "invalid value for parameter %q", name).At(v.Position())
		}
		if list {
			word = ast.QuoteIdent(word)
		}
		texts[i] = word
	}
	if len(texts) > 1 && !list && !strings.EqualFold(name, "DateStyle") {
		return "", pgerr.Newf(pgerr.InvalidParameterValue, "SET %s takes only one argument", name)
	}
	return strings.Join(texts, ", "), nil
}
