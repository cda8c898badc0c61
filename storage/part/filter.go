package part

import "github.com/tributary-db/tributary/sql/vec"

// Condition is what a row must meet in one column: its value lies in one of Ranges, or it is NULL and Null is
// set.
type Condition struct {
	Col    int
	Null   bool
	Ranges []Range
}

// Range is the values from Min to Max. An end that is NULL is no bound; one that is open is not in the range itself.
type Range struct {
	Min, Max         vec.Datum
	MinOpen, MaxOpen bool
}

// MayMeet says whether some value of a column with these statistics, in a part of so many rows, can meet the
// condition; the condition's column is not looked at.
func (s *ColumnStats) MayMeet(c *Condition, rows int) bool {
	if c.Null && s.Nulls > 0 {
		return true
	}
	if s.Nulls == rows {
		return false
	}
	if !s.Known {
		return true
	}
	for i := range c.Ranges {
		if c.Ranges[i].overlaps(s.Min, s.Max) {
			return true
		}
	}
	return false
}

// overlaps says whether a value from lo to hi, which are not NULL, can be in the range. Of data of different kinds
// nothing is known.
func (r *Range) overlaps(lo, hi vec.Datum) bool {
	if !r.Min.IsNull() && r.Min.Kind() == hi.Kind() {
		if c := hi.Compare(r.Min); c < 0 || c == 0 && r.MinOpen {
			return false
		}
	}
	if !r.Max.IsNull() && r.Max.Kind() == lo.Kind() {
		if c := lo.Compare(r.Max); c > 0 || c == 0 && r.MaxOpen {
			return false
		}
	}
	return true
}
