# A row that makes a view's query fail makes reads of that view fail, until it is gone. Others go on.

> CREATE TABLE t (a int, s text)
> INSERT INTO t VALUES (1, '1'), (2, '2')
> CREATE MATERIALIZED VIEW q AS SELECT 10 / a AS x FROM t
> CREATE MATERIALIZED VIEW n AS SELECT s::int AS y FROM t
> CREATE MATERIALIZED VIEW sound AS SELECT count(*) AS c FROM t
> CREATE MATERIALIZED VIEW above AS SELECT sum(x) AS s FROM q
> SELECT * FROM q
5
10
> INSERT INTO t VALUES (0, '3')
! SELECT * FROM q
contains:division by zero
! SELECT * FROM above
contains:division by zero
> SELECT * FROM n
1
2
3
> SELECT * FROM sound
3
> INSERT INTO t VALUES (0, 'x')
! SELECT * FROM n
contains:invalid input syntax for type integer: "x"
> DELETE FROM t WHERE s = '3'
! SELECT * FROM q
contains:division by zero
> UPDATE t SET a = 5, s = '5' WHERE a = 0
> SELECT * FROM q
2
5
10
> SELECT * FROM above
17
> SELECT * FROM n
1
2
5
