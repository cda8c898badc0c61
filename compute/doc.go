// Package compute keeps answers up to date.
//
// Map, from the bottom: plan (a dataflow as plain data) · arrange (sorted immutable batches) · protocol
// (what controller and engine may say) · dataflow (the kernel: ticks, stages, rounds, exchange) · op (the
// operators) · source, sink, ingest (to and from storage and clients) · introspect · render (plan to
// operators) · engine (one replica) · controller (the planner's side).
//
// Doors: plan, controller; for the benchmark command also engine and sink.
package compute
