package fn

import (
	"github.com/tributary-db/tributary/sql/scalar"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
)

// privileges makes the functions that ask whether a role may do something. Everybody may do everything until there
// are privileges, so that all of them say yes.
func privileges() []scalar.Func {
	var fs []scalar.Func
	add := func(name string, oid uint32, args ...types.T) {
		fs = append(fs, row(name, oid, strict, args, tBool, always(vec.BoolOf(true)),
			"whether a role has a privilege: true, since there are none yet"))
	}
	// In these the object has a name or a number, and so may the role, or it is left out. The numbers are in the
	// order of the loops below.
	for _, f := range []struct {
		name string
		oids [6]uint32
	}{
		{"has_any_column_privilege", [6]uint32{3024, 3025, 3026, 3027, 3028, 3029}},
		{"has_database_privilege", [6]uint32{2250, 2251, 2252, 2253, 2254, 2255}},
		{"has_foreign_data_wrapper_privilege", [6]uint32{3000, 3001, 3002, 3003, 3004, 3005}},
		{"has_function_privilege", [6]uint32{2256, 2257, 2258, 2259, 2260, 2261}},
		{"has_language_privilege", [6]uint32{2262, 2263, 2264, 2265, 2266, 2267}},
		{"has_schema_privilege", [6]uint32{2268, 2269, 2270, 2271, 2272, 2273}},
		{"has_sequence_privilege", [6]uint32{2181, 2182, 2183, 2184, 2185, 2186}},
		{"has_server_privilege", [6]uint32{3006, 3007, 3008, 3009, 3010, 3011}},
		{"has_table_privilege", [6]uint32{1922, 1923, 1924, 1925, 1926, 1927}},
		{"has_tablespace_privilege", [6]uint32{2390, 2391, 2392, 2393, 2394, 2395}},
		{"has_type_privilege", [6]uint32{3138, 3139, 3140, 3141, 3142, 3143}},
	} {
		at := 0
		for _, role := range [][]types.T{{tName}, {tOid}, nil} {
			for _, object := range []types.T{tText, tOid} {
				add(f.name, f.oids[at], append(append(sig(), role...), object, tText)...)
				at++
			}
		}
	}
	for i, oid := range []uint32{3012, 3013, 3014, 3015, 3016, 3017, 3018, 3019, 3020, 3021, 3022, 3023} {
		role := [][]types.T{{tName}, {tOid}, nil}[i/4]
		object := []types.T{tText, tOid}[i/2%2]
		column := []types.T{tText, tInt2}[i%2]
		add("has_column_privilege", oid, append(append(sig(), role...), object, column, tText)...)
	}
	add("pg_has_role", 2705, tName, tName, tText)
	add("pg_has_role", 2706, tName, tOid, tText)
	add("pg_has_role", 2707, tOid, tName, tText)
	add("pg_has_role", 2708, tOid, tOid, tText)
	add("pg_has_role", 2709, tName, tText)
	add("pg_has_role", 2710, tOid, tText)
	return fs
}
