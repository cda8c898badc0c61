package ddl

import (
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/ast"
)

// alterSystem is ALTER SYSTEM SET and RESET. The value is checked here and kept as it is printed; it takes effect when
// the coordinator publishes the change.
func (b *binding) alterSystem(st *ast.AlterSystem) error {
	set := b.Settings
	if st.Reset {
		if st.Name == "" {
			b.Ops = append(b.Ops, &catalog.ResetSystem{})
			return nil
		}
		p, err := set.Lookup(st.Name)
		if err != nil {
			return err
		}
		b.Ops = append(b.Ops, &catalog.ResetSystem{Name: p.Name()})
		return nil
	}
	p, err := set.Lookup(st.Name)
	if err != nil {
		return err
	}
	if len(st.Values) == 0 {
		b.Ops = append(b.Ops, &catalog.ResetSystem{Name: p.Name()})
		return nil
	}
	text, err := SettingText(st.Name, st.Values)
	if err != nil {
		return err
	}
	value, err := set.Check(p.Name(), text)
	if err != nil {
		return err
	}
	b.Ops = append(b.Ops, &catalog.SetSystem{Name: p.Name(), Value: value})
	return nil
}
