# All reads of a transaction see one moment.

> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW m AS SELECT sum(a) AS s FROM t
> INSERT INTO t VALUES (1)
> BEGIN
> SELECT * FROM t
1
$ postgres-execute connection=materialize
INSERT INTO t VALUES (2)
> SELECT * FROM t
1
> SELECT s FROM m
1
> COMMIT
> SELECT s FROM m
3
