package builtin

import "github.com/tributary-db/tributary/planner/catalog"

// pgEmpty are pg_catalog's relations about things that we do not have: they are there, with PostgreSQL's columns,
// because tools ask.
var pgEmpty = []struct {
	oid           uint32
	name, columns string
}{
	{2602, "pg_amop",
		"oid oid!, amopfamily oid!, amoplefttype oid!, amoprighttype oid!, amopstrategy int2!, amoppurpose char!, amopopr oid!, " +
			"amopmethod oid!, amopsortfamily oid!"},
	{2603, "pg_amproc",
		"oid oid!, amprocfamily oid!, amproclefttype oid!, amprocrighttype oid!, amprocnum int2!, amproc regproc!"},
	{1261, "pg_auth_members",
		"roleid oid!, member oid!, grantor oid!, admin_option bool!"},
	{2606, "pg_constraint",
		"oid oid!, conname name!, connamespace oid!, contype char!, condeferrable bool!, condeferred bool!, convalidated bool!, " +
			"conrelid oid!, contypid oid!, conindid oid!, conparentid oid!, confrelid oid!, confupdtype char!, confdeltype char!, " +
			"confmatchtype char!, conislocal bool!, coninhcount int4!, connoinherit bool!, conkey _int2, confkey _int2, " +
			"conpfeqop _oid, conppeqop _oid, conffeqop _oid, confdelsetcols _int2, conexclop _oid, conbin text"},
	{2607, "pg_conversion",
		"oid oid!, conname name!, connamespace oid!, conowner oid!, conforencoding int4!, contoencoding int4!, conproc regproc!, " +
			"condefault bool!"},
	{2964, "pg_db_role_setting",
		"setdatabase oid!, setrole oid!, setconfig _text"},
	{826, "pg_default_acl",
		"oid oid!, defaclrole oid!, defaclnamespace oid!, defaclobjtype char!, defaclacl _aclitem!"},
	{3501, "pg_enum",
		"oid oid!, enumtypid oid!, enumsortorder float4!, enumlabel name!"},
	{3466, "pg_event_trigger",
		"oid oid!, evtname name!, evtevent name!, evtowner oid!, evtfoid oid!, evtenabled char!, evttags _text"},
	{3079, "pg_extension",
		"oid oid!, extname name!, extowner oid!, extnamespace oid!, extrelocatable bool!, extversion text!, extconfig _oid, " +
			"extcondition _text"},
	{2328, "pg_foreign_data_wrapper",
		"oid oid!, fdwname name!, fdwowner oid!, fdwhandler oid!, fdwvalidator oid!, fdwacl _aclitem, fdwoptions _text"},
	{1417, "pg_foreign_server",
		"oid oid!, srvname name!, srvowner oid!, srvfdw oid!, srvtype text, srvversion text, srvacl _aclitem, srvoptions _text"},
	{3118, "pg_foreign_table",
		"ftrelid oid!, ftserver oid!, ftoptions _text"},
	{2611, "pg_inherits",
		"inhrelid oid!, inhparent oid!, inhseqno int4!, inhdetachpending bool!"},
	{3394, "pg_init_privs",
		"objoid oid!, classoid oid!, objsubid int4!, privtype char!, initprivs _aclitem!"},
	{2995, "pg_largeobject_metadata",
		"oid oid!, lomowner oid!, lomacl _aclitem"},
	{2616, "pg_opclass",
		"oid oid!, opcmethod oid!, opcname name!, opcnamespace oid!, opcowner oid!, opcfamily oid!, opcintype oid!, " +
			"opcdefault bool!, opckeytype oid!"},
	{2753, "pg_opfamily",
		"oid oid!, opfmethod oid!, opfname name!, opfnamespace oid!, opfowner oid!"},
	{3350, "pg_partitioned_table",
		"partrelid oid!, partstrat char!, partnatts int2!, partdefid oid!, partattrs int2vector!, partclass oidvector!, " +
			"partcollation oidvector!, partexprs text"},
	{3256, "pg_policy",
		"oid oid!, polname name!, polrelid oid!, polcmd char!, polpermissive bool!, polroles _oid!, polqual text, " +
			"polwithcheck text"},
	{6104, "pg_publication",
		"oid oid!, pubname name!, pubowner oid!, puballtables bool!, pubinsert bool!, pubupdate bool!, pubdelete bool!, " +
			"pubtruncate bool!, pubviaroot bool!"},
	{6237, "pg_publication_namespace",
		"oid oid!, pnpubid oid!, pnnspid oid!"},
	{6106, "pg_publication_rel",
		"oid oid!, prpubid oid!, prrelid oid!, prqual text, prattrs int2vector"},
	{3541, "pg_range",
		"rngtypid oid!, rngsubtype oid!, rngmultitypid oid!, rngcollation oid!, rngsubopc oid!, rngcanonical regproc!, " +
			"rngsubdiff regproc!"},
	{3596, "pg_seclabel",
		"objoid oid!, classoid oid!, objsubid int4!, provider text!, label text!"},
	{2224, "pg_sequence",
		"seqrelid oid!, seqtypid oid!, seqstart int8!, seqincrement int8!, seqmax int8!, seqmin int8!, seqcache int8!, " +
			"seqcycle bool!"},
	{1214, "pg_shdepend",
		"dbid oid!, classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, deptype char!"},
	{3592, "pg_shseclabel",
		"objoid oid!, classoid oid!, provider text!, label text!"},
	{3381, "pg_statistic_ext",
		"oid oid!, stxrelid oid!, stxname name!, stxnamespace oid!, stxowner oid!, stxstattarget int4!, stxkeys int2vector!, " +
			"stxkind _char!, stxexprs text"},
	{6100, "pg_subscription",
		"oid oid!, subdbid oid!, subskiplsn text!, subname name!, subowner oid!, subenabled bool!, subbinary bool!, " +
			"substream bool!, subtwophasestate char!, subdisableonerr bool!, subconninfo text!, subslotname name, " +
			"subsynccommit text!, subpublications _text!"},
	{3576, "pg_transform",
		"oid oid!, trftype oid!, trflang oid!, trffromsql regproc!, trftosql regproc!"},
	{2620, "pg_trigger",
		"oid oid!, tgrelid oid!, tgparentid oid!, tgname name!, tgfoid oid!, tgtype int2!, tgenabled char!, tgisinternal bool!, " +
			"tgconstrrelid oid!, tgconstrindid oid!, tgconstraint oid!, tgdeferrable bool!, tginitdeferred bool!, tgnargs int2!, " +
			"tgattr int2vector!, tgargs bytea!, tgqual text, tgoldtable name, tgnewtable name"},
	{3602, "pg_ts_config",
		"oid oid!, cfgname name!, cfgnamespace oid!, cfgowner oid!, cfgparser oid!"},
	{3603, "pg_ts_config_map",
		"mapcfg oid!, maptokentype int4!, mapseqno int4!, mapdict oid!"},
	{3600, "pg_ts_dict",
		"oid oid!, dictname name!, dictnamespace oid!, dictowner oid!, dicttemplate oid!, dictinitoption text"},
	{3601, "pg_ts_parser",
		"oid oid!, prsname name!, prsnamespace oid!, prsstart regproc!, prstoken regproc!, prsend regproc!, " +
			"prsheadline regproc!, prslextype regproc!"},
	{3764, "pg_ts_template",
		"oid oid!, tmplname name!, tmplnamespace oid!, tmplinit regproc!, tmpllexize regproc!"},
	{1418, "pg_user_mapping",
		"oid oid!, umuser oid!, umserver oid!, umoptions _text"},
	{12327, "pg_user_mappings",
		"umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions _text"},
	{12018, "pg_policies",
		"schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text, with_check text"},
	{12023, "pg_rules",
		"schemaname name, tablename name, rulename name, definition text"},
	{12048, "pg_sequences",
		"schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, min_value int8, " +
			"max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8"},
	{12090, "pg_prepared_xacts",
		"transaction xid, gid text, prepared timestamptz, owner name, database name"},
	{12010, "pg_group",
		"groname name, grosysid oid, grolist _oid"},
	{12081, "pg_available_extensions",
		"name name, default_version text, installed_version text, comment text"},
	{12099, "pg_seclabels",
		"objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text, label text"},
	{12068, "pg_publication_tables",
		"pubname name, schemaname name, tablename name, attnames _name, rowfilter text"},
}

func pgCatalogEmpty() []relation {
	var list []relation
	for _, r := range pgEmpty {
		list = append(list, define(catalog.SchemaPgCatalog, r.oid, r.name, r.columns, noRows))
	}
	return list
}
