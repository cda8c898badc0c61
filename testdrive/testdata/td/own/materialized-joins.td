# Every kind of join, maintained: rows find and lose their partners.

> CREATE TABLE l (id int, k int)
> CREATE TABLE r (k int, name text)
> CREATE MATERIALIZED VIEW inner_join AS SELECT l.id, r.name FROM l JOIN r ON l.k = r.k
> CREATE MATERIALIZED VIEW left_join AS SELECT l.id, r.name FROM l LEFT JOIN r ON l.k = r.k
> CREATE MATERIALIZED VIEW right_join AS SELECT l.id, r.name FROM l RIGHT JOIN r ON l.k = r.k
> CREATE MATERIALIZED VIEW full_join AS SELECT l.id, r.name FROM l FULL JOIN r ON l.k = r.k
> CREATE MATERIALIZED VIEW cross_join AS SELECT l.id, r.name FROM l CROSS JOIN r
> CREATE MATERIALIZED VIEW self_join AS SELECT a.id AS x, b.id AS y FROM l AS a JOIN l AS b ON a.k = b.k AND a.id < b.id
> CREATE MATERIALIZED VIEW unequal AS SELECT l.id, r.name FROM l JOIN r ON l.k < r.k
> INSERT INTO l VALUES (1, 10), (2, 20), (3, NULL)
> SELECT * FROM inner_join
> SELECT * FROM left_join
1 <null>
2 <null>
3 <null>
> SELECT * FROM full_join
1 <null>
2 <null>
3 <null>
> INSERT INTO r VALUES (10, 'ten'), (30, 'thirty'), (NULL, 'none')
> SELECT * FROM inner_join
1 ten
> SELECT * FROM left_join
1 ten
2 <null>
3 <null>
> SELECT * FROM right_join
1 ten
<null> none
<null> thirty
> SELECT * FROM full_join
1 ten
2 <null>
3 <null>
<null> none
<null> thirty
> SELECT count(*) FROM cross_join
9
> SELECT * FROM unequal
1 thirty
2 thirty
> INSERT INTO r VALUES (20, 'twenty'), (10, 'ten again')
> INSERT INTO l VALUES (4, 10)
> SELECT * FROM inner_join
1 ten
1 "ten again"
2 twenty
4 ten
4 "ten again"
> SELECT * FROM self_join
1 4
> UPDATE l SET k = 30 WHERE id = 1
> DELETE FROM r WHERE name = 'ten'
> SELECT * FROM left_join
1 thirty
2 twenty
3 <null>
4 "ten again"
> SELECT * FROM right_join
1 thirty
2 twenty
4 "ten again"
<null> none
> SELECT * FROM self_join
> DELETE FROM r
> SELECT * FROM full_join
1 <null>
2 <null>
3 <null>
4 <null>
> DELETE FROM l
> SELECT * FROM full_join
> SELECT * FROM cross_join
