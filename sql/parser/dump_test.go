package parser

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// dump prints a tree with its positions, one node a line, leaving out what is empty.
func dump(n any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(n), "", 1)
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, name string, depth int) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	pad := strings.Repeat("  ", depth)
	switch v.Kind() {
	case reflect.Struct:
		fmt.Fprintf(b, "%s%s%s", pad, name, v.Type().Name())
		if pos := v.FieldByName("Pos"); pos.IsValid() && pos.Type() == reflect.TypeFor[ast.Pos]() {
			fmt.Fprintf(b, "@%d", pos.Int())
		}
		b.WriteString("\n")
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "Pos" && !v.Field(i).IsZero() {
				dumpValue(b, v.Field(i), f.Name+": ", depth+1)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, v.Index(i), fmt.Sprintf("%s%d: ", strings.TrimSuffix(name, ": "), i), depth)
		}
	default:
		fmt.Fprintf(b, "%s%s%v\n", pad, name, v.Interface())
	}
}

var dropPositions = regexp.MustCompile(`@[0-9]+`)
