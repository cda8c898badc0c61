# Aggregates under retraction: a minimum leaves, a group empties, NULLs come and go.

> CREATE TABLE t (g text, n int, x numeric)
> CREATE MATERIALIZED VIEW stats AS SELECT g, count(*) AS c, count(n) AS cn, sum(n) AS s, min(n) AS lo, max(n) AS hi, avg(x) AS a FROM t GROUP BY g
> CREATE MATERIALIZED VIEW overall AS SELECT count(*) AS c, sum(n) AS s, min(g) AS first, max(x) AS top FROM t
> CREATE MATERIALIZED VIEW kinds AS SELECT count(DISTINCT n) AS d, sum(DISTINCT n) AS s FROM t
> CREATE MATERIALIZED VIEW often AS SELECT g FROM t GROUP BY g HAVING count(*) > 1
> SELECT * FROM stats
> SELECT * FROM overall
0 <null> <null> <null>
> SELECT * FROM kinds
0 <null>
> INSERT INTO t VALUES ('a', 1, 1.5), ('a', 3, 2.5), ('b', NULL, NULL), (NULL, 3, 0)
> SELECT * FROM stats
a 2 2 4 1 3 2
b 1 0 <null> <null> <null> <null>
<null> 1 1 3 3 3 0
> SELECT * FROM overall
4 7 a 2.5
> SELECT * FROM kinds
2 4
> SELECT * FROM often
a
> DELETE FROM t WHERE g = 'a' AND n = 1
> INSERT INTO t VALUES ('b', 7, 1), ('b', 7, 2)
> SELECT * FROM stats
a 1 1 3 3 3 2.5
b 3 2 14 7 7 1.5
<null> 1 1 3 3 3 0
> SELECT * FROM kinds
2 10
> SELECT * FROM often
b
> UPDATE t SET n = n + 1, x = NULL WHERE g = 'b'
> SELECT g, cn, lo, hi, a FROM stats
a 1 3 3 2.5
b 2 8 8 <null>
<null> 1 3 3 0
> DELETE FROM t WHERE g IS NULL
> DELETE FROM t WHERE g = 'a'
> SELECT g, c FROM stats
b 3
> DELETE FROM t
> SELECT * FROM stats
> SELECT * FROM overall
0 <null> <null> <null>
> SELECT * FROM often
