# A cluster of several replicas: one of them writes its views, whichever are there and however they change.

> CREATE CLUSTER c (SIZE = 'scale=1,workers=2', REPLICATION FACTOR 3)
> CREATE TABLE t (k int, n int)
> INSERT INTO t SELECT g % 4, g FROM generate_series(1, 1000) AS g
> CREATE MATERIALIZED VIEW sums IN CLUSTER c AS SELECT k, count(*) AS c, sum(n) AS s, max(n) AS hi FROM t GROUP BY k
> CREATE MATERIALIZED VIEW total IN CLUSTER c AS SELECT sum(c) AS c, sum(s) AS s FROM sums
> CREATE INDEX sums_k IN CLUSTER c ON sums (k)
> SELECT * FROM sums
0 250 125500 1000
1 250 124750 997
2 250 125000 998
3 250 125250 999
> INSERT INTO t VALUES (0, 5000)
> DELETE FROM t WHERE n = 997
> SELECT * FROM sums
0 251 130500 5000
1 249 123753 993
2 250 125000 998
3 250 125250 999
# The one that wrote may be among those that go.
> ALTER CLUSTER c SET (REPLICATION FACTOR 1)
> UPDATE t SET n = 0 WHERE n = 5000
> SELECT * FROM sums WHERE k = 0
0 251 125500 1000
> SELECT * FROM total
1000 499503
> ALTER CLUSTER c SET (REPLICATION FACTOR 2)
> INSERT INTO t SELECT g % 4, g FROM generate_series(1001, 2000) AS g
> SELECT * FROM total
2000 2000003
> SELECT count(*) FROM t
2000
# Without a replica the view stands still, and goes on from there.
> ALTER CLUSTER c SET (REPLICATION FACTOR 0)
> DELETE FROM t WHERE k = 3
> ALTER CLUSTER c SET (REPLICATION FACTOR 2)
> SELECT k, c FROM sums
0 501
1 499
2 500
