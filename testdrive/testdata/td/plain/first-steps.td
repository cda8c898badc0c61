# The first script of the user's page: a table, a view, an error, a variable.

> CREATE TABLE fruit (name text, n int)
> INSERT INTO fruit VALUES ('apple', 3), ('pear', 5), ('plum', NULL)

# Rows may come in any order.
> SELECT name, n FROM fruit
apple 3
pear  5
plum  <null>

> CREATE VIEW many AS SELECT name FROM fruit WHERE n > 4
> SELECT * FROM many
name
----
pear

> UPDATE fruit SET n = 9 WHERE name = 'apple'
> SELECT * FROM many
apple
pear

! SELECT n / 0 FROM fruit
contains:division by zero

$ set limit=4
> SELECT count(*) FROM fruit WHERE n > ${limit}
2
