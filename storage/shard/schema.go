package shard

import "github.com/tributary-db/tributary/sql/types"

// maxRecordDepth bounds how deep record types nest in a schema that is read.
const maxRecordDepth = 32

func (e *encoder) schema(s Schema) {
	flags := byte(0)
	if s.Errors {
		flags = 1
	}
	e.byte(flags)
	e.uint(uint64(len(s.Rel.Cols)))
	for _, c := range s.Rel.Cols {
		e.bytes([]byte(c.Name))
		nullable := byte(0)
		if c.Nullable {
			nullable = 1
		}
		e.byte(nullable)
		e.sqlType(c.Type)
	}
	e.uint(uint64(len(s.Rel.Keys)))
	for _, k := range s.Rel.Keys {
		e.uint(uint64(len(k)))
		for _, c := range k {
			e.uint(uint64(c))
		}
	}
}

func (e *encoder) sqlType(t types.T) {
	e.uint(uint64(t.OID))
	e.int(int64(t.Mod))
	if t.Record == nil {
		e.byte(0)
		return
	}
	e.byte(1)
	e.uint(uint64(len(t.Record.Fields)))
	for _, f := range t.Record.Fields {
		e.bytes([]byte(f.Name))
		e.sqlType(f.Type)
	}
}

func (d *decoder) schema() Schema {
	s := Schema{Errors: d.byte()&1 != 0}
	for range d.count() {
		c := types.Column{Name: string(d.bytes()), Nullable: d.byte() != 0, Type: d.sqlType(0)}
		s.Rel.Cols = append(s.Rel.Cols, c)
	}
	for range d.count() {
		key := make([]int, d.count())
		for i := range key {
			key[i] = d.number()
			if key[i] >= len(s.Rel.Cols) {
				d.fail()
			}
		}
		s.Rel.Keys = append(s.Rel.Keys, key)
	}
	return s
}

func (d *decoder) sqlType(depth int) types.T {
	if depth > maxRecordDepth {
		d.fail()
	}
	t := types.T{OID: types.OID(d.uint()), Mod: int32(d.int())}
	if d.byte() == 0 {
		return t
	}
	t.Record = &types.Record{}
	for range d.count() {
		f := types.Field{Name: string(d.bytes()), Type: d.sqlType(depth + 1)}
		t.Record.Fields = append(t.Record.Fields, f)
	}
	return t
}
