# COPY in the text format: tabs, \N and backslashes.

> CREATE TABLE t (a int, b text, c numeric)
$ copy-in statement="COPY t FROM STDIN"
1	one	1.5
2	\N	\N
3		0
4	tab\there	-1
5	line\nbreak	1
6	back\\slash	1

> SELECT a, b, c FROM t
1 one 1.5
2 <null> <null>
3 "" 0
4 "tab\there" -1
5 "line\nbreak" 1
6 back\slash 1

# Some columns, in another order.
$ copy-in statement="COPY t (c, a) FROM STDIN"
2.5	7
> SELECT * FROM t WHERE a = 7
7 <null> 2.5

$ copy-in statement="COPY t (a, b) FROM STDIN WITH (DELIMITER '|', NULL 'nil')"
8|x
9|nil
> SELECT a, b FROM t WHERE a > 7
8 x
9 <null>

# Nothing is a set of rows too.
$ copy-in statement="COPY t FROM STDIN"
> SELECT count(*) FROM t
9
