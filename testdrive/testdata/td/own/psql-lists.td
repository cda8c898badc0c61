# psql's lists of relations, by its own queries of pg_catalog.

> CREATE TABLE t (a int)
> CREATE TABLE u (b int)
> CREATE VIEW v AS SELECT a FROM t
> CREATE MATERIALIZED VIEW m AS SELECT a FROM t
$ psql-execute command="\dt"
\           List of relations
 Schema | Name | Type  |    Owner
--------+------+-------+-------------
 public | t    | table | materialize
 public | u    | table | materialize
$ psql-execute command="\dv"
\          List of relations
 Schema | Name | Type |    Owner
--------+------+------+-------------
 public | v    | view | materialize
$ psql-execute command="\dm"
\                 List of relations
 Schema | Name |       Type        |    Owner
--------+------+-------------------+-------------
 public | m    | materialized view | materialize
$ psql-execute command="\d m"
\            Materialized view "public.m"
 Column |  Type   | Collation | Nullable | Default
--------+---------+-----------+----------+---------
 a      | integer |           |          |
