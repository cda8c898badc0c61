# A materialized view follows its table: inserts, updates, deletes, down to nothing and back.

> CREATE TABLE t (a int, b text)
> INSERT INTO t VALUES (1, 'x'), (2, 'y')
> CREATE MATERIALIZED VIEW v AS SELECT a, b || '!' AS c FROM t WHERE a > 1
> SELECT * FROM v
a c
---
2 y!
> INSERT INTO t VALUES (3, 'z'), (0, 'no')
> SELECT * FROM v
2 y!
3 z!
> INSERT INTO t VALUES (3, 'z')
> SELECT * FROM v
2 y!
3 z!
3 z!
> UPDATE t SET a = a - 1
> SELECT * FROM v
2 z!
2 z!
> UPDATE t SET b = upper(b)
> SELECT * FROM v
2 Z!
2 Z!
> DELETE FROM t
> SELECT * FROM v
> INSERT INTO t VALUES (9, NULL)
> SELECT * FROM v
9 <null>
! CREATE MATERIALIZED VIEW v AS SELECT 1
contains:already exists
> CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1
! INSERT INTO v VALUES (1, 'x')
contains:"v"
! DROP TABLE t
contains:other objects depend on it
> DROP MATERIALIZED VIEW v
> DROP TABLE t
