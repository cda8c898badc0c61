# Rows from queries, also from the table that takes them.

> CREATE TABLE src (a int, b text)
> CREATE TABLE dst (x bigint, y text, z numeric)
> INSERT INTO src VALUES (1, 'a'), (2, 'b'), (3, NULL)
> INSERT INTO dst SELECT a, b, a * 1.5 FROM src
> INSERT INTO dst (y, x) SELECT b || b, a + 10 FROM src WHERE b IS NOT NULL
> SELECT * FROM dst
1 a 1.5
2 b 3
3 <null> 4.5
11 aa <null>
12 bb <null>

> INSERT INTO src SELECT a + 3, b FROM src
> INSERT INTO src SELECT * FROM src
> SELECT count(*), sum(a), max(a) FROM src
12 42 6

> INSERT INTO dst (x) SELECT count(*) FROM src
> INSERT INTO dst (x) SELECT a FROM src WHERE false
> SELECT x FROM dst WHERE y IS NULL
3
12

! INSERT INTO dst SELECT * FROM src, src AS s2
contains:INSERT has more expressions than target columns
! INSERT INTO dst (x) SELECT b FROM src
contains:column "x" is of type bigint but expression is of type text
! INSERT INTO dst (x) SELECT 10 / (a - 2) FROM src
contains:division by zero
> SELECT count(*) FROM dst
6
