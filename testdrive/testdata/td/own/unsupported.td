# What there is not says so by name.

> CREATE TABLE t (a int)
! TRUNCATE t
contains:not supported
! SAVEPOINT s
contains:not supported
! CREATE SEQUENCE s
contains:not supported
! CREATE TABLE u AS SELECT 1
contains:not supported
! INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING
contains:not supported
! SELECT a FROM t FOR UPDATE
contains:not supported
! SELECT a, sum(a) FROM t GROUP BY ROLLUP (a)
contains:not supported
! CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
contains:not supported
# A refusal leaves the session and the table as they were.
> SELECT count(*) FROM t
0
