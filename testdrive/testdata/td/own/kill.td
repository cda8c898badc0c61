# What was acknowledged survives a kill, and is there once.

> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n, sum(a) AS s FROM t
> INSERT INTO t VALUES (1)
$ kill
> SELECT * FROM t
1
> SELECT * FROM m
1 1
> INSERT INTO t VALUES (2), (3)
$ kill
> SELECT * FROM m
3 6
> DELETE FROM t WHERE a = 2
$ kill
$ kill
> SELECT * FROM t
1
3
> SELECT * FROM m
2 4
> UPDATE t SET a = a * 10
$ kill
> INSERT INTO t VALUES (5)
> SELECT * FROM m
3 45
> SELECT count(*) FROM t
3
