# LIMIT and OFFSET pick rows by the order. The rows of a block are compared without order, so most pick one.

> CREATE TABLE t (a int, b text)
> INSERT INTO t VALUES (3, 'c'), (1, 'a'), (NULL, 'n'), (2, 'b'), (2, 'B')
> SELECT a, b FROM t ORDER BY a, b LIMIT 1
1 a
> SELECT a, b FROM t ORDER BY a, b OFFSET 1 LIMIT 1
2 B
> SELECT a, b FROM t ORDER BY a DESC LIMIT 1
<null> n
> SELECT a, b FROM t ORDER BY a DESC NULLS LAST LIMIT 1
3 c
> SELECT a, b FROM t ORDER BY a NULLS FIRST LIMIT 1
<null> n
> SELECT a FROM t ORDER BY b LIMIT 1
2
> SELECT a FROM t ORDER BY a OFFSET 3
3
<null>
> SELECT a FROM t LIMIT 0
> SELECT sum(a) FROM (SELECT a FROM t ORDER BY a DESC NULLS LAST LIMIT 2) AS top
5
> SELECT b FROM t ORDER BY lower(b), b FETCH FIRST 2 ROWS ONLY
a
B
! SELECT a FROM t LIMIT -1
exact:LIMIT must not be negative
! SELECT a FROM t ORDER BY 2
exact:ORDER BY position 2 is not in select list
