# Views on eight workers are their queries while their table is churned, at every threshold of what workers share, across
# changes of it, and across kills.

> CREATE CLUSTER c (SIZE = 'scale=1,workers=8')
> CREATE TABLE t (k int, n int, s text)
> CREATE VIEW q AS SELECT k, count(*) AS c, sum(n) AS total, min(n) AS lo, max(s) AS hi FROM t GROUP BY k
> CREATE MATERIALIZED VIEW m IN CLUSTER c AS SELECT * FROM q
> CREATE MATERIALIZED VIEW copy IN CLUSTER c AS SELECT k, n, s FROM t
> CREATE VIEW wrong AS
  SELECT 'm' AS v FROM ((TABLE m EXCEPT ALL TABLE q) UNION ALL (TABLE q EXCEPT ALL TABLE m)) AS a
  UNION ALL
  SELECT 'copy' FROM ((TABLE copy EXCEPT ALL TABLE t) UNION ALL (TABLE t EXCEPT ALL TABLE copy)) AS b

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 0
> INSERT INTO t SELECT g % 97, g, 's' || g % 31 FROM generate_series(1, 2000) AS g
> UPDATE t SET n = n + 1, k = k + 1 WHERE n % 7 = 0
> SELECT * FROM wrong
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = '1MB'
> DELETE FROM t WHERE n % 3 = 0 AND n > 0
> INSERT INTO t VALUES (0, -1, NULL)
> SELECT * FROM wrong
> SHOW compute_mv_sink_shared_batch_max_bytes
1048576

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 1
> INSERT INTO t SELECT g % 97, g, 's' || g % 31 FROM generate_series(2001, 4000) AS g
> UPDATE t SET n = n + 1, k = k + 1 WHERE n % 7 = 1
> SELECT * FROM wrong
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 4096
> DELETE FROM t WHERE n % 3 = 1 AND n > 2000
> INSERT INTO t VALUES (1, -2, NULL)
$ kill
> SELECT * FROM wrong
> SHOW compute_mv_sink_shared_batch_max_bytes
4096

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 4096
> INSERT INTO t SELECT g % 97, g, 's' || g % 31 FROM generate_series(4001, 6000) AS g
> UPDATE t SET n = n + 1, k = k + 1 WHERE n % 7 = 2
> SELECT * FROM wrong
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 0
> DELETE FROM t WHERE n % 3 = 2 AND n > 4000
> INSERT INTO t VALUES (2, -3, NULL)
> SELECT * FROM wrong
> SHOW compute_mv_sink_shared_batch_max_bytes
0

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = '1MB'
> INSERT INTO t SELECT g % 97, g, 's' || g % 31 FROM generate_series(6001, 8000) AS g
> UPDATE t SET n = n + 1, k = k + 1 WHERE n % 7 = 3
> SELECT * FROM wrong
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 1
> DELETE FROM t WHERE n % 3 = 0 AND n > 6000
> INSERT INTO t VALUES (3, -4, NULL)
$ kill
> SELECT * FROM wrong
> SHOW compute_mv_sink_shared_batch_max_bytes
1

$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = '1GB'
> INSERT INTO t SELECT g % 97, g, 's' || g % 31 FROM generate_series(8001, 10000) AS g
> UPDATE t SET n = n + 1, k = k + 1 WHERE n % 7 = 4
> SELECT * FROM wrong
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = '1MB'
> DELETE FROM t WHERE n % 3 = 1 AND n > 8000
> INSERT INTO t VALUES (4, -5, NULL)
$ restart
> SELECT * FROM wrong
> SHOW compute_mv_sink_shared_batch_max_bytes
1048576

> DELETE FROM t
> SELECT count(*) FROM copy
0
> SELECT count(*) FROM m
0
