# The same answers with one worker and with many.

> CREATE CLUSTER one (SIZE = 'scale=1,workers=1')
> CREATE CLUSTER many (SIZE = 'scale=1,workers=7')
> CREATE TABLE digits (d int)
> INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
> CREATE TABLE t (k int, n int)
> INSERT INTO t SELECT a.d + 10 * b.d, c.d FROM digits AS a, digits AS b, digits AS c
> CREATE VIEW q AS SELECT t.k % 10 AS k, count(*) AS c, sum(n) AS s, min(n) AS lo, max(d.d) AS hi FROM t LEFT JOIN digits AS d ON d.d = t.n GROUP BY t.k % 10
> CREATE MATERIALIZED VIEW m1 IN CLUSTER one AS SELECT * FROM q
> CREATE MATERIALIZED VIEW m7 IN CLUSTER many AS SELECT * FROM q
> SELECT * FROM m1 EXCEPT ALL SELECT * FROM m7
> SELECT * FROM m7 EXCEPT ALL SELECT * FROM m1
> SELECT count(*), sum(c), sum(s) FROM m7
10 1000 4500
> DELETE FROM t WHERE n = 0
> UPDATE t SET k = k + 1 WHERE n = 9
> DELETE FROM digits WHERE d > 7
> SELECT * FROM m1 EXCEPT ALL SELECT * FROM m7
> SELECT * FROM m7 EXCEPT ALL SELECT * FROM m1
> SELECT sum(c), sum(s), min(lo), max(hi) FROM m7
900 4500 1 7
