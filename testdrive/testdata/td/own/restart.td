# Everything is there again after the server was stopped and started.

> CREATE TABLE t (a int NOT NULL, b text DEFAULT 'd')
> CREATE CLUSTER c (SIZE = 'scale=1,workers=3')
> CREATE MATERIALIZED VIEW m IN CLUSTER c AS SELECT b, count(*) AS n FROM t GROUP BY b
> CREATE VIEW v AS SELECT n FROM m WHERE b = 'd'
> CREATE INDEX v_n ON v (n)
> INSERT INTO t VALUES (1, 'x')
> INSERT INTO t (a) VALUES (2), (3)
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 8192
$ restart
> SELECT * FROM t
1 x
2 d
3 d
> SELECT * FROM m
d 2
x 1
> SELECT * FROM v
2
> SHOW compute_mv_sink_shared_batch_max_bytes
8192
> SELECT name FROM (SHOW CLUSTERS) WHERE name = 'c'
c
> SELECT name FROM (SHOW INDEXES)
v_n
> INSERT INTO t (a) VALUES (4)
! INSERT INTO t VALUES (NULL)
contains:violates not-null constraint
> SELECT * FROM v
3
$ restart
$ restart
> SELECT * FROM v
3
> DELETE FROM t WHERE b = 'd'
> SELECT * FROM m
x 1
> SELECT * FROM v
> DROP TABLE t CASCADE
$ restart
! SELECT * FROM t
exact:relation "t" does not exist
! SELECT * FROM m
exact:relation "m" does not exist
