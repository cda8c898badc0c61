# Long texts, many rows, many columns.

> CREATE TABLE digits (d int)
> INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)
> CREATE TABLE t (n int, s text)
> INSERT INTO t SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d, repeat('x', a.d) FROM digits AS a, digits AS b, digits AS c, digits AS e
> SELECT count(*), sum(n), min(n), max(n), count(DISTINCT n), sum(length(s)) FROM t
10000 49995000 0 9999 10000 45000
> SELECT count(*) FROM t AS a JOIN t AS b ON a.n = b.n + 1
9999
> SELECT s, count(*) FROM t GROUP BY s HAVING length(s) > 7
xxxxxxxx 1000
xxxxxxxxx 1000
> SELECT n FROM t
10000 values hashing to 678d96ad53067c92bf985d1bb848fc7c
> INSERT INTO t VALUES (-1, repeat('0123456789', 20000))
> SELECT length(s), right(s, 3), md5(s) FROM t WHERE n = -1
200000 789 bcc4bfca43786497d970f7d3e2fdd455
> DELETE FROM t WHERE n >= 0
> SELECT count(*) FROM t
1
> SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
