# Views on materialized views on views: each level follows.

> CREATE TABLE t (k text, n int)
> CREATE VIEW v1 AS SELECT k, n FROM t WHERE n > 0
> CREATE MATERIALIZED VIEW m1 AS SELECT k, sum(n) AS s, count(*) AS c FROM v1 GROUP BY k
> CREATE VIEW v2 AS SELECT k, s FROM m1 WHERE c > 1
> CREATE MATERIALIZED VIEW m2 AS SELECT count(*) AS groups, sum(s) AS total FROM v2
> CREATE MATERIALIZED VIEW m3 AS SELECT m1.k, m1.s * 100 / m2.total AS share FROM m1, m2 WHERE m2.total > 0
> SELECT * FROM m2
0 <null>
> INSERT INTO t VALUES ('a', 1), ('a', 2), ('b', 5), ('b', -5), ('c', 4)
> SELECT * FROM m1
a 3 2
b 5 1
c 4 1
> SELECT * FROM v2
a 3
> SELECT * FROM m2
1 3
> INSERT INTO t VALUES ('b', 1), ('c', 0)
> SELECT * FROM m2
2 9
> SELECT k, share::int FROM m3
a 33
b 67
c 44
> DELETE FROM t WHERE k = 'a'
> SELECT * FROM m2
1 6
> UPDATE t SET k = 'b'
> SELECT * FROM m1
b 10 3
> SELECT k, share::int FROM m3
b 100
> DELETE FROM t
> SELECT * FROM m1
> SELECT * FROM m2
0 <null>
> SELECT * FROM m3
