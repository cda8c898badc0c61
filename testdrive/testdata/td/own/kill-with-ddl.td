# A kill after each change of the catalog.

> CREATE TABLE t (a int)
$ kill
> INSERT INTO t VALUES (1), (2)
> CREATE VIEW v AS SELECT a + 1 AS b FROM t
$ kill
> CREATE MATERIALIZED VIEW m AS SELECT sum(b) AS s FROM v
$ kill
> SELECT s FROM m
5
> CREATE INDEX m_s ON m (s)
$ kill
> SELECT s FROM m WHERE s = 5
5
> DROP INDEX m_s
$ kill
> INSERT INTO t VALUES (3)
> SELECT s FROM m
9
> DROP MATERIALIZED VIEW m
$ kill
! SELECT * FROM m
exact:relation "m" does not exist
> SELECT * FROM v
2
3
4
