# A join of three tables in which every table changes.

> CREATE TABLE customer (id int, name text)
> CREATE TABLE orders (id int, customer int)
> CREATE TABLE item (orders int, product text, n int)
> CREATE MATERIALIZED VIEW bought AS SELECT c.name, i.product, sum(i.n) AS n FROM customer AS c JOIN orders AS o ON o.customer = c.id JOIN item AS i ON i.orders = o.id GROUP BY c.name, i.product
> INSERT INTO item VALUES (100, 'tea', 2), (100, 'cup', 1), (101, 'tea', 5)
> INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob')
> SELECT * FROM bought
> INSERT INTO orders VALUES (100, 1)
> SELECT * FROM bought
Ann tea 2
Ann cup 1
> INSERT INTO orders VALUES (101, 1), (102, 2)
> SELECT * FROM bought
Ann tea 7
Ann cup 1
> UPDATE orders SET customer = 2 WHERE id = 100
> SELECT * FROM bought
Ann tea 5
Bob tea 2
Bob cup 1
> UPDATE customer SET name = 'Eve'
> SELECT * FROM bought
Eve tea 7
Eve cup 1
> DELETE FROM item WHERE product = 'cup'
> DELETE FROM customer WHERE id = 1
> SELECT * FROM bought
Eve tea 2
