# UNION, INTERSECT, EXCEPT on two small tables.

> CREATE TABLE a (x int)
> CREATE TABLE b (x int)
> INSERT INTO a VALUES (1), (2), (2), (NULL)
> INSERT INTO b VALUES (2), (3), (NULL), (NULL)
> SELECT x FROM a UNION SELECT x FROM b
1
2
3
<null>
> SELECT x FROM a UNION ALL SELECT x FROM b
1
2
2
2
3
<null>
<null>
<null>
> SELECT x FROM a INTERSECT SELECT x FROM b
2
<null>
> SELECT x FROM b INTERSECT ALL SELECT x FROM b
2
3
<null>
<null>
> SELECT x FROM a EXCEPT SELECT x FROM b
1
> SELECT x FROM a EXCEPT ALL SELECT x FROM b
1
2
> (SELECT x FROM a ORDER BY x LIMIT 1) UNION ALL SELECT 100
1
100
! SELECT x FROM a UNION SELECT 'y'
contains:invalid input syntax for type integer: "y"
! SELECT x FROM a UNION SELECT x, x FROM b
contains:each UNION query must have the same number of columns
