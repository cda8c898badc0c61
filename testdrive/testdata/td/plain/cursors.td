# A cursor gives a query's rows piece by piece.

> CREATE TABLE t (a int)
> INSERT INTO t VALUES (1), (2), (3), (4), (5)
> BEGIN
> DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a
> FETCH c
1
> FETCH 2 c
2
3
> FETCH ALL FROM c
4
5
> FETCH c
> CLOSE c
! FETCH c
exact:cursor "c" does not exist
> ROLLBACK

> BEGIN
> DECLARE a CURSOR FOR SELECT 1
> DECLARE b CURSOR FOR VALUES (2), (3)
> FETCH FORWARD 5 b
2
3
> FETCH a
1
> COMMIT

# A cursor ends with its transaction, and needs one.
! FETCH a
exact:cursor "a" does not exist
! DECLARE c CURSOR FOR SELECT 1
contains:DECLARE CURSOR can only be used in transaction blocks
