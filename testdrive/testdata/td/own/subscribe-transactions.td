# A transaction over two tables is one moment of a subscription to their join.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE a (x int)
> CREATE TABLE b (x int)
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE (SELECT count(a.x) AS na, count(b.x) AS nb FROM a FULL JOIN b ON a.x = b.x)
> FETCH 1 c
<TS> 1 0 0
$ postgres-execute connection=materialize
BEGIN
INSERT INTO a VALUES (1), (2)
INSERT INTO b VALUES (2), (3)
COMMIT
> FETCH 2 c
<TS> -1 0 0
<TS> 1 2 2
> COMMIT
