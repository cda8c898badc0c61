package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tributary-db/tributary/sql/invariants"
	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/tvc"
)

// payloadVersion is the first byte of every payload: the version of what follows.
const payloadVersion = 1

// The payloads are structs of their own, so that the objects can change without changing what is stored.
// Fields are written in the order they stand here.

type counterPayload struct {
	Next uint64 `json:"next"`
}

type settingPayload struct {
	Value string `json:"value"`
}

type databasePayload struct {
	OID     uint32   `json:"oid"`
	Name    string   `json:"name"`
	Owner   idString `json:"owner"`
	Comment string   `json:"comment,omitempty"`
}

type schemaPayload struct {
	OID      uint32   `json:"oid"`
	Database idString `json:"database"`
	Name     string   `json:"name"`
	Owner    idString `json:"owner"`
	Comment  string   `json:"comment,omitempty"`
}

type itemPayload struct {
	OID            uint32           `json:"oid"`
	Schema         idString         `json:"schema"`
	Name           string           `json:"name"`
	Kind           string           `json:"kind"`
	Owner          idString         `json:"owner"`
	Columns        []columnPayload  `json:"columns"`
	Keys           [][]int          `json:"keys,omitempty"`
	Query          string           `json:"query,omitempty"`
	On             *idString        `json:"on,omitempty"`
	Key            []keyPartPayload `json:"key,omitempty"`
	Cluster        *idString        `json:"cluster,omitempty"`
	Shard          string           `json:"shard,omitempty"`
	RetainMicros   int64            `json:"retain_micros,omitempty"`
	DependsOn      []idString       `json:"depends_on,omitempty"`
	Comment        string           `json:"comment,omitempty"`
	ColumnComments []string         `json:"column_comments,omitempty"`
	Version        uint64           `json:"version"`
}

type columnPayload struct {
	Name    string      `json:"name"`
	Type    typePayload `json:"type"`
	NotNull bool        `json:"not_null,omitempty"`
	Default string      `json:"default,omitempty"`
}

type typePayload struct {
	OID    types.OID      `json:"oid"`
	Mod    int32          `json:"mod"`
	Fields []fieldPayload `json:"fields,omitempty"`
}

type fieldPayload struct {
	Name string      `json:"name"`
	Type typePayload `json:"type"`
}

type keyPartPayload struct {
	Column int         `json:"column"`
	SQL    string      `json:"sql,omitempty"`
	Type   typePayload `json:"type"`
}

type clusterPayload struct {
	Name     string           `json:"name"`
	Owner    idString         `json:"owner"`
	Scale    int              `json:"scale"`
	Workers  int              `json:"workers"`
	Replicas []replicaPayload `json:"replicas"`
	Comment  string           `json:"comment,omitempty"`
}

type replicaPayload struct {
	ID      idString `json:"id"`
	Name    string   `json:"name"`
	Scale   int      `json:"scale"`
	Workers int      `json:"workers"`
}

type rolePayload struct {
	OID     uint32 `json:"oid"`
	Name    string `json:"name"`
	Super   bool   `json:"super,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// idString is an id as text.
type idString tvc.ID

func (id idString) MarshalText() ([]byte, error) { return []byte(tvc.ID(id).String()), nil }

func (id *idString) UnmarshalText(text []byte) error {
	if string(text) == (tvc.ID{}).String() {
		*id = idString{}
		return nil
	}
	parsed, err := tvc.ParseID(string(text))
	*id = idString(parsed)
	return err
}

func encodePayload(p any) []byte {
	var b bytes.Buffer
	b.WriteByte(payloadVersion)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		invariants.Failf("catalog: encode %T: %v", p, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decodePayload refuses what it does not know: a newer program may have written what must not be lost.
func decodePayload(payload []byte, p any) error {
	if len(payload) == 0 || payload[0] != payloadVersion {
		return fmt.Errorf("payload is not of version %d", payloadVersion)
	}
	d := json.NewDecoder(bytes.NewReader(payload[1:]))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return fmt.Errorf("decode payload: %w", err)
	}
	if d.More() {
		return fmt.Errorf("decode payload: more follows")
	}
	return nil
}

func databaseRow(d *Database) (tvc.ID, []byte) {
	return d.ID, encodePayload(databasePayload{d.OID, d.Name, idString(d.Owner), d.Comment})
}

func (p databasePayload) object(id tvc.ID) *Database {
	return &Database{ID: id, OID: p.OID, Name: p.Name, Owner: tvc.ID(p.Owner), Comment: p.Comment}
}

func schemaRow(c *Schema) (tvc.ID, []byte) {
	return c.ID, encodePayload(schemaPayload{c.OID, idString(c.Database), c.Name, idString(c.Owner), c.Comment})
}

func (p schemaPayload) object(id tvc.ID) *Schema {
	return &Schema{ID: id, OID: p.OID, Database: tvc.ID(p.Database), Name: p.Name, Owner: tvc.ID(p.Owner), Comment: p.Comment}
}

func roleRow(r *Role) (tvc.ID, []byte) {
	return r.ID, encodePayload(rolePayload{r.OID, r.Name, r.Super, r.Comment})
}

func (p rolePayload) object(id tvc.ID) *Role {
	return &Role{ID: id, OID: p.OID, Name: p.Name, Super: p.Super, Comment: p.Comment}
}

func clusterRow(c *Cluster) (tvc.ID, []byte) {
	p := clusterPayload{Name: c.Name, Owner: idString(c.Owner), Scale: c.Size.Scale, Workers: c.Size.Workers,
		Replicas: []replicaPayload{}, Comment: c.Comment}
	for _, r := range c.Replicas {
		p.Replicas = append(p.Replicas, replicaPayload{idString(r.ID), r.Name, r.Size.Scale, r.Size.Workers})
	}
	return c.ID, encodePayload(p)
}

func (p clusterPayload) object(id tvc.ID) *Cluster {
	c := &Cluster{ID: id, Name: p.Name, Owner: tvc.ID(p.Owner), Size: Size{p.Scale, p.Workers}, Comment: p.Comment}
	for _, r := range p.Replicas {
		c.Replicas = append(c.Replicas, Replica{tvc.ID(r.ID), r.Name, Size{r.Scale, r.Workers}})
	}
	return c
}

func itemRow(it *Item) (tvc.ID, []byte) {
	p := itemPayload{OID: it.OID, Schema: idString(it.Schema), Name: it.Name, Kind: it.Kind.String(),
		Owner: idString(it.Owner), Columns: []columnPayload{}, Keys: it.Rel.Keys, Query: it.Query.marked(),
		On: optionalID(it.On), Cluster: optionalID(it.Cluster), Shard: it.Shard,
		RetainMicros: it.Retain.Microseconds(), Comment: it.Comment, ColumnComments: it.ColumnComments, Version: it.Version}
	for i, c := range it.Rel.Cols {
		p.Columns = append(p.Columns, columnPayload{c.Name, typePayloadOf(c.Type), !c.Nullable, it.Default(i)})
	}
	for _, k := range it.Key {
		p.Key = append(p.Key, keyPartPayload{k.Column, k.SQL, typePayloadOf(k.Type)})
	}
	for _, id := range it.DependsOn {
		p.DependsOn = append(p.DependsOn, idString(id))
	}
	return it.ID, encodePayload(p)
}

func optionalID(id tvc.ID) *idString {
	if id.Class == 0 {
		return nil
	}
	s := idString(id)
	return &s
}

func (p itemPayload) object(id tvc.ID) (*Item, error) {
	it := &Item{ID: id, OID: p.OID, Schema: tvc.ID(p.Schema), Name: p.Name, Owner: tvc.ID(p.Owner),
		Rel: types.Rel{Keys: p.Keys}, Query: ParseText(p.Query), Shard: p.Shard,
		Retain: time.Duration(p.RetainMicros) * time.Microsecond, Comment: p.Comment, ColumnComments: p.ColumnComments, Version: p.Version}
	for _, k := range Kinds() {
		if !k.System() && k.String() == p.Kind {
			it.Kind = k
		}
	}
	if it.Kind == 0 {
		return nil, fmt.Errorf("unknown kind %q", p.Kind)
	}
	for i, c := range p.Columns {
		it.Rel.Cols = append(it.Rel.Cols, types.Column{Name: c.Name, Type: c.Type.typ(), Nullable: !c.NotNull})
		if c.Default != "" {
			if it.Defaults == nil {
				it.Defaults = make([]string, len(p.Columns))
			}
			it.Defaults[i] = c.Default
		}
	}
	if it.ColumnComments != nil && len(it.ColumnComments) != len(p.Columns) {
		return nil, fmt.Errorf("%d comments for %d columns", len(it.ColumnComments), len(p.Columns))
	}
	if p.On != nil {
		it.On = tvc.ID(*p.On)
	}
	if p.Cluster != nil {
		it.Cluster = tvc.ID(*p.Cluster)
	}
	for _, k := range p.Key {
		it.Key = append(it.Key, KeyPart{k.Column, k.SQL, k.Type.typ()})
	}
	for _, id := range p.DependsOn {
		it.DependsOn = append(it.DependsOn, tvc.ID(id))
	}
	return it, nil
}

func typePayloadOf(t types.T) typePayload {
	p := typePayload{OID: t.OID, Mod: t.Mod}
	if t.Record != nil {
		for _, f := range t.Record.Fields {
			p.Fields = append(p.Fields, fieldPayload{f.Name, typePayloadOf(f.Type)})
		}
	}
	return p
}

func (p typePayload) typ() types.T {
	t := types.T{OID: p.OID, Mod: p.Mod}
	if p.OID == types.OIDRecord && p.Fields != nil {
		t.Record = &types.Record{}
		for _, f := range p.Fields {
			t.Record.Fields = append(t.Record.Fields, types.Field{Name: f.Name, Type: f.Type.typ()})
		}
	}
	return t
}
