# UPDATE and DELETE with conditions, expressions and subqueries.

> CREATE TABLE stock (item text, n int, price numeric)
> INSERT INTO stock VALUES ('nut', 10, 0.5), ('bolt', 20, 1), ('gear', 0, 12.25), ('belt', NULL, 7)
> UPDATE stock SET n = n + 5 WHERE price < 2
> UPDATE stock SET price = price * 2, item = upper(item) WHERE n = 0
> SELECT * FROM stock
nut  15 0.5
bolt 25 1
GEAR 0  24.5
belt <null> 7

> UPDATE stock SET n = (SELECT max(n) FROM stock) WHERE n IS NULL
> SELECT n FROM stock WHERE item = 'belt'
25

# The right side sees the old row.
> UPDATE stock SET n = price::int, price = n WHERE item = 'bolt'
> SELECT n, price FROM stock WHERE item = 'bolt'
1 25

> CREATE TABLE gone (item text)
> INSERT INTO gone VALUES ('bolt'), ('nothing')
> DELETE FROM stock WHERE item IN (SELECT item FROM gone)
> DELETE FROM stock WHERE n = 12345
> SELECT item FROM stock
GEAR
belt
nut

! UPDATE stock SET n = 100 / n
contains:division by zero
! DELETE FROM stock WHERE 1 / n > 0
contains:division by zero
> SELECT count(*) FROM stock
3
> DELETE FROM stock
> SELECT * FROM stock
