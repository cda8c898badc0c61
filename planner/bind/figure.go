package bind

import "github.com/tributary-db/tributary/sql/ast"

// figureName is what a result is called that has no alias.
func figureName(e ast.Expr) string {
	if name, _ := figure(e); name != "" {
		return name
	}
	return "?column?"
}

// figure gives a name and how good it is: 0 for none, 1 for a name of last resort, 2 for a good one.
func figure(e ast.Expr) (string, int) {
	switch e := e.(type) {
	case *ast.Column:
		return e.Names[len(e.Names)-1], 2
	case *ast.Field:
		return e.Name, 2
	case *ast.Subscript:
		return figure(e.Arg)
	case *ast.Call:
		return e.Func.Object(), 2
	case *ast.ValueFunc:
		return e.Name, 2
	case *ast.Special:
		return map[ast.SpecialFunc]string{
			ast.Coalesce: "coalesce", ast.NullIf: "nullif", ast.Greatest: "greatest", ast.Least: "least",
		}[e.Func], 2
	case *ast.Collate:
		return figure(e.Arg)
	case *ast.Cast:
		if name, strength := figure(e.Arg); strength > 1 {
			return name, strength
		}
		t := e.Type
		for t.Kind == ast.ArrayType {
			t = t.Elem
		}
		if len(t.Name) > 0 {
			return t.Name[len(t.Name)-1], 1
		}
	case *ast.Case:
		if e.Else != nil {
			if name, strength := figure(e.Else); strength > 1 {
				return name, strength
			}
		}
		return "case", 1
	case *ast.Array:
		return "array", 2
	case *ast.Map:
		return "map", 2
	case *ast.Row:
		return "row", 2
	case *ast.Exists:
		return "exists", 2
	case *ast.Subquery:
		return figureQuery(e.Query)
	}
	return "", 0
}

// figureQuery: a scalar subquery is called as its column.
func figureQuery(q *ast.Query) (string, int) {
	body := q.Body
	for {
		inner, ok := body.(*ast.Query)
		if !ok {
			break
		}
		body = inner.Body
	}
	if set, ok := body.(*ast.SetOp); ok {
		return figureQuery(&ast.Query{Body: set.Left})
	}
	s, ok := body.(*ast.Select)
	if !ok {
		if _, ok := body.(*ast.Values); ok {
			return "column1", 2
		}
		return "", 0
	}
	if len(s.Items) == 0 {
		return "", 0
	}
	if s.Items[0].Alias != "" {
		return s.Items[0].Alias, 2
	}
	return figure(s.Items[0].Expr)
}
