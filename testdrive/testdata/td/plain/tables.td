# A table is made, filled, emptied and dropped.

> CREATE TABLE t (a int, b text)
> SELECT * FROM t
> INSERT INTO t VALUES (1, 'one'), (2, 'two')
> INSERT INTO t VALUES (2, 'two')
> SELECT * FROM t
a b
---
1 one
2 two
2 two

> SELECT count(*) FROM t
3
> DELETE FROM t WHERE a = 2
> SELECT * FROM t
1 one

! CREATE TABLE t (x int)
exact:relation "t" already exists
> CREATE TABLE IF NOT EXISTS t (x int)
> SELECT * FROM t
1 one

> DROP TABLE t
! SELECT * FROM t
exact:relation "t" does not exist
! DROP TABLE t
exact:table "t" does not exist
> DROP TABLE IF EXISTS t

# The name is free again.
> CREATE TABLE t (x bool)
> INSERT INTO t VALUES (true)
> SELECT x FROM t
true

# Several at once.
> CREATE TABLE u (x int)
> DROP TABLE t, u
! SELECT * FROM u
contains:does not exist
