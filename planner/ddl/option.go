package ddl

import (
	"strings"
	"time"

	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/adt"
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

// retainHistory is the name of the option that says how much history stays readable.
const retainHistory = "RETAIN HISTORY"

// maxRetain bounds RETAIN HISTORY, as it does storage_retain_history.
const maxRetain = 365 * 24 * time.Hour

// storedOptions reads the options of a table or materialized view.
func storedOptions(kind catalog.Kind, options []ast.Option) (retain time.Duration, err error) {
	for _, o := range options {
		if o.Name != retainHistory {
			return 0, pgerr.Unsupported("the option %s of a %s", o.Name, kind).At(o.Position())
		}
		if retain != 0 {
			return 0, pgerr.New(pgerr.SyntaxError, "RETAIN HISTORY specified more than once").At(o.Position())
		}
		if retain, err = retainOption(o); err != nil {
			return 0, err
		}
	}
	return retain, nil
}

// retainOption reads how long history is kept: an interval without months, whose length nobody knows.
func retainOption(o ast.Option) (time.Duration, error) {
	text, err := optionWord(o)
	if err != nil {
		return 0, err
	}
	iv, err := adt.ParseInterval(text, -1)
	if err != nil {
		return 0, pgerr.From(err).At(o.Position())
	}
	const day = 24 * time.Hour
	if iv.Months != 0 {
		return 0, pgerr.New(pgerr.InvalidParameterValue, "RETAIN HISTORY cannot be in months or years").At(o.Position())
	}
	if iv.Days > int32(maxRetain/day) || iv.Days < 0 || iv.Micros < 0 || iv.Micros > maxRetain.Microseconds() {
		return 0, outOfRange(o)
	}
	retain := time.Duration(iv.Days)*day + time.Duration(iv.Micros)*time.Microsecond
	if retain == 0 || retain > maxRetain {
		return 0, outOfRange(o)
	}
	return retain, nil
}

func outOfRange(o ast.Option) error {
	return pgerr.New(pgerr.InvalidParameterValue, "RETAIN HISTORY must be more than 0 and at most 365 days").At(o.Position())
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
