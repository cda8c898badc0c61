package fn

import (
	"errors"
	"slices"

	"github.com/tributary-db/tributary/sql/pgerr"
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
)

// The ways in which there is no single best overload; callers turn them into messages.
var (
	errNoMatch   = errors.New("no overload matches")
	errAmbiguous = errors.New("several overloads match equally well")
)

// signature is what an overload declares.
type signature struct {
	args     []types.T
	variadic bool
}

func funcSigs(fs []*scalar.Func) []signature {
	sigs := make([]signature, len(fs))
	for i, f := range fs {
		sigs[i] = signature{args: f.Args, variadic: f.Variadic}
	}
	return sigs
}

// choose picks the overload that a call means, by PostgreSQL's rules: an exact match; else, of those that the
// arguments can be cast to implicitly, the one with most exact matches, then with most preferred types; and
// then what unknown literals can best be.
func choose(sigs []signature, args []types.T) (overload, error) {
	all := expand(sigs, len(args))
	for _, c := range all {
		if slices.EqualFunc(c.args, args, sameOID) {
			return c, nil
		}
	}
	var fit []overload
	for _, c := range all {
		if accepts(c.args, args) {
			fit = append(fit, c)
		}
	}
	switch len(fit) {
	case 0:
		return overload{}, errNoMatch
	case 1:
		return fit[0], nil
	}
	return best(fit, args)
}

func sameOID(a, b types.T) bool { return a.OID == b.OID }

// expand gives the overloads that take n arguments. Of a repeated parameter and a plain list that say the same
// the plain list counts.
func expand(sigs []signature, n int) []overload {
	var all []overload
	for i, s := range sigs {
		switch {
		case !s.variadic && len(s.args) == n:
			all = append(all, overload{args: s.args, index: i})
		case s.variadic && len(s.args) <= n:
			args := slices.Clone(s.args)
			for len(args) < n {
				args = append(args, s.args[len(s.args)-1])
			}
			all = append(all, overload{args: args, index: i, variadic: true})
		}
	}
	return slices.DeleteFunc(all, func(c overload) bool {
		return c.variadic && slices.ContainsFunc(all, func(d overload) bool {
			return !d.variadic && slices.EqualFunc(c.args, d.args, sameOID)
		})
	})
}

// accepts says whether arguments of these types can be cast implicitly to what is declared.
func accepts(declared, args []types.T) bool {
	generic := false
	for i, d := range declared {
		switch {
		case d.OID == types.OIDAny || args[i].OID == types.OIDUnknown:
		case isGeneric(d.OID):
			generic = true
		case !castable(args[i], d, types.Implicit), d.OID == types.OIDMzTimestamp && !hasMzTimestamp(args):
			return false
		}
	}
	if generic {
		_, err := generics(declared, args)
		return err == nil
	}
	return true
}

// hasMzTimestamp says whether a logical time is among the arguments. Numbers and times become logical times only
// beside one: else a date could be compared with a number, both as logical times.
func hasMzTimestamp(args []types.T) bool {
	return slices.ContainsFunc(args, func(t types.T) bool { return t.OID == types.OIDMzTimestamp })
}

// best applies the tie-breaking rules to overloads that all fit.
func best(fit []overload, args []types.T) (overload, error) {
	fit = most(fit, func(c overload, i int) bool { return sameOID(c.args[i], args[i]) }, args)
	if len(fit) == 1 {
		return fit[0], nil
	}
	fit = most(fit, func(c overload, i int) bool {
		return sameOID(c.args[i], args[i]) || c.args[i].Preferred() && c.args[i].Category() == args[i].Category()
	}, args)
	if len(fit) == 1 {
		return fit[0], nil
	}
	unknowns := 0
	for _, a := range args {
		if a.OID == types.OIDUnknown {
			unknowns++
		}
	}
	if unknowns == 0 {
		return overload{}, errAmbiguous
	}
	if narrowed := byCategory(fit, args); narrowed != nil {
		if fit = narrowed; len(fit) == 1 {
			return fit[0], nil
		}
	}
	if c, ok := asOthers(fit, args); ok {
		return c, nil
	}
	return overload{}, errAmbiguous
}

// most keeps the overloads with most good arguments, not counting unknown ones.
func most(fit []overload, good func(c overload, i int) bool, args []types.T) []overload {
	top := 0
	var kept []overload
	for _, c := range fit {
		n := 0
		for i, a := range args {
			if a.OID != types.OIDUnknown && good(c, i) {
				n++
			}
		}
		if n > top {
			top, kept = n, nil
		}
		if n == top {
			kept = append(kept, c)
		}
	}
	return kept
}

// byCategory decides what sort of thing each unknown literal is: a string if any overload takes one, else what
// all overloads agree on; then it keeps the overloads of that sort, with its preferred type if one of them has
// that. It gives nil if nothing can be decided.
func byCategory(fit []overload, args []types.T) []overload {
	kept := slices.Clone(fit)
	for i, a := range args {
		if a.OID != types.OIDUnknown {
			continue
		}
		category, preferred, ok := literalCategory(fit, i)
		if !ok {
			return nil
		}
		kept = slices.DeleteFunc(kept, func(c overload) bool {
			t := c.args[i]
			return t.Category() != category || preferred && !t.Preferred()
		})
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func literalCategory(fit []overload, i int) (category byte, preferred, ok bool) {
	ok = true
	for k, c := range fit {
		t := c.args[i]
		switch {
		case k == 0:
			category, preferred = t.Category(), t.Preferred()
		case t.Category() == category:
			preferred = preferred || t.Preferred()
		case t.Category() == 'S':
			category, preferred = 'S', t.Preferred()
		default:
			ok = false
		}
	}
	return category, preferred, ok || category == 'S'
}

// asOthers takes unknown literals to be of the one type that all other arguments have.
func asOthers(fit []overload, args []types.T) (overload, bool) {
	known := tUnknown
	for _, a := range args {
		switch {
		case a.OID == types.OIDUnknown:
		case known.OID == types.OIDUnknown:
			known = a
		case known.OID != a.OID:
			return overload{}, false
		}
	}
	if known.OID == types.OIDUnknown {
		return overload{}, false
	}
	same := slices.Repeat([]types.T{known}, len(args))
	var kept []overload
	for _, c := range fit {
		if accepts(c.args, same) {
			kept = append(kept, c)
		}
	}
	if len(kept) != 1 {
		return overload{}, false
	}
	return kept[0], true
}

// exactOperator finds an operator for just these types; an unknown operand is taken to be of the other's.
func exactOperator(sigs []signature, args []types.T) (overload, bool) {
	if len(args) == 2 {
		args = slices.Clone(args)
		for i := range args {
			if args[i].OID == types.OIDUnknown {
				args[i] = args[1-i]
			}
		}
	}
	for i, s := range sigs {
		if slices.EqualFunc(s.args, args, sameOID) {
			return overload{args: s.args, index: i}, true
		}
	}
	return overload{}, false
}

// isGeneric says whether a parameter's type is settled by the arguments.
func isGeneric(oid types.OID) bool { return isSame(oid) || isCompatible(oid) }

// isSame: one type for all such parameters.
func isSame(oid types.OID) bool {
	return oid == types.OIDAnyElement || oid == types.OIDAnyArray || oid == types.OIDAnyNonArray
}

// isCompatible: all such arguments are cast to one type.
func isCompatible(oid types.OID) bool {
	return oid == types.OIDAnyCompatible || oid == types.OIDAnyCompatibleArray || oid == types.OIDAnyCompatibleNonArray
}

func isGenericArray(oid types.OID) bool {
	return oid == types.OIDAnyArray || oid == types.OIDAnyCompatibleArray
}

// generic is what a call's generic parameters stand for.
type generic struct {
	elem, array     types.T // of anyelement and anyarray; unknown if no argument says
	compat, compats types.T // of anycompatible and its array
}

// generics settles generic parameters.
func generics(declared, args []types.T) (generic, error) {
	g := generic{elem: tUnknown, array: tUnknown, compat: tUnknown, compats: tUnknown}
	var compatible []types.T
	for i, d := range declared {
		a := args[i]
		if a.OID == types.OIDUnknown || !isGeneric(d.OID) {
			continue
		}
		elem := a
		if isGenericArray(d.OID) {
			var ok bool
			if elem, ok = a.Elem(); !ok {
				return g, errNoMatch
			}
			elem.Mod = types.NoMod
		} else if d.OID != types.OIDAnyElement && d.OID != types.OIDAnyCompatible && a.IsArray() {
			return g, errNoMatch
		}
		if isCompatible(d.OID) {
			compatible = append(compatible, elem)
			continue
		}
		if g.elem.OID != types.OIDUnknown && g.elem.OID != elem.OID {
			return g, errNoMatch
		}
		g.elem = elem
		if isGenericArray(d.OID) {
			if g.array.OID != types.OIDUnknown && g.array.OID != a.OID {
				return g, errNoMatch
			}
			g.array = a
		}
	}
	if err := g.settleCompatible(declared, args, compatible); err != nil {
		return g, err
	}
	return g, nil
}

func (g *generic) settleCompatible(declared, args, elems []types.T) error {
	if !slices.ContainsFunc(declared, func(d types.T) bool { return isCompatible(d.OID) }) {
		return nil
	}
	common, err := CommonType("", elems...)
	if err != nil {
		return errNoMatch
	}
	g.compat = common
	if slices.ContainsFunc(declared, func(d types.T) bool { return d.OID == types.OIDAnyCompatibleArray }) {
		var ok bool
		if g.compats, ok = common.Array(); !ok {
			return errNoMatch
		}
	}
	for _, e := range elems {
		if !castable(e, common, types.Implicit) {
			return errNoMatch
		}
	}
	return nil
}

// bindTypes gives the types that arguments are cast to and that of the result.
func bindTypes(params []types.T, c overload, args []types.T, ret types.T) ([]types.T, types.T, error) {
	g, err := generics(c.args, args)
	if err != nil {
		return nil, ret, err
	}
	actual := make([]types.T, len(args))
	for i, d := range c.args {
		if actual[i], err = g.instance(d, args[i]); err != nil {
			return nil, ret, err
		}
		// What is of the type already keeps its modifier, so that there is nothing to cast.
		if actual[i].OID == args[i].OID {
			actual[i] = args[i]
		}
	}
	ret, err = g.instance(ret, ret)
	return actual, ret, err
}

// instance is the type that a declared one stands for, for an argument of type a.
func (g *generic) instance(d, a types.T) (types.T, error) {
	var is types.T
	switch d.OID {
	case types.OIDAny:
		return a, nil
	case types.OIDAnyElement, types.OIDAnyNonArray:
		is = g.elem
	case types.OIDAnyArray:
		if is = g.array; is.OID == types.OIDUnknown && g.elem.OID != types.OIDUnknown {
			array, ok := g.elem.Array()
			if !ok {
				return d, pgerr.Newf(pgerr.UndefinedObject, "could not find array type for data type %s", g.elem)
			}
			is = array
		}
	case types.OIDAnyCompatible, types.OIDAnyCompatibleNonArray:
		is = g.compat
	case types.OIDAnyCompatibleArray:
		is = g.compats
	default:
		return d, nil
	}
	if is.OID == types.OIDUnknown {
		return d, pgerr.New(pgerr.DatatypeMismatch,
			"could not determine polymorphic type because input has type unknown")
	}
	is.Mod = types.NoMod
	return is, nil
}

// CommonType finds the type that values of several types, such as the branches of a CASE or of a UNION, are cast
// to: by PostgreSQL's rules the first that is not unknown, unless a later one of its category is better. All
// unknown are text. context is for the message: "CASE types integer and text cannot be matched".
func CommonType(context string, ts ...types.T) (types.T, error) {
	if len(ts) == 0 {
		return tText, nil
	}
	if !slices.ContainsFunc(ts, func(t types.T) bool { return !t.Equal(ts[0]) }) && ts[0].OID != types.OIDUnknown {
		return ts[0], nil
	}
	common := ts[0]
	for _, t := range ts[1:] {
		switch {
		case t.OID == types.OIDUnknown || t.OID == common.OID:
		case common.OID == types.OIDUnknown:
			common = t
		case t.Category() != common.Category():
			return common, pgerr.Newf(pgerr.DatatypeMismatch, "%s types %s and %s cannot be matched", context,
				types.Of(common.OID), types.Of(t.OID))
		case !common.Preferred() && castable(common, t, types.Implicit) && !castable(t, common, types.Implicit):
			common = t
		}
	}
	if common.OID == types.OIDUnknown {
		return tText, nil
	}
	common.Mod = types.NoMod
	return common, nil
}
