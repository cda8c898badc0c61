# A transaction of writes shows in views as a whole, or not at all.

> CREATE TABLE a (x int)
> CREATE TABLE b (x int)
> CREATE MATERIALIZED VIEW m AS SELECT (SELECT count(*) FROM a) AS na, (SELECT count(*) FROM b) AS nb
> BEGIN
> INSERT INTO a VALUES (1), (2)
> INSERT INTO b VALUES (1)
> UPDATE a SET x = x + 1
> DELETE FROM a WHERE x = 2
> COMMIT
> SELECT * FROM m
1 1
> SELECT * FROM a
3
> BEGIN
> INSERT INTO a VALUES (9)
> INSERT INTO b VALUES (9)
> ROLLBACK
> SELECT * FROM m
1 1
# A transaction sees its own writes, nobody else does.
> BEGIN
> INSERT INTO a VALUES (9)
> SELECT * FROM a
3
9
> ROLLBACK
> SELECT * FROM a
3
