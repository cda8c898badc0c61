# Views show the tables as they are now.

> CREATE TABLE t (a int, b text)
> CREATE VIEW v AS SELECT a, upper(b) AS c FROM t WHERE a > 1
> CREATE VIEW w (x, y) AS SELECT c, count(*) FROM v GROUP BY c
> SELECT * FROM w
> INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'b'), (4, 'c')
> SELECT * FROM v
a c
---
2 B
3 B
4 C
> SELECT * FROM w
x y
---
B 2
C 1
> UPDATE t SET b = 'c' WHERE a = 3
> DELETE FROM t WHERE a = 4
> SELECT * FROM w
B 1
C 1
> SELECT v.a, w.y FROM v JOIN w ON w.x = v.c
2 1
3 1
! CREATE VIEW v AS SELECT 1
exact:relation "v" already exists
! INSERT INTO w VALUES ('x', 1)
contains:cannot insert into view "w"
! DROP TABLE v
exact:"v" is not a table
! DROP VIEW t
exact:"t" is not a view
