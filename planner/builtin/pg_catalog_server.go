package builtin

import (
	"github.com/tributary-db/tributary/planner/catalog"
	"github.com/tributary-db/tributary/sql/vec"
)

// encodingUTF8 is PostgreSQL's number of the one encoding we have.
const encodingUTF8 = 6

const oidTablespaceDefault = 1663

// pgCatalogServer are pg_catalog's relations about the server as a whole: databases, roles, settings, sessions.
func pgCatalogServer() []relation {
	p := catalog.SchemaPgCatalog
	userColumns := "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd text, " +
		"valuntil timestamptz, useconfig _text"
	return []relation{
		define(p, oidPgDatabase, "pg_database", "oid oid!, datname name!, datdba oid!, encoding int4!, datlocprovider char!, "+
			"datistemplate bool!, datallowconn bool!, datconnlimit int4!, datfrozenxid xid!, datminmxid xid!, dattablespace oid!, "+
			"datcollate text!, datctype text!, daticulocale text, datcollversion text, datacl _aclitem", pgDatabase),
		define(p, oidPgAuthid, "pg_authid", "oid oid!, rolname name!, rolsuper bool!, rolinherit bool!, rolcreaterole bool!, "+
			"rolcreatedb bool!, rolcanlogin bool!, rolreplication bool!, rolbypassrls bool!, rolconnlimit int4!, rolpassword text, "+
			"rolvaliduntil timestamptz", pgAuthid),
		define(p, 12000, "pg_roles", "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, "+
			"rolcanlogin bool, rolreplication bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, "+
			"rolbypassrls bool, rolconfig _text, oid oid", pgRoles),
		define(p, 12014, "pg_user", userColumns, pgUser),
		define(p, 12005, "pg_shadow", userColumns, pgUser),
		define(p, 2396, "pg_shdescription", "objoid oid!, classoid oid!, description text!", pgShdescription),
		define(p, 1213, "pg_tablespace", "oid oid!, spcname name!, spcowner oid!, spcacl _aclitem, spcoptions _text", pgTablespace),
		define(p, 12104, "pg_settings", "name text, setting text, unit text, category text, short_desc text, extra_desc text, "+
			"context text, vartype text, source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val text, "+
			"sourcefile text, sourceline int4, pending_restart bool", pgSettings),
		define(p, 12222, "pg_stat_activity", "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, "+
			"application_name text, client_addr text, client_hostname text, client_port int4, backend_start timestamptz, "+
			"xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, "+
			"state text, backend_xid xid, backend_xmin xid, query_id int8, query text, backend_type text", pgStatActivity),
		define(p, 12095, "pg_prepared_statements", "name text, statement text, prepare_time timestamptz, parameter_types _regtype, "+
			"from_sql bool, generic_plans int8, custom_plans int8", pgPreparedStatements),
		define(p, 12077, "pg_cursors", "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, "+
			"creation_time timestamptz", pgCursors),
		define(p, 12073, "pg_locks", "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, "+
			"transactionid xid, classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, "+
			"fastpath bool, waitstart timestamptz", noRows),
	}
}

func pgDatabase(in *input, out *vec.Block) {
	for d := range in.Catalog.Databases() {
		out.AppendRow(1, oid(d.OID), str(d.Name), oid(in.roleOID(d.Owner)), num(encodingUTF8), char('c'),
			boolean(false), boolean(true), num(-1), num(0), num(0), oid(oidTablespaceDefault),
			str("C"), str("C"), null, null, null)
	}
}

func pgAuthid(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		super := boolean(r.Super)
		out.AppendRow(1, oid(r.OID), str(r.Name), super, boolean(true), super, super, boolean(true), boolean(false), super,
			num(-1), null, null)
	}
}

func pgRoles(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		super := boolean(r.Super)
		out.AppendRow(1, str(r.Name), super, boolean(true), super, super, boolean(true), boolean(false), num(-1),
			str("********"), null, super, null, oid(r.OID))
	}
}

func pgUser(in *input, out *vec.Block) {
	for r := range in.Catalog.Roles() {
		super := boolean(r.Super)
		out.AppendRow(1, str(r.Name), oid(r.OID), super, super, boolean(false), super, str("********"), null, null)
	}
}

func pgShdescription(in *input, out *vec.Block) {
	for d := range in.Catalog.Databases() {
		if d.Comment != "" {
			out.AppendRow(1, oid(d.OID), oid(oidPgDatabase), str(d.Comment))
		}
	}
	for r := range in.Catalog.Roles() {
		if r.Comment != "" {
			out.AppendRow(1, oid(r.OID), oid(oidPgAuthid), str(r.Comment))
		}
	}
}

func pgTablespace(_ *input, out *vec.Block) {
	out.AppendRow(1, oid(oidTablespaceDefault), str("pg_default"), oid(10), null, null)
}

func pgSettings(in *input, out *vec.Block) {
	for _, s := range in.Settings() {
		context, category := "user", "Session"
		if s.System {
			context, category = "sighup", "System"
		}
		source := "default"
		if s.Value != s.Default {
			source = "session"
		}
		out.AppendRow(1, str(s.Name), str(s.Value), orNull(s.Unit), str(category), str(s.Doc), null,
			str(context), str(s.Kind), str(source), null, null, null, str(s.Default), str(s.Default),
			null, null, boolean(false))
	}
}

func pgStatActivity(in *input, out *vec.Block) {
	for _, s := range in.Sessions() {
		database, role := null, null
		if d := in.Catalog.DatabaseNamed(s.Database); d != nil {
			database = oid(d.OID)
		}
		if r := in.Catalog.RoleNamed(s.User); r != nil {
			role = oid(r.OID)
		}
		out.AppendRow(1, database, str(s.Database), oid(s.PID), null, role, str(s.User),
			str(s.App), orNull(s.Addr), null, null, at(s.Started),
			null, at(s.QueryStarted), at(s.QueryStarted), null, null,
			str(s.State), null, null, null, str(s.Query), str("client backend"))
	}
}

func pgPreparedStatements(in *input, out *vec.Block) {
	for _, p := range in.Prepared() {
		params := make([]int64, len(p.Params))
		for i, t := range p.Params {
			params[i] = int64(t)
		}
		out.AppendRow(1, str(p.Name), str(p.Statement), at(p.At), oidArray(params), boolean(p.FromSQL), num(0), num(0))
	}
}

func pgCursors(in *input, out *vec.Block) {
	for _, c := range in.Cursors() {
		out.AppendRow(1, str(c.Name), str(c.Statement), boolean(false), boolean(false), boolean(false), at(c.At))
	}
}
