# ORDER BY with LIMIT, maintained: the next row moves up when one leaves.

> CREATE TABLE score (name text, points int)
> CREATE MATERIALIZED VIEW best AS SELECT name, points FROM score ORDER BY points DESC NULLS LAST, name LIMIT 3
> CREATE MATERIALIZED VIEW second AS SELECT name FROM score ORDER BY points DESC NULLS LAST, name LIMIT 1 OFFSET 1
> INSERT INTO score VALUES ('a', 10), ('b', 30), ('c', 20), ('d', 5), ('e', NULL)
> SELECT * FROM best
a 10
b 30
c 20
> SELECT * FROM second
c
> INSERT INTO score VALUES ('f', 25)
> SELECT * FROM best
b 30
c 20
f 25
> DELETE FROM score WHERE name = 'b'
> SELECT * FROM best
a 10
c 20
f 25
> SELECT * FROM second
c
> UPDATE score SET points = 100 WHERE name = 'e'
> SELECT * FROM best
c 20
e 100
f 25
> DELETE FROM score WHERE points > 5
> SELECT * FROM best
d 5
> SELECT * FROM second
> INSERT INTO score VALUES ('d', 5), ('d', 5), ('d', 5)
> SELECT * FROM best
d 5
d 5
d 5
