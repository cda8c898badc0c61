package shard

import (
	"fmt"

	"github.com/tributary-db/tributary/sql/types"
	"github.com/tributary-db/tributary/storage/consensus"
	"github.com/tributary-db/tributary/storage/tvc"
)

// ID names a shard for its whole life, and its register and its objects: [a-z0-9-], at most 64 bytes, never
// used again once sealed. The ID of the collection it is made for ("u12") will do.
type ID string

// SchemaID numbers the schemas a shard has had, from 1.
type SchemaID uint32

// Schema is what a shard's rows look like.
type Schema struct {
	Rel types.Rel
	// Errors adds one more column of kind Bytes at the end of the stored blocks: NULL, or a row's error,
	// and then all other columns are NULL.
	Errors bool
}

// Kinds gives the kinds of the stored columns.
func (s Schema) Kinds() []types.Kind {
	kinds := s.Rel.Kinds()
	if s.Errors {
		kinds = append(kinds, types.Bytes)
	}
	return kinds
}

// Token marks one attempt to append, so that repeating it has no second effect. No two are equal within an
// environment: Epoch is the process's, N counts within it.
type Token struct {
	Epoch, N uint64
}

// Op is one of Create, Append, Evolve, Seal, Downgrade, and the package's own replace and rollup. The set is
// closed.
type Op interface {
	// shard gives the ID of the shard that is operated on, and its handle unless it is to be made.
	shard() (ID, *Shard)
	kind() OpKind
}

// OpKind says what an operation does, for whoever counts them.
type OpKind uint8

// The kinds of operations. Compaction and rollups are a shard's own.
const (
	KindCreate OpKind = iota
	KindAppend
	KindEvolve
	KindSeal
	KindDowngrade
	KindCompaction
	KindRollup

	// OpKinds is how many there are.
	OpKinds
)

func (k OpKind) String() string {
	return [OpKinds]string{"create", "append", "evolve", "seal", "downgrade", "compaction", "rollup"}[k]
}

// KindOf gives an operation's kind.
func KindOf(op Op) OpKind { return op.kind() }

// Create makes a shard. It is refused as Exists if there is or was one of that ID.
type Create struct {
	ID     ID
	Schema Schema
	// Since and Upper are where it begins: 0 for a table; the as-of for a view, of which nothing is known
	// before.
	Since, Upper tvc.Frontier
	// Name labels its metrics until it is opened; "" means the ID.
	Name string
}

// Append adds what Written holds and moves the shard's upper from Lower to Upper. Updates without times of
// their own get the time Upper-1.
//
// Refused as UpperMismatch if the upper is not Lower; as Sealed; as SchemaMismatch if the rows were written
// with a schema that is not the shard's latest. If Token is one that was appended before, it is done and
// nothing happens.
type Append struct {
	Shard *Shard
	// Lower is the upper the shard must have. With AnyLower it is ignored and the shard's own upper at the
	// moment the step is formed is taken, which must be below Upper.
	Lower    tvc.Frontier
	AnyLower bool
	Upper    tvc.Frontier
	Written  []*Written
	// Token makes a retry harmless; Client.Token gives a fresh one. The zero Token gets one by itself.
	Token Token
}

// InlineBytes is how many bytes of rows the append brings into the state.
func (o Append) InlineBytes() int {
	n := 0
	for _, w := range o.Written {
		for _, r := range w.runs {
			for _, p := range r {
				n += len(p.inline)
			}
		}
	}
	return n
}

// Evolve gives the shard a further schema, which has the columns of the latest one and, at the end, more
// that are nullable; a column may also become nullable. Refused as SchemaMismatch if the latest schema is not
// Expect.
type Evolve struct {
	Shard  *Shard
	Expect SchemaID
	Schema Schema
}

// Seal ends a shard for good: its contents are dropped, upper and since are Done, and every later operation
// is refused as Sealed.
type Seal struct{ Shard *Shard }

// Downgrade moves since forward, up to its bound (Options.Bound) and to Upper-1. Rarely needed: since also
// moves with every append and compaction.
type Downgrade struct {
	Shard *Shard
	Since tvc.Frontier
}

func (o Create) shard() (ID, *Shard)    { return o.ID, nil }
func (o Append) shard() (ID, *Shard)    { return o.Shard.id, o.Shard }
func (o Evolve) shard() (ID, *Shard)    { return o.Shard.id, o.Shard }
func (o Seal) shard() (ID, *Shard)      { return o.Shard.id, o.Shard }
func (o Downgrade) shard() (ID, *Shard) { return o.Shard.id, o.Shard }

func (Create) kind() OpKind    { return KindCreate }
func (Append) kind() OpKind    { return KindAppend }
func (Evolve) kind() OpKind    { return KindEvolve }
func (Seal) kind() OpKind      { return KindSeal }
func (Downgrade) kind() OpKind { return KindDowngrade }

// Reason says why an operation was refused.
type Reason uint8

const (
	// UpperMismatch: an Append's lower is not the shard's upper.
	UpperMismatch Reason = iota + 1
	// SchemaMismatch: the rows, or the expected schema, are not of the shard's latest schema.
	SchemaMismatch
	// Sealed: the shard has been dropped.
	Sealed
	// Exists: there is or was such a shard.
	Exists
	// Stale: what a compaction or rollup was made from is no longer there.
	Stale
	// VersionMismatch: a register is not at the expected version.
	VersionMismatch
)

func (r Reason) String() string {
	switch r {
	case UpperMismatch:
		return "upper mismatch"
	case SchemaMismatch:
		return "schema mismatch"
	case Sealed:
		return "sealed"
	case Exists:
		return "exists"
	case Stale:
		return "stale"
	case VersionMismatch:
		return "version mismatch"
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Refusal is the answer of an operation that determinately did not happen, with what its loser needs.
type Refusal struct {
	// Op is the position in the unit of the operation that was refused.
	Op     int
	Shard  ID
	Reason Reason
	// Upper, Since and Schema are the shard's at that moment.
	Upper, Since tvc.Frontier
	Schema       SchemaID
	// Register and Version are, for a VersionMismatch, the register and its version; Op is then the number of
	// operations.
	Register string
	Version  consensus.Version
}

func (r *Refusal) String() string {
	if r.Reason == VersionMismatch {
		return fmt.Sprintf("%v (register %s: version %d)", r.Reason, r.Register, r.Version)
	}
	return fmt.Sprintf("%v (op %d on %s: upper %v since %v schema %d)", r.Reason, r.Op, r.Shard, r.Upper, r.Since, r.Schema)
}
