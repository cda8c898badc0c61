# Several statements in one message are one transaction.

> CREATE TABLE t (a int)
$ postgres-execute connection=materialize
INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)
> SELECT * FROM t
1
2
$ postgres-execute connection=materialize
BEGIN; INSERT INTO t VALUES (3); COMMIT; BEGIN; INSERT INTO t VALUES (4); ROLLBACK
;;
> SELECT * FROM t
1
2
3
$ psql-execute command="DELETE FROM t WHERE a = 3; INSERT INTO t VALUES (30)"
DELETE 1
INSERT 0 1
! SELECT 1; SELECT 2
contains:cannot insert multiple commands into a prepared statement
> SELECT * FROM t
1
2
30
