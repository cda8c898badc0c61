package fn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// Call is a resolved call: which overload, and what its arguments are to become.
type Call[F any] struct {
	// Func is the overload, specialised for the arguments.
	Func *F
	// Args are the types that the arguments, one by one, are cast to (implicitly) first. Where one equals
	// the argument's own type there is nothing to do; a literal of type unknown is read as that type.
	Args []types.T
	// Ret is the result's type (of a table function: of its only column, or record).
	Ret types.T
}

// overload is what resolution looks at.
type overload struct {
	args     []types.T // as many as the call has
	variadic bool      // the last parameter was repeated
	index    int
}

// Resolve finds the overload of a function that a call with arguments of these types means. A literal
// without a type, or a parameter that has none yet, is unknown. A one-argument call of a type's name is a cast;
// the Func is then the cast's.
func Resolve(name string, args []types.T) (Call[scalar.Func], error) {
	candidates := Scalar(name)
	c, err := choose(funcSigs(candidates), args)
	switch {
	case err == errNoMatch && len(args) > 0 && (name == "greatest" || name == "least"):
		_, err := CommonType(strings.ToUpper(name), args...)
		return Call[scalar.Func]{}, err
	case err == errNoMatch && len(args) == 1:
		if f, ok := castCall(name, args[0]); ok {
			return Call[scalar.Func]{Func: f, Args: args, Ret: f.Ret}, nil
		}
		return Call[scalar.Func]{}, noFunction(name, args)
	case err == errNoMatch:
		return Call[scalar.Func]{}, noFunction(name, args)
	case err == errAmbiguous:
		return Call[scalar.Func]{}, ambiguousFunction(name, args)
	case err != nil:
		return Call[scalar.Func]{}, err
	}
	return boundFunc(candidates[c.index], c, args)
}

// ResolveOperator finds the operator that an expression with operands of these types means: one for a prefix
// operator, two for an infix one.
func ResolveOperator(symbol string, args ...types.T) (Call[scalar.Func], error) {
	candidates := Operator(symbol)
	sigs := funcSigs(candidates)
	c, ok := exactOperator(sigs, args)
	var err error
	if !ok {
		c, err = choose(sigs, args)
	}
	switch {
	case err == errNoMatch:
		return Call[scalar.Func]{}, pgerr.Newf(pgerr.UndefinedFunction, "operator does not exist: %s",
			operatorCall(symbol, args)).WithHint("No operator matches the given name and argument type%s. "+
			"You might need to add %s.", plural(args, "", "s"), plural(args, "an explicit type cast", "explicit type casts"))
	case err == errAmbiguous:
		return Call[scalar.Func]{}, pgerr.Newf(pgerr.AmbiguousFunction, "operator is not unique: %s",
			operatorCall(symbol, args)).WithHint("Could not choose a best candidate operator. " +
			"You might need to add explicit type casts.")
	case err != nil:
		return Call[scalar.Func]{}, err
	}
	return boundFunc(candidates[c.index], c, args)
}

// ResolveAggregate is Resolve for aggregates.
func ResolveAggregate(name string, args []types.T) (Call[scalar.Agg], error) {
	candidates := Aggregate(name)
	sigs := make([]signature, len(candidates))
	for i, f := range candidates {
		sigs[i] = signature{args: f.Args, variadic: false}
	}
	c, err := choose(sigs, args)
	if err != nil {
		return Call[scalar.Agg]{}, functionError(err, name, args)
	}
	f := candidates[c.index]
	actual, ret, err := bindTypes(f.Args, c, args, f.Ret)
	if err != nil {
		return Call[scalar.Agg]{}, err
	}
	g := *f
	switch {
	case f.For != nil:
		g = *f.For(actual)
	case f.RetOf != nil:
		g.Ret = f.RetOf(actual)
	default:
		g.Ret = ret
	}
	return Call[scalar.Agg]{Func: &g, Args: actual, Ret: g.Ret}, nil
}

// ResolveTable is Resolve for table functions.
func ResolveTable(name string, args []types.T) (Call[scalar.TableFunc], error) {
	candidates := Table(name)
	sigs := make([]signature, len(candidates))
	for i, f := range candidates {
		sigs[i] = signature{args: f.Args, variadic: f.Variadic}
	}
	c, err := choose(sigs, args)
	if err != nil {
		return Call[scalar.TableFunc]{}, functionError(err, name, args)
	}
	f := candidates[c.index]
	actual, _, err := bindTypes(f.Args, c, args, tVoid)
	if err != nil {
		return Call[scalar.TableFunc]{}, err
	}
	g := *f
	if f.For != nil {
		g = *f.For(actual)
	}
	if f.ColsOf != nil {
		g.Cols = f.ColsOf(actual)
	}
	ret := tRecord
	if len(g.Cols) == 1 {
		ret = g.Cols[0].Type
	}
	return Call[scalar.TableFunc]{Func: &g, Args: actual, Ret: ret}, nil
}

// boundFunc completes the choice of a function.
func boundFunc(f *scalar.Func, c overload, args []types.T) (Call[scalar.Func], error) {
	actual, ret, err := bindTypes(f.Args, c, args, f.Ret)
	if err != nil {
		return Call[scalar.Func]{}, err
	}
	if f.For == nil && f.RetOf == nil && !slices.ContainsFunc(f.Args, isOpen) {
		return Call[scalar.Func]{Func: f, Args: actual, Ret: ret}, nil
	}
	g := *f
	g.Ret = ret
	if f.For != nil {
		g = *f.For(actual)
	}
	if f.RetOf != nil {
		g.Ret = f.RetOf(actual)
	}
	g.Args, g.Variadic, g.For, g.RetOf = actual, false, nil, nil
	return Call[scalar.Func]{Func: &g, Args: actual, Ret: g.Ret}, nil
}

// isOpen says whether a parameter takes arguments of several types.
func isOpen(t types.T) bool { return t.OID == types.OIDAny || isGeneric(t.OID) }

func functionError(err error, name string, args []types.T) error {
	switch err {
	case errNoMatch:
		return noFunction(name, args)
	case errAmbiguous:
		return ambiguousFunction(name, args)
	}
	return err
}

func noFunction(name string, args []types.T) error {
	return pgerr.Newf(pgerr.UndefinedFunction, "function %s does not exist", FormatCall(name, args)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

func ambiguousFunction(name string, args []types.T) error {
	return pgerr.Newf(pgerr.AmbiguousFunction, "function %s is not unique", FormatCall(name, args)).
		WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
}

// FormatCall is a call as messages show it: f(integer, unknown).
func FormatCall(name string, args []types.T) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = types.Of(a.OID).String()
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func operatorCall(symbol string, args []types.T) string {
	if len(args) == 1 {
		return fmt.Sprintf("%s %s", symbol, types.Of(args[0].OID))
	}
	return fmt.Sprintf("%s %s %s", types.Of(args[0].OID), symbol, types.Of(args[1].OID))
}

func plural(args []types.T, one, many string) string {
	if len(args) == 1 {
		return one
	}
	return many
}
