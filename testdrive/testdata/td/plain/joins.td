# Customers and their orders: every kind of join.

> CREATE TABLE customer (id int, name text)
> CREATE TABLE orders (id int, customer int, total numeric)
> INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cid')
> INSERT INTO orders VALUES (10, 1, 5), (11, 1, 7.5), (12, 3, 1), (13, 9, 2), (14, NULL, 3)

> SELECT c.name, o.total FROM customer AS c JOIN orders AS o ON o.customer = c.id
Ann 5
Ann 7.5
Cid 1
> SELECT c.name, o.id FROM customer AS c LEFT JOIN orders AS o ON o.customer = c.id
Ann 10
Ann 11
Bob <null>
Cid 12
> SELECT c.name, o.id FROM customer AS c RIGHT JOIN orders AS o ON o.customer = c.id
Ann 10
Ann 11
Cid 12
<null> 13
<null> 14
> SELECT c.name, o.id FROM customer AS c FULL JOIN orders AS o ON o.customer = c.id
Ann 10
Ann 11
Bob <null>
Cid 12
<null> 13
<null> 14
> SELECT count(*) FROM customer CROSS JOIN orders
15
> SELECT a.name, b.name FROM customer AS a, customer AS b WHERE a.id < b.id
Ann Bob
Ann Cid
Bob Cid
> SELECT c.name, count(o.id), sum(o.total) FROM customer AS c LEFT JOIN orders AS o ON o.customer = c.id AND o.total > 2 GROUP BY c.name
Ann 2 12.5
Bob 0 <null>
Cid 0 <null>
> SELECT name FROM customer AS c WHERE NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.customer = c.id)
Bob
! SELECT id FROM customer JOIN orders ON customer.id = orders.customer
exact:column reference "id" is ambiguous
! SELECT * FROM customer JOIN orders ON customer.id = orders.nothing
exact:column orders.nothing does not exist
