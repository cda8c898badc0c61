# pg_catalog and information_schema describe what users made.

> CREATE TABLE t (a int NOT NULL, b text DEFAULT 'x', c numeric(10, 2), d timestamptz)
> CREATE VIEW v AS SELECT a, b FROM t
> SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace
t 114
v 118
> SELECT c.relname, a.attname, a.attnum, a.attnotnull, format_type(a.atttypid, a.atttypmod)
  FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
t a 1 true integer
t b 2 false text
t c 3 false numeric(10,2)
t d 4 false "timestamp with time zone"
v a 1 false integer
v b 2 false text
> SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'public'
t "BASE TABLE"
v VIEW
> SELECT column_name, ordinal_position, is_nullable, data_type FROM information_schema.columns WHERE table_name = 't'
a 1 NO integer
b 2 YES text
c 3 YES numeric
d 4 YES "timestamp with time zone"
> SELECT typname, typlen, typtype FROM pg_type WHERE typname IN ('int4', 'text', 'bool')
int4 4 98
text -1 98
bool 1 98
> SELECT count(*) FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema', 'public')
3
> SELECT 't'::regclass::text, 'int4'::regtype::text
t integer
! SELECT 'nothing'::regclass
exact:relation "nothing" does not exist
> SELECT 't'::regclass::oid = (SELECT oid FROM pg_class WHERE relname = 't' AND relnamespace = 'public'::regnamespace)
true
> DROP VIEW v
> SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
t
