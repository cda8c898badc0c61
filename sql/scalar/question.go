package scalar

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/vec"
)

// Env answers what an expression may ask beside its row: about the statement, the session and the catalog.
// An Env is safe for concurrent use.
type Env interface {
	// Ask gives the answer to a question; each Question says what its argument and its answer are. NULL means
	// that there is no such thing; an error ends the evaluation of the row.
	Ask(q Question, arg vec.Datum) (vec.Datum, error)
}

// Question is what an Env may be asked. The set is closed: Questions lists it.
//
// Where a question takes two numbers, the argument is an Int with the first in the high and the second in
// the low 32 bits. Names are as a client writes them in a string: parts separated by dots, quoted where
// needed, looked up along the search path.
type Question uint16

const (
	// AskNow: NULL → the transaction's time, a timestamptz.
	AskNow Question = iota + 1
	// AskStatementTime: NULL → the statement's time, a timestamptz.
	AskStatementTime
	// AskClock: NULL → the time now, a timestamptz.
	AskClock
	// AskStartTime: NULL → when the server started, a timestamptz.
	AskStartTime
	// AskMzNow: NULL → the statement's logical time, an mz_timestamp.
	AskMzNow
	// AskVersion: NULL → what version() says, a text.
	AskVersion
	// AskMzVersion: NULL → what mz_version() says, a text.
	AskMzVersion
	// AskMzVersionNum: NULL → the version as a number, an int4.
	AskMzVersionNum
	// AskEnvironmentID: NULL → the environment's id, a text.
	AskEnvironmentID
	// AskBackendPID: NULL → the connection's number, an int4.
	AskBackendPID
	// AskCurrentDatabase: NULL → a name.
	AskCurrentDatabase
	// AskCurrentUser: NULL → a name.
	AskCurrentUser
	// AskSessionUser: NULL → a name.
	AskSessionUser
	// AskCurrentSchema: NULL → the first schema of the search path that exists, a name.
	AskCurrentSchema
	// AskCurrentSchemas: whether implicit schemas count, a bool → a name[].
	AskCurrentSchemas
	// AskSetting: a setting's name, a text → its value as SHOW prints it, a text.
	AskSetting
	// AskIsSuperuser: NULL → whether the session's role is a superuser, a bool.
	AskIsSuperuser
	// AskCancelBackend: a connection's number → whether its statement was told to stop, a bool.
	AskCancelBackend
	// AskTerminateBackend: a connection's number → whether it was told to end, a bool.
	AskTerminateBackend

	// AskRelOID: a relation's name, a text → its OID.
	AskRelOID
	// AskRelName: a relation's OID → its name, qualified where the search path does not find it, a text.
	AskRelName
	// AskTypeOID: the name of a type that is not built in, a text → its OID.
	AskTypeOID
	// AskTypeName: the OID of a type that is not built in → its name, a text.
	AskTypeName
	// AskProcOID: a function's name, a text → its OID; an error if there are several.
	AskProcOID
	// AskProcName: a function's OID → its name, a text.
	AskProcName
	// AskProcedureOID: a name with argument types, a text → the function's OID.
	AskProcedureOID
	// AskProcedureName: a function's OID → its name with argument types, a text.
	AskProcedureName
	// AskOperOID: an operator's name, a text → its OID; an error if there are several.
	AskOperOID
	// AskOperName: an operator's OID → its name, a text.
	AskOperName
	// AskOperatorOID: a name with argument types, a text → the operator's OID.
	AskOperatorOID
	// AskOperatorName: an operator's OID → its name with argument types, a text.
	AskOperatorName
	// AskSchemaOID: a schema's name, a text → its OID.
	AskSchemaOID
	// AskSchemaName: a schema's OID → its name, a text.
	AskSchemaName
	// AskRoleOID: a role's name, a text → its OID.
	AskRoleOID
	// AskRoleName: a role's OID → its name, a text.
	AskRoleName
	// AskCollationOID: a collation's name, a text → its OID.
	AskCollationOID
	// AskCollationName: a collation's OID → its name, a text.
	AskCollationName
	// AskDatabaseOID: a database's name, a text → its OID.
	AskDatabaseOID

	// AskRelVisible: a relation's OID → whether its bare name finds it, a bool.
	AskRelVisible
	// AskTypeVisible: a type's OID → whether its bare name finds it, a bool.
	AskTypeVisible
	// AskProcVisible: a function's OID → whether its bare name finds it, a bool.
	AskProcVisible
	// AskOperVisible: an operator's OID → whether its bare name finds it, a bool.
	AskOperVisible

	// AskViewDef: a view's OID → its query, a text.
	AskViewDef
	// AskIndexDef: an index's OID → the statement that makes it, a text.
	AskIndexDef
	// AskIndexColumn: an index's OID and the number of one of its columns → that column's expression, a text.
	AskIndexColumn
	// AskConstraintDef: a constraint's OID → its definition, a text.
	AskConstraintDef
	// AskProcResult: a function's OID → its result type, a text.
	AskProcResult
	// AskProcArguments: a function's OID → its argument types, a text.
	AskProcArguments
	// AskComment: the OID of a catalog table and that of an object listed there → its comment, a text.
	AskComment
	// AskAnyComment: an object's OID, whatever it is → its comment, a text.
	AskAnyComment
	// AskColumnComment: a relation's OID and a column's number → the column's comment, a text.
	AskColumnComment
	// AskRelSize: a relation's OID → bytes stored for it, an int8.
	AskRelSize
	// AskDatabaseSize: a database's OID → bytes stored for it, an int8.
	AskDatabaseSize

	endOfQuestions
)

// Questions lists all questions, for tests that every Env knows every one.
func Questions() []Question {
	all := make([]Question, 0, endOfQuestions-1)
	for q := Question(1); q < endOfQuestions; q++ {
		all = append(all, q)
	}
	return all
}

// Ask2 packs two numbers into a question's argument.
func Ask2(hi, lo uint32) vec.Datum { return vec.IntOf(int64(uint64(hi)<<32 | uint64(lo))) }

// Asked2 takes apart what Ask2 packed.
func Asked2(arg vec.Datum) (hi, lo uint32) {
	return uint32(uint64(arg.Int()) >> 32), uint32(arg.Int())
}

func (q Question) String() string { return fmt.Sprintf("question %d", uint16(q)) }
