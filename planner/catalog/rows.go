package catalog

import (
	"fmt"
	"strconv"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/sql/vec"
	"github.com/tributary-db/tributary/storage/tvc"
)

// Rel describes the durable rows of the catalog: what kind of object, its id or name, its payload. See
// FORMAT.md.
func Rel() types.Rel {
	return types.Rel{Cols: []types.Column{
		{Name: "kind", Type: types.TText},
		{Name: "id", Type: types.TText},
		{Name: "payload", Type: types.TBytea},
	}, Keys: [][]int{{0, 1}}}
}

// The kinds of rows.
const (
	rowCounter  = "counter"
	rowDatabase = "database"
	rowSchema   = "schema"
	rowItem     = "item"
	rowCluster  = "cluster"
	rowRole     = "role"
	rowSetting  = "setting"
	rowGarbage  = "garbage"
)

// Rows gives the changes as updates of the durable rows: what goes with diff −1, what comes with +1. It
// is empty if nothing durable changed.
func (c *Changes) Rows() *vec.Block {
	b := vec.NewBlock(Rel().Kinds(), 0)
	if c.from.next != c.to.next {
		c.counterRows(b)
	}
	for _, d := range c.Databases {
		changeRows(b, rowDatabase, d, databaseRow)
	}
	for _, d := range c.Schemas {
		changeRows(b, rowSchema, d, schemaRow)
	}
	for _, d := range c.Items {
		changeRows(b, rowItem, d, itemRow)
	}
	for _, d := range c.Clusters {
		changeRows(b, rowCluster, d, clusterRow)
	}
	for _, d := range c.Roles {
		changeRows(b, rowRole, d, roleRow)
	}
	for _, d := range c.Settings {
		if d.Old != nil {
			addRow(b, -1, rowSetting, d.Name, encodePayload(settingPayload{*d.Old}))
		}
		if d.New != nil {
			addRow(b, +1, rowSetting, d.Name, encodePayload(settingPayload{*d.New}))
		}
	}
	for _, shard := range c.Forgotten {
		addRow(b, -1, rowGarbage, shard, encodePayload(struct{}{}))
	}
	for _, shard := range c.Garbage {
		addRow(b, +1, rowGarbage, shard, encodePayload(struct{}{}))
	}
	return b
}

func (c *Changes) counterRows(b *vec.Block) {
	from, to := c.from.next, c.to.next
	// The empty catalog has no counter rows: it is what is there before the first write.
	for _, n := range [...]struct {
		name     string
		old, new uint64
		initial  uint64
	}{{"id", from.ID, to.ID, 1}, {"oid", uint64(from.OID), uint64(to.OID), FirstUserOID}} {
		if n.old == n.new {
			continue
		}
		if n.old != n.initial {
			addRow(b, -1, rowCounter, n.name, encodePayload(counterPayload{n.old}))
		}
		addRow(b, +1, rowCounter, n.name, encodePayload(counterPayload{n.new}))
	}
}

// changeRows adds the rows of one object's change; row gives its id and payload, and false for what is
// not durable.
func changeRows[T any](b *vec.Block, kind string, c Change[T], row func(*T) (tvc.ID, []byte)) {
	if c.Old != nil {
		id, payload := row(c.Old)
		addObjectRow(b, -1, kind, id, payload)
	}
	if c.New != nil {
		id, payload := row(c.New)
		addObjectRow(b, +1, kind, id, payload)
	}
}

func addObjectRow(b *vec.Block, diff int64, kind string, id tvc.ID, payload []byte) {
	// The system's objects are made anew by every start.
	if id.Class == 'u' {
		addRow(b, diff, kind, id.String(), payload)
	}
}

func addRow(b *vec.Block, diff int64, kind, id string, payload []byte) {
	b.AppendRow(diff, vec.StrOf(kind), vec.StrOf(id), vec.BytesOf(payload))
}

// Load makes the snapshot that durable rows describe: the sum of everything Rows ever gave. The system's
// objects are added. Rows that no Rows made give an error.
func Load(system System, blocks []*vec.Block) (*Snapshot, error) {
	s := empty()
	system.addTo(s)
	kinds := Rel().Kinds()
	all := vec.NewBlock(kinds, 0)
	for _, b := range blocks {
		all.AppendBlock(b)
	}
	all = all.Consolidated()
	for i := range all.Len {
		if d := all.Diff(i); d != 1 {
			return nil, fmt.Errorf("catalog row %s %s counts %d times", all.Cols[0].Bytes(i), all.Cols[1].Bytes(i), d)
		}
		kind, id := string(all.Cols[0].Bytes(i)), string(all.Cols[1].Bytes(i))
		if err := s.loadRow(kind, id, all.Cols[2].Bytes(i)); err != nil {
			return nil, fmt.Errorf("catalog row %s %s: %w", kind, id, err)
		}
	}
	return s, s.check()
}

func (s *Snapshot) loadRow(kind, key string, payload []byte) error {
	switch kind {
	case rowCounter:
		var p counterPayload
		if err := decodePayload(payload, &p); err != nil {
			return err
		}
		switch key {
		case "id":
			s.next.ID = p.Next
		case "oid":
			s.next.OID = uint32(p.Next)
		default:
			return fmt.Errorf("unknown counter")
		}
		return nil
	case rowSetting:
		var p settingPayload
		if err := decodePayload(payload, &p); err != nil {
			return err
		}
		s.settings = s.settings.set(key, p.Value)
		return nil
	case rowGarbage:
		s.garbage = s.garbage.set(key, struct{}{})
		return decodePayload(payload, &struct{}{})
	}
	id, err := tvc.ParseID(key)
	if err != nil {
		return err
	}
	switch kind {
	case rowDatabase:
		var p databasePayload
		err = decodePayload(payload, &p)
		s.putDatabase(nil, p.object(id))
	case rowSchema:
		var p schemaPayload
		err = decodePayload(payload, &p)
		s.putSchema(nil, p.object(id))
	case rowItem:
		var p itemPayload
		if err = decodePayload(payload, &p); err != nil {
			return err
		}
		it, err := p.object(id)
		if err != nil {
			return err
		}
		s.putItem(nil, it)
	case rowCluster:
		var p clusterPayload
		err = decodePayload(payload, &p)
		s.putCluster(nil, p.object(id))
	case rowRole:
		var p rolePayload
		err = decodePayload(payload, &p)
		s.putRole(nil, p.object(id))
	default:
		return fmt.Errorf("unknown kind of row")
	}
	return err
}

// check says whether what was loaded hangs together: every object is in something that is there, needs
// only what is there, and no number will be given twice.
func (s *Snapshot) check() error {
	used := func(id tvc.ID, oid uint32) error {
		if id.Class == 'u' && (id.N >= s.next.ID || oid >= s.next.OID) {
			return fmt.Errorf("catalog: %v (oid %d) is not below the counters %s and %s", id, oid,
				strconv.FormatUint(s.next.ID, 10), strconv.FormatUint(uint64(s.next.OID), 10))
		}
		return nil
	}
	for c := range s.Schemas() {
		if c.ID.Class == 'u' && s.Database(c.Database) == nil {
			return fmt.Errorf("catalog: schema %v is in database %v, which is not there", c.ID, c.Database)
		}
		if err := used(c.ID, c.OID); err != nil {
			return err
		}
	}
	for it := range s.Items() {
		if s.Schema(it.Schema) == nil {
			return fmt.Errorf("catalog: item %v is in schema %v, which is not there", it.ID, it.Schema)
		}
		for _, e := range edges(it) {
			if s.Item(e.on) == nil && s.Cluster(e.on) == nil {
				return fmt.Errorf("catalog: item %v needs %v, which is not there", it.ID, e.on)
			}
		}
		if err := used(it.ID, it.OID); err != nil {
			return err
		}
	}
	for c := range s.Clusters() {
		if err := used(c.ID, 0); err != nil {
			return err
		}
	}
	return nil
}
