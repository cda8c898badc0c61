# What docs/postgresql.md says is different from PostgreSQL.

> CREATE TABLE t (a int NOT NULL DEFAULT 7, n numeric(10, 2))
> CREATE MATERIALIZED VIEW v AS SELECT sum(a) AS s FROM t

! CREATE TABLE x (a int PRIMARY KEY)
exact:a PRIMARY KEY constraint is not supported
! CREATE TABLE x (a int UNIQUE)
exact:a UNIQUE constraint is not supported
! CREATE TABLE x (a int CHECK (a > 0))
exact:a CHECK constraint is not supported
! CREATE TABLE x (a int REFERENCES t)
exact:REFERENCES is not supported
! INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING
exact:ON CONFLICT is not supported
! CREATE TABLE x (a serial)
exact:type serial is not supported
! CREATE SEQUENCE s
exact:CREATE SEQUENCE is not supported
! CREATE TABLE x AS SELECT 1 AS a
exact:CREATE TABLE AS is not supported
! CREATE TEMPORARY TABLE x (a int)
exact:CREATE TEMPORARY TABLE is not supported
! ALTER TABLE t ADD COLUMN b int
exact:ALTER TABLE … ADD COLUMN is not supported
! TRUNCATE t
exact:TRUNCATE is not supported
! REFRESH MATERIALIZED VIEW v
exact:REFRESH MATERIALIZED VIEW is not supported
! SELECT row_number() OVER () FROM t
exact:a window function is not supported
! WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
exact:WITH RECURSIVE is not supported
! SELECT a FROM t GROUP BY ROLLUP (a)
exact:ROLLUP is not supported
! SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t
exact:WITHIN GROUP is not supported
> CREATE MATERIALIZED VIEW firsts AS SELECT DISTINCT ON (a) a, n FROM t ORDER BY a, n
> CREATE MATERIALIZED VIEW top AS SELECT a FROM t ORDER BY a DESC LIMIT 2
! CREATE MATERIALIZED VIEW x AS SELECT now()
exact:cannot materialize call to now
! CREATE ROLE r
exact:CREATE ROLE is not supported
! GRANT SELECT ON t TO r
exact:GRANT is not supported
! SELECT a FROM t FOR UPDATE
exact:SELECT FOR UPDATE is not supported
! COPY t FROM '/tmp/t.csv'
exact:COPY from and to files on the server is not supported
! SET TimeZone = 'Europe/Berlin'
exact:invalid value for parameter "TimeZone": "Europe/Berlin"

> BEGIN
! SAVEPOINT s
exact:SAVEPOINT is not supported
> ROLLBACK
> BEGIN
> INSERT INTO t VALUES (1, 1.5), (2, 3), (2, 2.25)
! SELECT s FROM v
contains:after the transaction has written to table t is not supported
hint:COMMIT first.
> ROLLBACK
> BEGIN
> CREATE TABLE x (a int)
! INSERT INTO x VALUES (1)
exact:INSERT after DDL in the same transaction is not supported
hint:COMMIT first.
> ROLLBACK

> INSERT INTO t VALUES (1, 1.50), (2, 3.00), (2, 2.25)
> SELECT a, n::text FROM t
1 1.5
2 3
2 2.25
> SELECT a, n::text FROM firsts
1 1.5
2 2.25
> SELECT a FROM top
2
2
! SELECT 1::numeric(40, 2)
exact:NUMERIC precision 40 must be between 1 and 39
> SELECT '{"a": 1}'::jsonb::text, '{"a": 1}'::json::text
"{\"a\":1}" "{\"a\":1}"
> DELETE FROM t
> SELECT count(*) FROM t
0
