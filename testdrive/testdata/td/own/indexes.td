# An index on a table, a view and a materialized view changes no answer.

> CREATE TABLE t (a int, b text)
> INSERT INTO t VALUES (1, 'x'), (2, 'y'), (2, 'z'), (NULL, 'n')
> CREATE INDEX t_a ON t (a)
> SELECT b FROM t WHERE a = 2
y
z
> SELECT b FROM t WHERE a IS NULL
n
> SELECT count(*) FROM t WHERE a = 99
0
> CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a
> CREATE INDEX v_a ON v (a)
> SELECT * FROM v WHERE a = 2
2 2
> INSERT INTO t VALUES (2, 'w'), (3, 'q')
> SELECT * FROM v WHERE a = 2
2 3
> SELECT * FROM v
1 1
2 3
3 1
<null> 1
> UPDATE t SET a = 3 WHERE b = 'w'
> SELECT * FROM v WHERE a = 2 OR a = 3
2 2
3 2
> DELETE FROM t WHERE a = 2
> SELECT * FROM v WHERE a = 2
> CREATE MATERIALIZED VIEW m AS SELECT b FROM t WHERE a = 3
> CREATE INDEX ON m (b)
> SELECT * FROM m WHERE b = 'q'
q
> CREATE DEFAULT INDEX ON t
> SELECT a, b FROM t WHERE a = 1 AND b = 'x'
1 x
! CREATE INDEX t_a ON t (b)
contains:already exists
! CREATE INDEX ON t (nothing)
exact:column "nothing" does not exist
! CREATE INDEX ON nothing (a)
exact:relation "nothing" does not exist
> DROP INDEX v_a
> SELECT * FROM v WHERE a = 3
3 2
> DROP INDEX t_a
> SELECT b FROM t WHERE a = 3
q
w
