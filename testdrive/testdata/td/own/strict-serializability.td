# What one session was told is done, every other sees at once, through views of views too.

> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t
> CREATE MATERIALIZED VIEW mm AS SELECT n * 2 AS d FROM m
> CREATE VIEW v AS SELECT d + 1 AS e FROM mm
> CREATE INDEX v_e ON v (e)
$ set-max-tries max-tries=1
$ postgres-execute connection=materialize
INSERT INTO t VALUES (1)
> SELECT d FROM mm
2
$ postgres-execute connection=materialize
INSERT INTO t VALUES (2)
> SELECT e FROM v
5
$ postgres-execute connection=materialize
INSERT INTO t VALUES (3)
> SELECT t.n, m.n, mm.d, v.e FROM (SELECT count(*) AS n FROM t) AS t, m, mm, v
3 3 6 7
$ postgres-execute connection=materialize
DELETE FROM t
> SELECT t.n, m.n, mm.d, v.e FROM (SELECT count(*) AS n FROM t) AS t, m, mm, v
0 0 0 1
