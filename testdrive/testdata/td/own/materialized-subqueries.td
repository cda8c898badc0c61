# EXISTS, IN, NOT IN and scalar subqueries, maintained.

> CREATE TABLE t (id int, parent int, n int)
> CREATE MATERIALIZED VIEW parents AS SELECT id FROM t WHERE id IN (SELECT parent FROM t)
> CREATE MATERIALIZED VIEW leaves AS SELECT id FROM t AS p WHERE NOT EXISTS (SELECT 1 FROM t AS c WHERE c.parent = p.id)
> CREATE MATERIALIZED VIEW above AS SELECT id FROM t WHERE n > (SELECT avg(n) FROM t)
> CREATE MATERIALIZED VIEW children AS SELECT id, (SELECT count(*) FROM t AS c WHERE c.parent = p.id) AS n FROM t AS p
> INSERT INTO t VALUES (1, NULL, 1), (2, 1, 2), (3, 1, 9)
> SELECT * FROM parents
1
> SELECT * FROM leaves
2
3
> SELECT * FROM above
3
> SELECT * FROM children
1 2
2 0
3 0
> INSERT INTO t VALUES (4, 2, 40)
> SELECT * FROM parents
1
2
> SELECT * FROM leaves
3
4
> SELECT * FROM above
4
> SELECT * FROM children
1 2
2 1
3 0
4 0
> DELETE FROM t WHERE id = 4
> UPDATE t SET parent = 3 WHERE id = 2
> SELECT * FROM parents
1
3
> SELECT * FROM leaves
2
> SELECT * FROM children
1 1
2 0
3 1
