# Types that do not fit.

> CREATE TABLE t (a int, b text, d date)
! SELECT a + b FROM t
exact:operator does not exist: integer + text
hint:No operator matches
! SELECT a || d FROM t WHERE a = b
exact:operator does not exist: integer || date
! SELECT * FROM t WHERE a
exact:argument of WHERE must be type boolean, not type integer
! SELECT * FROM t WHERE NOT b
exact:argument of NOT must be type boolean, not type text
! INSERT INTO t (d) VALUES (1)
exact:column "d" is of type date but expression is of type integer
hint:You will need to rewrite or cast the expression.
! INSERT INTO t (a) VALUES ('x')
exact:invalid input syntax for type integer: "x"
! UPDATE t SET a = b
exact:column "a" is of type integer but expression is of type text
! SELECT CASE WHEN a = 1 THEN a ELSE b END FROM t
exact:CASE types text and integer cannot be matched
! SELECT coalesce(a, b) FROM t
exact:COALESCE types integer and text cannot be matched
! SELECT a FROM t UNION SELECT b FROM t
exact:UNION types integer and text cannot be matched
! SELECT a::date FROM t
exact:cannot cast type integer to date
! SELECT sum(b) FROM t
exact:function sum(text) does not exist
! SELECT * FROM t WHERE (a, b) = (1, 2, 3)
exact:unequal number of entries in row expressions
! SELECT a IN (SELECT a, b FROM t) FROM t
exact:subquery has too many columns
! VALUES (1), (1, 2)
exact:VALUES lists must all be the same length
! INSERT INTO t VALUES (1, 'x', '2024-01-01', 4)
exact:INSERT has more expressions than target columns
# None of it did anything to the table.
> SELECT count(*) FROM t
0
