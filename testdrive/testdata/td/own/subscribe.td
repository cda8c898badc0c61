# A subscription shows what is there, then every change, once.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE t (a int, b text)
> INSERT INTO t VALUES (1, 'one')
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE t
> FETCH 1 c
mz_timestamp mz_diff a b
---
<TS> 1 1 one
$ postgres-execute connection=materialize
INSERT INTO t VALUES (2, NULL)
> FETCH 1 c
<TS> 1 2 <null>
$ postgres-execute connection=materialize
DELETE FROM t WHERE a = 1
> FETCH 1 c
<TS> -1 1 one
$ postgres-execute connection=materialize
UPDATE t SET b = 'two'
> FETCH 2 c
<TS> -1 2 <null>
<TS> 1 2 two
$ postgres-execute connection=materialize
INSERT INTO t VALUES (3, 'x'), (3, 'x'), (3, 'x')
> FETCH 1 c
<TS> 3 3 x
# Nothing new: a poll comes back empty.
> FETCH ALL c WITH (timeout = '0s')
> COMMIT
