# COPY of a table or a query to the client.

> CREATE TABLE t (a int, b text, c bool)
> INSERT INTO t VALUES (1, 'one', true), (2, NULL, false), (3, E'tab\there', NULL), (4, 'comma, "quote"', true)

$ copy-out statement="COPY (SELECT * FROM t ORDER BY a) TO STDOUT"
1	one	t
2	\N	f
3	tab\there	\N
4	comma, "quote"	t
$ copy-out statement="COPY (SELECT a, b FROM t WHERE a <> 3 ORDER BY a DESC) TO STDOUT WITH (FORMAT csv, HEADER)"
a,b
4,"comma, ""quote"""
2,
1,one
$ copy-out statement="COPY (SELECT a, b FROM t WHERE a < 3 ORDER BY a) TO STDOUT WITH (FORMAT csv, DELIMITER ';', NULL 'nil')"
1;one
2;nil
$ copy-out statement="COPY (SELECT date '2024-01-02', interval '1 day', 'x' || 'y') TO STDOUT WITH (FORMAT csv)"
2024-01-02,1 day,xy
> DELETE FROM t WHERE a > 1
$ copy-out statement="COPY t TO STDOUT"
1	one	t
$ copy-out statement="COPY t (c, a) TO STDOUT"
t	1
$ copy-out statement="COPY (SELECT * FROM t WHERE false) TO STDOUT"
$ copy-out statement="COPY nothing TO STDOUT" error="does not exist"
$ copy-out statement="COPY (SELECT 1 / 0) TO STDOUT" error="division by zero"
# The session goes on.
> SELECT a FROM t
1
