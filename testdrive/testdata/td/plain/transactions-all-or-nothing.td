# Several tables change together, or not at all.

> CREATE TABLE account (id int, balance int NOT NULL)
> CREATE TABLE log (what text)
> INSERT INTO account VALUES (1, 100), (2, 50)
> CREATE VIEW total AS SELECT sum(balance) AS sum FROM account

> BEGIN
> UPDATE account SET balance = balance - 30 WHERE id = 1
> UPDATE account SET balance = balance + 30 WHERE id = 2
> INSERT INTO log VALUES ('30 from 1 to 2')
> COMMIT
> SELECT * FROM account
1 70
2 80
> SELECT sum FROM total
150
> SELECT * FROM log
"30 from 1 to 2"

# The first half is undone with the second.
> BEGIN
> UPDATE account SET balance = balance - 1000 WHERE id = 1
! UPDATE account SET balance = NULL WHERE id = 2
contains:violates not-null constraint
! INSERT INTO log VALUES ('never')
exact:current transaction is aborted, commands ignored until end of transaction block
> ROLLBACK
> SELECT * FROM account
1 70
2 80
> SELECT count(*) FROM log
1

# COMMIT of a failed transaction undoes it.
> BEGIN
> INSERT INTO log VALUES ('never')
! SELECT 1 / 0
contains:division by zero
> COMMIT
> SELECT count(*) FROM log
1

# A later statement sees what an earlier one changed.
> BEGIN
> INSERT INTO account VALUES (3, 5)
> UPDATE account SET balance = balance * 2 WHERE id = 3
> DELETE FROM account WHERE balance = 70
> COMMIT
> SELECT * FROM account
2 80
3 10
