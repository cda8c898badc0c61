# What result columns are called.

> CREATE TABLE t (a int, "Two Words" text)
> INSERT INTO t VALUES (1, 'x')
> SELECT * FROM t
a "Two Words"
---
1 x
> SELECT a, a + 1, a AS b, t.a, "Two Words" AS "select", 1, 'x', NULL FROM t
a ?column? b a select ?column? ?column? ?column?
---
1 2 1 1 x 1 x <null>
> SELECT count(*), sum(a), max(a) AS top, upper("Two Words"), coalesce(a, 0), a::text, CASE WHEN a = 1 THEN 2 END FROM t GROUP BY a, "Two Words"
count sum top upper coalesce a case
---
1 1 1 X 1 1 2
> SELECT (SELECT 5 AS inner), EXISTS (SELECT 1), true, x.y FROM (SELECT 1 AS y) AS x
inner exists ?column? y
---
5 true true 1
> VALUES (1, 2)
column1 column2
---
1 2
> SELECT * FROM (VALUES (1, 2)) AS v(p)
p column2
---
1 2
> SELECT x AS a, 'u' AS b FROM (VALUES (1)) AS t(x) UNION SELECT 2, 'v'
a b
---
1 u
2 v
> SELECT date '2024-01-01', '1'::int, CAST(2 AS text), ARRAY[1]
date int4 text array
---
2024-01-01 1 2 {1}
