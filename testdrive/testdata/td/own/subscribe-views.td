# A subscription to a view, a materialized view and a query: the changes of the result, not of the inputs.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE t (k text, n int)
> INSERT INTO t VALUES ('a', 1)
> CREATE MATERIALIZED VIEW sums AS SELECT k, sum(n) AS s FROM t GROUP BY k
> CREATE VIEW big AS SELECT k FROM sums WHERE s > 10
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE sums
> FETCH 1 c
<TS> 1 a 1
$ postgres-execute connection=materialize
INSERT INTO t VALUES ('a', 4)
> FETCH 2 c
<TS> -1 a 1
<TS> 1 a 5
# A change that leaves the result as it is does not show.
$ postgres-execute connection=materialize
INSERT INTO t VALUES ('a', 0)
INSERT INTO t VALUES ('b', 9)
> FETCH 1 c
<TS> 1 b 9
> COMMIT
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE big
$ postgres-execute connection=materialize
INSERT INTO t VALUES ('b', 2)
> FETCH 1 c
<TS> 1 b
$ postgres-execute connection=materialize
DELETE FROM t WHERE k = 'b'
> FETCH 1 c
<TS> -1 b
> COMMIT
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE (SELECT count(*) AS n FROM t)
> FETCH 1 c
mz_timestamp mz_diff n
---
<TS> 1 3
$ postgres-execute connection=materialize
DELETE FROM t
> FETCH 2 c
<TS> -1 3
<TS> 1 0
> ROLLBACK
