# With progress, the first row says from when on the subscription speaks.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE t (a int)
> INSERT INTO t VALUES (7)
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE t WITH (PROGRESS)
> FETCH 1 c
mz_timestamp mz_progressed mz_diff a
---
<TS> true <null> <null>
> COMMIT
