# What a view's sink does, as a relation: it counts from the view's beginning, and is the view's own.

$ set-regex match=\d{13} replacement=<TS>
> ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 1048576
> CREATE CLUSTER c (SIZE = 'scale=1,workers=8', REPLICATION FACTOR 3)
> CREATE TABLE t (a int)
# A restart would set all back: from here on the server is left alone.
$ set-from-metric var=ticks name=tributary_engine_ticks_total
> SELECT ${ticks} >= 0
true
> CREATE MATERIALIZED VIEW v IN CLUSTER c AS SELECT a FROM t
> CREATE MATERIALIZED VIEW idle AS SELECT 1 AS one
> SELECT count(*) FROM v
0
> INSERT INTO t VALUES (1), (2), (3)
> SELECT count(*) FROM v
3
> INSERT INTO t VALUES (4), (5)
> SELECT count(*) FROM v
5
> SELECT m.name, s.appends, s.rows, s.parts_object + s.parts_inline, s.spills, s.rebuilds
  FROM mz_internal.mz_sink_statistics AS s JOIN mz_materialized_views AS m USING (id)
name appends rows ?column? spills rebuilds
---
v    2 5 2 0 0
idle 1 1 1 0 0
> SELECT s.bytes_inline > 0, s.bytes_object, s.objects, s.consensus_bytes > s.bytes_inline, s.staged_bytes_peak > s.bytes_inline,
  s.dataflow_seconds > 0, s.encode_seconds > 0, s.put_seconds, s.append_seconds > 0
  FROM mz_internal.mz_sink_statistics AS s JOIN mz_objects AS o USING (id) WHERE o.name = 'v'
true 0 0 true true true true 0 true

# Without sharing, every worker writes a part of its own, here an object.
> ALTER SYSTEM SET storage_inline_append_max_bytes = 0
> ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 0
> INSERT INTO t SELECT generate_series(6, 1000)
> SELECT count(*) FROM v
1000
> SELECT s.appends, s.parts_object, s.objects >= s.parts_object, s.bytes_object > 1000, s.put_seconds > 0
  FROM mz_internal.mz_sink_statistics AS s JOIN mz_objects AS o USING (id) WHERE o.name = 'v'
3 8 true true true
> ALTER SYSTEM RESET storage_inline_append_max_bytes
> ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 1048576
$ assert-metric name=tributary_sink_parts_total labels={view="materialize.public.v",kind="object"} equals=8

# Whoever subscribes sees what changes, also in what else the query reads of the system: here a name, the counters go on.
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE (SELECT m.name, s.rows FROM mz_internal.mz_sink_statistics AS s JOIN mz_materialized_views AS m USING (id))
> FETCH 2 c
mz_timestamp mz_diff name rows
---
<TS> 1 v 1000
<TS> 1 idle 1
> FETCH 1 c WITH (TIMEOUT = '0s')
$ postgres-execute connection=materialize
ALTER MATERIALIZED VIEW v RENAME TO w
> FETCH 2 c
<TS> -1 v 1000
<TS> 1 w 1000
> COMMIT
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.public.w"} equals=1000
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.public.v"} equals=0
> DROP MATERIALIZED VIEW idle
> SELECT rows FROM mz_internal.mz_sink_statistics
1000

! CREATE MATERIALIZED VIEW m AS SELECT * FROM mz_internal.mz_sink_statistics
exact:a maintained materialized view over system relations is not supported
! CREATE INDEX i ON mz_internal.mz_sink_statistics (id)
exact:an index on a system relation is not supported

# One replica after the other counts to the same view; with none it still has its row.
> ALTER CLUSTER c SET (REPLICATION FACTOR 1)
> INSERT INTO t VALUES (-1)
> SELECT count(*) FROM w
1001
> SELECT rows FROM mz_internal.mz_sink_statistics
1001
> ALTER CLUSTER c SET (REPLICATION FACTOR 0)
> SELECT rows FROM mz_internal.mz_sink_statistics
1001

> DROP TABLE t CASCADE
> SELECT count(*) FROM mz_internal.mz_sink_statistics
0
