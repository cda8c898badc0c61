# What others depend on is not dropped, unless they go too.

> CREATE TABLE t (a int)
> CREATE VIEW v AS SELECT a FROM t
> CREATE VIEW w AS SELECT a FROM v
> CREATE VIEW other AS SELECT 1 AS one
! DROP TABLE t
exact:cannot drop table t because other objects depend on it
! DROP VIEW v
exact:cannot drop view v because other objects depend on it
! DROP TABLE t RESTRICT
contains:other objects depend on it
> DROP VIEW w
> DROP VIEW v
> CREATE VIEW v AS SELECT a FROM t
> CREATE VIEW w AS SELECT a FROM v
> DROP TABLE t CASCADE
! SELECT * FROM w
exact:relation "w" does not exist
! SELECT * FROM v
exact:relation "v" does not exist
> SELECT one FROM other
1
> DROP VIEW IF EXISTS v, other
! SELECT * FROM other
contains:does not exist
