# What is not there, is there twice, or is ambiguous.

> CREATE TABLE t (a int, b text)
> CREATE TABLE u (a int, c text)
! SELECT * FROM missing
exact:relation "missing" does not exist
! SELECT missing FROM t
exact:column "missing" does not exist
! SELECT t.missing FROM t
exact:column t.missing does not exist
! SELECT x.a FROM t
exact:missing FROM-clause entry for table "x"
! SELECT a FROM t, u
exact:column reference "a" is ambiguous
! SELECT * FROM t AS x, u AS x
exact:table name "x" specified more than once
! SELECT t.a FROM t AS x
contains:invalid reference to FROM-clause entry for table "t"
! SELECT missing(a) FROM t
exact:function missing(integer) does not exist
! SELECT length(a) FROM t
exact:function length(integer) does not exist
! SELECT a::missing FROM t
exact:type "missing" does not exist
! INSERT INTO t (missing) VALUES (1)
exact:column "missing" of relation "t" does not exist
! UPDATE t SET missing = 1
exact:column "missing" of relation "t" does not exist
! SELECT * FROM t ORDER BY missing
exact:column "missing" does not exist
! SELECT count(*) FROM t GROUP BY missing
exact:column "missing" does not exist
! DROP VIEW missing
exact:view "missing" does not exist
! SELECT * FROM t JOIN u USING (b)
exact:column "b" specified in USING clause does not exist in right table
! SHOW missing
exact:unrecognized configuration parameter "missing"
! SET missing = 1
exact:unrecognized configuration parameter "missing"
# None of it did anything to the tables.
> SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)
0 0
