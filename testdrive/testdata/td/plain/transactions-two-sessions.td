# What one session has not committed no other sees; what it has, all see.

> CREATE TABLE t (a int)
$ postgres-connect name=other url=${testdrive.materialize-url}

$ postgres-execute connection=other
BEGIN
INSERT INTO t VALUES (1)
INSERT INTO t VALUES (2)
> SELECT * FROM t
$ postgres-execute connection=other
COMMIT
> SELECT * FROM t
1
2

$ postgres-execute connection=other
BEGIN
INSERT INTO t VALUES (3)
DELETE FROM t WHERE a = 1
> SELECT * FROM t
1
2
$ postgres-execute connection=other
ROLLBACK
> SELECT * FROM t
1
2

# Both write.
> BEGIN
> INSERT INTO t VALUES (10)
$ postgres-execute connection=other
INSERT INTO t VALUES (20)
> COMMIT
> SELECT * FROM t
1
2
10
20
