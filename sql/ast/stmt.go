package ast

// Insert is INSERT. A nil Source is DEFAULT VALUES.
type Insert struct {
	Pos
	With      *With
	Table     Name
	Alias     string
	Columns   []Ident // nil: none were named
	Source    *Query
	Returning []SelectItem
}

// Update is UPDATE.
type Update struct {
	Pos
	With      *With
	Table     Name
	Alias     string
	Sets      []Assign
	From      []TableExpr
	Where     Expr
	Returning []SelectItem
}

// Assign is column = value or, with Multi set, (columns) = value, the value being a Row or a Subquery then.
type Assign struct {
	Pos
	Columns []Ident
	Multi   bool
	Value   Expr
}

// Delete is DELETE.
type Delete struct {
	Pos
	With      *With
	Table     Name
	Alias     string
	Using     []TableExpr
	Where     Expr
	Returning []SelectItem
}

// CopyTarget is where COPY reads or writes.
type CopyTarget uint8

// The targets of COPY.
const (
	CopyStdin CopyTarget = iota
	CopyStdout
	CopyFile    // a path or a URL
	CopyProgram // PROGRAM 'command'
)

// Copy is COPY: of Table, or of Source (a *Query, a *Subscribe, or a statement with RETURNING).
type Copy struct {
	Pos
	Table   Name
	Columns []Ident
	Source  Statement
	From    bool // COPY … FROM
	Target  CopyTarget
	Where   Expr
	// File is the path, URL or command of CopyFile and CopyProgram.
	File Expr
	// Options are WITH (…), the older forms (CSV HEADER …) rewritten to it.
	Options []Option
}

// Envelope is how SUBSCRIBE shows changes.
type Envelope uint8

// The envelopes.
const (
	EnvelopeNone Envelope = iota
	EnvelopeUpsert
	EnvelopeDebezium
)

// Subscribe is SUBSCRIBE of a Relation or of a Query.
type Subscribe struct {
	Pos
	Relation Name
	Query    *Query
	Options  []Option // SNAPSHOT, PROGRESS
	AsOf     *AsOf
	UpTo     Expr
	Envelope Envelope
	Key      []Ident
	// Within is WITHIN TIMESTAMP ORDER BY.
	Within []OrderItem
}

// Declare is DECLARE … CURSOR FOR. Options are BINARY, SCROLL, NO SCROLL, INSENSITIVE, ASENSITIVE,
// WITH HOLD and WITHOUT HOLD, as far as written.
type Declare struct {
	Pos
	Name    string
	Options []string
	Source  Statement // *Query or *Subscribe
}

// FetchDirection is the direction of FETCH.
type FetchDirection uint8

// The directions of FETCH.
const (
	FetchForward FetchDirection = iota
	FetchBackward
	FetchAbsolute
	FetchRelative
)

// Fetch is FETCH. Of the direction only what matters is kept: NEXT is forward 1, FIRST absolute 1.
type Fetch struct {
	Pos
	Name      string
	Direction FetchDirection
	All       bool
	Count     int64
	Options   []Option // TIMEOUT
}

// CloseCursor is CLOSE; an empty Name is ALL.
type CloseCursor struct {
	Pos
	Name string
}

// ExplainKind tells the forms of EXPLAIN apart.
type ExplainKind uint8

// The forms of EXPLAIN.
const (
	ExplainPlan ExplainKind = iota
	ExplainTimestamp
	ExplainFilterPushdown
	ExplainAnalyze // EXPLAIN ANALYZE CPU, MEMORY or HINTS FOR an object
)

// Explain is EXPLAIN: of a Statement, or of the existing object Name of kind Object.
type Explain struct {
	Pos
	Kind ExplainKind
	// Stage is RAW, DECORRELATED, LOCALLY OPTIMIZED, OPTIMIZED, PHYSICAL, or empty; of ExplainAnalyze what is
	// asked for, such as CPU.
	Stage string
	// Options are PostgreSQL's EXPLAIN (…) and Materialize's WITH (…); a bare ANALYZE or VERBOSE is one too.
	Options   []Option
	Format    string // TEXT, VERBOSE TEXT, JSON, DOT, SQL or empty
	Statement Statement
	Object    ObjectKind
	Name      Name
}

// SetScope is how long a SET holds.
type SetScope uint8

// The scopes of SET.
const (
	ScopeUnsaid SetScope = iota
	ScopeSession
	ScopeLocal
)

// SetVar is SET name = values; no Values is DEFAULT. TIME ZONE, NAMES, SCHEMA, ROLE and the like have become
// names of variables, and bare words have become strings.
type SetVar struct {
	Pos
	Scope  SetScope
	Name   string
	Values []Expr
}

// ResetVar is RESET name; an empty Name is ALL.
type ResetVar struct {
	Pos
	Name string
}

// TransactionMode is one of the modes of BEGIN and SET TRANSACTION. Isolation is the level in lower case
// (such as "strict serializable"), else Access is READ ONLY or READ WRITE, or Deferrable is DEFERRABLE or
// NOT DEFERRABLE.
type TransactionMode struct {
	Isolation  string
	Access     string
	Deferrable string
}

// SetTransaction is SET TRANSACTION and SET SESSION CHARACTERISTICS AS TRANSACTION.
type SetTransaction struct {
	Pos
	Session bool
	Modes   []TransactionMode
}

// Begin is BEGIN and START TRANSACTION.
type Begin struct {
	Pos
	Modes []TransactionMode
}

// Commit is COMMIT and END.
type Commit struct {
	Pos
	Chain bool
}

// Rollback is ROLLBACK and ABORT.
type Rollback struct {
	Pos
	Chain bool
}

// Prepare is PREPARE.
type Prepare struct {
	Pos
	Name      string
	Types     []*TypeName
	Statement Statement
}

// Execute is EXECUTE.
type Execute struct {
	Pos
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE; an empty Name is ALL.
type Deallocate struct {
	Pos
	Name string
}

// Discard is DISCARD; What is ALL, TEMP, PLANS or SEQUENCES.
type Discard struct {
	Pos
	What string
}

// ShowVar is SHOW name; an empty Name is ALL.
type ShowVar struct {
	Pos
	Name string
}

// ShowObjects is SHOW TABLES and its like, each Kind one list; KindColumn is SHOW COLUMNS FROM On.
type ShowObjects struct {
	Pos
	Kind    ObjectKind
	From    Name   // FROM schema (or database, for schemas)
	On      Name   // SHOW INDEXES ON, SHOW COLUMNS FROM, SHOW SUBSOURCES ON
	Cluster string // IN CLUSTER
	Like    *string
	Where   Expr
}

// ShowCreate is SHOW [REDACTED] CREATE kind name.
type ShowCreate struct {
	Pos
	Kind     ObjectKind
	Name     Name
	Redacted bool
}

// ShowPrivileges is SHOW PRIVILEGES, DEFAULT PRIVILEGES and ROLE MEMBERSHIP.
type ShowPrivileges struct {
	Pos
	Default    bool
	Membership bool
	On         ObjectKind // 0: on anything
	For        *Role
	Like       *string
	Where      Expr
}

func (*Query) statement()          {}
func (*Insert) statement()         {}
func (*Update) statement()         {}
func (*Delete) statement()         {}
func (*Copy) statement()           {}
func (*Subscribe) statement()      {}
func (*Declare) statement()        {}
func (*Fetch) statement()          {}
func (*CloseCursor) statement()    {}
func (*Explain) statement()        {}
func (*SetVar) statement()         {}
func (*ResetVar) statement()       {}
func (*SetTransaction) statement() {}
func (*Begin) statement()          {}
func (*Commit) statement()         {}
func (*Rollback) statement()       {}
func (*Prepare) statement()        {}
func (*Execute) statement()        {}
func (*Deallocate) statement()     {}
func (*Discard) statement()        {}
func (*ShowVar) statement()        {}
func (*ShowObjects) statement()    {}
func (*ShowCreate) statement()     {}
func (*ShowPrivileges) statement() {}
