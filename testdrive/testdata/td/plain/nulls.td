# NULL is not equal to anything, but is one group.

> CREATE TABLE t (a int, b int)
> INSERT INTO t VALUES (1, 1), (1, NULL), (NULL, 1), (NULL, NULL)
> SELECT a, b FROM t WHERE a = b
1 1
> SELECT a, b FROM t WHERE a <> b OR a = b
1 1
> SELECT a, b FROM t WHERE a IS NOT DISTINCT FROM b
1 1
<null> <null>
> SELECT a, count(*), count(b) FROM t GROUP BY a
1 2 1
<null> 2 1
> SELECT DISTINCT b FROM t
1
<null>
> SELECT x.a, y.b FROM t AS x JOIN t AS y ON x.a = y.b
1 1
1 1
1 1
1 1
> SELECT count(*) FROM t WHERE a IN (1, NULL)
2
> SELECT count(*) FROM t WHERE a NOT IN (2, NULL)
0
> SELECT a + b, a || 'x', NOT (a = b), a IS NULL FROM t WHERE b IS NULL
<null> 1x <null> false
<null> <null> <null> true
> SELECT sum(a), min(b), count(*) FROM t WHERE a IS NULL
<null> 1 2
