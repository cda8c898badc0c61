# COPY is one write: a view sees all of it.

> CREATE TABLE t (k text, n int)
> CREATE MATERIALIZED VIEW m AS SELECT k, sum(n) AS s FROM t GROUP BY k
$ copy-in statement="COPY t FROM STDIN WITH (FORMAT csv)"
a,1
b,2
a,3
> SELECT * FROM m
a 4
b 2
$ copy-in statement="COPY t FROM STDIN WITH (FORMAT csv)" error="invalid input syntax for type integer"
a,100
b,x
> SELECT * FROM m
a 4
b 2
$ copy-out statement="COPY (SELECT k, s FROM m ORDER BY k) TO STDOUT"
a	4
b	2
