# A view under small writes commits one part with each append.

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 1048576
> CREATE CLUSTER c (SIZE = 'scale=1,workers=8')
> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW m IN CLUSTER c AS SELECT a FROM t
> INSERT INTO t VALUES (0)
> SELECT count(*) FROM m
1
$ set-from-metric var=appends name=tributary_sink_appends_total labels={view="materialize.public.m",empty="false"}
$ set-from-metric var=parts name=tributary_sink_parts_total labels={view="materialize.public.m"}
> INSERT INTO t VALUES (1), (2), (3)
> SELECT count(*) FROM m
4
> INSERT INTO t VALUES (4), (5), (6), (7), (8)
> SELECT count(*) FROM m
9
> DELETE FROM t WHERE a > 5
> SELECT count(*) FROM m
6
$ set-from-metric var=appends2 name=tributary_sink_appends_total labels={view="materialize.public.m",empty="false"}
$ set-from-metric var=parts2 name=tributary_sink_parts_total labels={view="materialize.public.m"}
> SELECT ${appends2} - ${appends} >= 3, ${parts2} - ${parts} = ${appends2} - ${appends}
true true
