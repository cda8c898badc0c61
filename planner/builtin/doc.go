// Package builtin is the system's relations: pg_catalog, information_schema, mz_catalog and mz_internal,
// one file for each schema. It is how clients and tools look at the catalog.
//
// Promises:
//
//	B1  a system relation is an ordinary relation of the engine: an item with an id and typed columns, whose
//	    rows are a function of a catalog snapshot and of what else Input holds. Nothing recognises queries.
//	B2  pg_catalog's relations have PostgreSQL 15's columns, names and types, as far as we have the types.
//	B3  ids and OIDs never change: views may have been defined over them. A relation's id is s and its OID.
//
// A query over system relations runs with their rows put into its plan (Inline), so neither storage nor the
// engine knows of them. A subscription to them has the query run again, with the rows of the moment, about once a second
// while its client asks for more.
//
// A Set is immutable and safe for concurrent use; what one Input makes belongs to whoever asked.
package builtin
