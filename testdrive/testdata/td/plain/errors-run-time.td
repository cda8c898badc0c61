# Errors that depend on the data.

> CREATE TABLE t (a int, s text)
> INSERT INTO t VALUES (2, '10'), (1, 'x'), (0, '7')
! SELECT 10 / a FROM t
exact:division by zero
> SELECT 10 / a FROM t WHERE a <> 0
5
10
> SELECT CASE WHEN a = 0 THEN NULL ELSE 10 / a END FROM t
5
10
<null>
! SELECT s::int FROM t
exact:invalid input syntax for type integer: "x"
> SELECT s::int FROM t WHERE a <> 1
10
7
! SELECT sum(s::int) FROM t
contains:invalid input syntax
! SELECT a + 2147483647 FROM t
exact:integer out of range
! SELECT substring(s FROM 1 FOR a - 5) FROM t
exact:negative substring length not allowed
! SELECT (SELECT a FROM t)
exact:more than one row returned by a subquery used as an expression
# The errors are gone with the rows.
> DELETE FROM t WHERE a = 0 OR s = 'x'
> SELECT 10 / a, s::int FROM t
5 10
