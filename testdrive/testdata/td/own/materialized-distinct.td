# DISTINCT keeps a row as long as one copy is left.

> CREATE TABLE t (a int, b text)
> CREATE MATERIALIZED VIEW d AS SELECT DISTINCT a, b FROM t
> CREATE MATERIALIZED VIEW da AS SELECT DISTINCT a FROM t
> INSERT INTO t VALUES (1, 'x'), (1, 'x'), (1, 'y'), (NULL, NULL), (NULL, NULL)
> SELECT * FROM d
1 x
1 y
<null> <null>
> SELECT * FROM da
1
<null>
> DELETE FROM t WHERE b = 'y'
> SELECT * FROM d
1 x
<null> <null>
> SELECT * FROM da
1
<null>
> DELETE FROM t WHERE a = 1
> SELECT * FROM da
<null>
> INSERT INTO t VALUES (1, 'z')
> SELECT * FROM d
1 z
<null> <null>
