# An index over a query that can fail fails with it, and heals with it.

> CREATE TABLE t (a int)
> INSERT INTO t VALUES (1), (2)
> CREATE VIEW v AS SELECT 6 / a AS x, a FROM t
> CREATE INDEX v_x ON v (x)
> SELECT a FROM v WHERE x = 3
2
> INSERT INTO t VALUES (0)
! SELECT a FROM v WHERE x = 3
contains:division by zero
> DELETE FROM t WHERE a = 0
> SELECT a FROM v WHERE x = 3
2
