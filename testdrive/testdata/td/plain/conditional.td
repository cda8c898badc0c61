# CASE, COALESCE, NULLIF, GREATEST, LEAST over a table.

> CREATE TABLE t (id int, a int, b int)
> INSERT INTO t VALUES (1, 10, 3), (2, NULL, 5), (3, 0, 0), (4, 7, NULL)
> SELECT id, CASE WHEN a > b THEN 'more' WHEN a = b THEN 'same' ELSE 'less or unknown' END FROM t
1 more
2 "less or unknown"
3 same
4 "less or unknown"
> SELECT id, coalesce(a, b, -1), nullif(a, b), greatest(a, b), least(a, b), CASE a WHEN 10 THEN 'ten' WHEN 0 THEN 'zero' END FROM t
1 10 10 10 3 ten
2 5 <null> 5 5 <null>
3 0 <null> 0 0 zero
4 7 7 7 7 <null>
> SELECT id, a / nullif(b, 0) FROM t
1 3
2 <null>
3 <null>
4 <null>
> SELECT id FROM t WHERE CASE WHEN b = 0 THEN false ELSE a / b > 1 END
1
> SELECT sum(CASE WHEN a IS NULL THEN 1 ELSE 0 END), count(*) FILTER (WHERE b IS NULL) FROM t
1 1
