# The system's own description of itself.

> CREATE TABLE t (a int NOT NULL, b text)
> CREATE VIEW v AS SELECT a FROM t
> CREATE MATERIALIZED VIEW m AS SELECT b FROM t
> CREATE INDEX t_b ON t (b)
> SELECT name FROM mz_catalog.mz_tables WHERE name IN ('t', 'v', 'm')
t
> SELECT name FROM mz_catalog.mz_materialized_views
m
> SELECT name, type FROM mz_catalog.mz_objects WHERE name IN ('t', 'v', 'm', 't_b')
t table
v view
m materialized-view
t_b index
> SELECT c.name, c.position, c.nullable, c.type FROM mz_catalog.mz_columns AS c JOIN mz_catalog.mz_tables AS t ON t.id = c.id WHERE t.name = 't'
a 1 false integer
b 2 true text
> SELECT i.name, r.name FROM mz_catalog.mz_indexes AS i JOIN mz_catalog.mz_relations AS r ON r.id = i.on_id WHERE i.name = 't_b'
t_b t
> SELECT name FROM mz_catalog.mz_databases
materialize
> SELECT s.name FROM mz_catalog.mz_schemas AS s JOIN mz_catalog.mz_databases AS d ON d.id = s.database_id
public
> SELECT id LIKE 'u%' FROM mz_catalog.mz_tables WHERE name = 't'
true
> SELECT matviewname FROM pg_catalog.pg_matviews
m
> SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace
t 114
v 118
m 109
t_b 105
