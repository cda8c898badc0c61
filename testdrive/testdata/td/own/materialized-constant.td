# A view that reads no table.

> CREATE MATERIALIZED VIEW one AS SELECT 1 AS a, 'x' AS b
> CREATE MATERIALIZED VIEW several AS VALUES (1), (2), (2)
> SELECT * FROM one
1 x
> SELECT * FROM several
1
2
2
> CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS c FROM one, several
> SELECT * FROM counted
3
