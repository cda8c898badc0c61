# Only changes.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE t (a int)
> INSERT INTO t VALUES (1), (2), (3)
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE TO t WITH (SNAPSHOT = false)
> FETCH ALL c WITH (timeout = '0s')
$ postgres-execute connection=materialize
DELETE FROM t WHERE a = 2
> FETCH 1 c
<TS> -1 2
> COMMIT
