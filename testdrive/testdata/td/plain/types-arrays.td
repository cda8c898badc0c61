# Arrays, as psql's catalog queries use them.

> SELECT ARRAY[1, 2, 3], ARRAY['a', NULL, 'b c'], '{}'::int[]
{1,2,3} "{a,NULL,b c}" {}
> SELECT ARRAY[1, 2, 3] = ARRAY[1, 2, 3], 2 = ANY (ARRAY[1, 2]), 5 <> ALL (ARRAY[1, 2]), 2 = ANY (NULL::int[])
true true true <null>
> SELECT (ARRAY['a', 'b', 'c'])[2], (ARRAY[1, 2])[5]
b <null>
> SELECT ARRAY(SELECT x FROM (VALUES (3), (1), (2)) AS t(x) ORDER BY x)
{1,2,3}
