// Package planner is the control plane: it decides what runs, on what, as of when.
//
// Map, from the bottom: logical (relational algebra) · copydata (what COPY reads and writes) · catalog (objects
// and their history) · rewrite (better algebra) · lower (algebra to compute/plan) · builtin (system relations) ·
// bind (names and types) · ddl (statements that change the catalog) · coord (what sessions share) · session (one
// client's conversation).
//
// Doors: session; for cmd also coord.
package planner
