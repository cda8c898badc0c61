# A view that reads no table.

> CREATE MATERIALIZED VIEW one AS SELECT 1 AS a, 'x' AS b
> CREATE MATERIALIZED VIEW some AS VALUES (1), (2), (2)
> SELECT * FROM one
1 x
> SELECT * FROM some
1
2
2
> CREATE MATERIALIZED VIEW both AS SELECT count(*) AS c FROM one, some
> SELECT * FROM both
3
