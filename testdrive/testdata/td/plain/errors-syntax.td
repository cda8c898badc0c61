# What cannot be parsed, and where.

! SELEC 1
exact:syntax error at or near "SELEC"
! SELECT 1 FROM
exact:syntax error at end of input
! SELECT FROM WHERE
contains:syntax error at or near "WHERE"
! SELECT (1
exact:syntax error at end of input
! SELECT 1)
exact:syntax error at or near ")"
! SELECT * FROM t WHERE
exact:syntax error at end of input
! CREATE TABLE t
exact:syntax error at end of input
! CREATE TABLE t (a int,)
exact:syntax error at or near ")"
! INSERT INTO t VALUES
exact:syntax error at end of input
! INSERT t VALUES (1)
exact:syntax error at or near "t"
! UPDATE t a = 1
contains:syntax error at or near
! DELETE t
contains:syntax error at or near "t"
! SELECT a b c
exact:syntax error at or near "c"
! SELECT 1 +
exact:syntax error at end of input
! DROP t
exact:syntax error at or near "t"
! SELECT 1 ORDER
contains:syntax error at
# The session goes on.
> SELECT 1
1
