# Dropping what others stand on.

> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW m AS SELECT a FROM t
> CREATE INDEX m_idx ON m (a)
> CREATE VIEW v AS SELECT a FROM m
> CREATE MATERIALIZED VIEW n AS SELECT a FROM v
! DROP MATERIALIZED VIEW m
contains:other objects depend on it
! DROP TABLE t
contains:other objects depend on it
! DROP VIEW m
contains:"m" is not a view
! DROP TABLE m
contains:"m" is not a table
! DROP MATERIALIZED VIEW nothing
contains:does not exist
> DROP MATERIALIZED VIEW IF EXISTS nothing
> DROP MATERIALIZED VIEW n
> DROP VIEW v
# An index is no reason to refuse.
> DROP MATERIALIZED VIEW m
! SELECT * FROM m
exact:relation "m" does not exist
> CREATE MATERIALIZED VIEW m AS SELECT a + 1 AS a FROM t
> CREATE MATERIALIZED VIEW n AS SELECT a FROM m
> INSERT INTO t VALUES (1)
> SELECT * FROM n
2
> DROP TABLE t CASCADE
! SELECT * FROM n
exact:relation "n" does not exist
