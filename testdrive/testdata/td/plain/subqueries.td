# Subqueries wherever an expression or a table can stand.

> CREATE TABLE t (id int, parent int, size int)
> INSERT INTO t VALUES (1, NULL, 5), (2, 1, 3), (3, 1, 8), (4, 3, 1)
> SELECT id, (SELECT count(*) FROM t AS c WHERE c.parent = t.id) FROM t
1 2
2 0
3 1
4 0
> SELECT id FROM t WHERE size > (SELECT avg(size) FROM t)
1
3
> SELECT id FROM t WHERE id IN (SELECT parent FROM t)
1
3
> SELECT id FROM t WHERE id NOT IN (SELECT parent FROM t)
> SELECT id FROM t WHERE id NOT IN (SELECT parent FROM t WHERE parent IS NOT NULL)
2
4
> SELECT id FROM t AS o WHERE size >= ALL (SELECT size FROM t AS i WHERE i.parent IS NOT DISTINCT FROM o.parent)
1
3
4
> SELECT s.n, count(*) FROM (SELECT parent AS n FROM t) AS s GROUP BY s.n
<null> 1
1 2
3 1
> WITH big AS (SELECT * FROM t WHERE size > 2) SELECT a.id, b.id FROM big AS a JOIN big AS b ON a.id = b.parent
1 2
1 3
! SELECT (SELECT id FROM t)
exact:more than one row returned by a subquery used as an expression
! SELECT (SELECT 1, 2)
exact:subquery must return only one column
