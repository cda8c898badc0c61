# What cannot be subscribed to.

> CREATE TABLE t (a int)
> BEGIN
! DECLARE c CURSOR FOR SUBSCRIBE nothing
exact:relation "nothing" does not exist
> ROLLBACK
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE t
! FETCH 1 nothing
exact:cursor "nothing" does not exist
> ROLLBACK
! DECLARE c CURSOR FOR SUBSCRIBE t
contains:DECLARE CURSOR can only be used in transaction blocks
# None of it did anything to the table.
> SELECT count(*) FROM t
0
