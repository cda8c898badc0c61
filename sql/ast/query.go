package ast

// Query is a SELECT, VALUES or set operation with what may stand around it. It is a Statement, and a
// QueryBody where parentheses keep its ORDER BY or LIMIT inside a set operation.
type Query struct {
	Pos
	With    *With
	Body    QueryBody
	OrderBy []OrderItem
	Limit   Expr // nil: no limit; LIMIT ALL is no limit, LIMIT NULL is kept
	Offset  Expr
	AsOf    *AsOf
}

// QueryBody is what gives the rows: Select, SetOp, Values, Query, and the SHOW statements.
type QueryBody interface {
	Node
	Position() int
	queryBody()
}

// Select is one SELECT. TABLE t is SELECT * FROM t.
type Select struct {
	Pos
	Distinct   bool
	DistinctOn []Expr // not nil: DISTINCT ON, and Distinct is set
	Items      []SelectItem
	From       []TableExpr
	Where      Expr
	GroupBy    []Expr
	Having     Expr
	Windows    []NamedWindow
	Qualify    Expr
	Options    []Option // OPTIONS (…): hints
}

// SelectItem is one entry of a list of results.
type SelectItem struct {
	Expr  Expr
	Alias string // empty: none
}

// NamedWindow is one entry of a WINDOW clause.
type NamedWindow struct {
	Name   string
	Window *Window
}

// SetOpKind tells set operations apart.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Except
	Intersect
)

func (k SetOpKind) String() string { return [...]string{"UNION", "EXCEPT", "INTERSECT"}[k] }

// SetOp is UNION, EXCEPT or INTERSECT.
type SetOp struct {
	Pos         // of the operator
	Kind        SetOpKind
	All         bool
	Left, Right QueryBody
}

// Values is a list of rows; all have as many items as the first.
type Values struct {
	Pos
	Rows [][]Expr
}

// With is a WITH clause.
type With struct {
	Pos
	Recursive bool
	// Mutual is WITH MUTUALLY RECURSIVE, whose bindings have typed columns.
	Mutual  bool
	Options []Option // RECURSION LIMIT, RETURN AT RECURSION LIMIT, ERROR AT RECURSION LIMIT
	CTEs    []CTE
}

// Materialize is a hint on a CTE.
type Materialize uint8

// The hints on CTEs.
const (
	MaterializeUnsaid Materialize = iota
	MaterializeAlways
	MaterializeNever
)

// CTE is one binding of a With.
type CTE struct {
	Pos
	Name        string
	Columns     []string
	Defs        []ColumnDef // typed columns, of MUTUALLY RECURSIVE only
	Materialize Materialize
	Query       *Query
}

// AsOf is AS OF t or AS OF AT LEAST t.
type AsOf struct {
	Pos
	AtLeast bool
	At      Expr
}

// TableExpr is an entry of FROM.
type TableExpr interface {
	Node
	Position() int
	tableExpr()
}

// Alias is [AS] name (columns) behind an entry of FROM. Defs gives typed columns, for functions that
// return records; Name may be empty then.
type Alias struct {
	Pos
	Name    string
	Columns []string
	Defs    []ColumnDef
}

// TableRef is a relation by name.
type TableRef struct {
	Pos
	Name  Name
	Alias *Alias
}

// Derived is a query in FROM.
type Derived struct {
	Pos
	Lateral bool
	Query   *Query
	Alias   *Alias
}

// TableFunc is a function in FROM, or several side by side by ROWS FROM.
type TableFunc struct {
	Pos
	Lateral    bool
	RowsFrom   bool
	Calls      []TableCall // one, unless RowsFrom
	Ordinality bool
	Alias      *Alias
}

// TableCall is one function of a TableFunc: a Call mostly, but any function-like expression may stand here.
type TableCall struct {
	Call Expr
	Defs []ColumnDef
}

// JoinKind tells joins apart.
type JoinKind uint8

// The kinds of joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
)

var joinKinds = [...]string{
	InnerJoin: "JOIN", LeftJoin: "LEFT JOIN", RightJoin: "RIGHT JOIN", FullJoin: "FULL JOIN", CrossJoin: "CROSS JOIN",
}

func (k JoinKind) String() string { return joinKinds[k] }

// Join is a join. Exactly one of On, Using and Natural is set, none for CrossJoin.
type Join struct {
	Pos        // of the first word of the join
	Kind       JoinKind
	Left       TableExpr
	Right      TableExpr
	Natural    bool
	On         Expr
	Using      []Ident
	UsingAlias string // USING (…) AS alias
	Alias      *Alias // of a join in parentheses
}

func (*Select) queryBody()         {}
func (*SetOp) queryBody()          {}
func (*Values) queryBody()         {}
func (*Query) queryBody()          {}
func (*ShowObjects) queryBody()    {}
func (*ShowPrivileges) queryBody() {}
func (*ShowCreate) queryBody()     {}
func (*ShowVar) queryBody()        {}

func (*TableRef) tableExpr()  {}
func (*Derived) tableExpr()   {}
func (*TableFunc) tableExpr() {}
func (*Join) tableExpr()      {}
