# DEFAULT fills in what an INSERT leaves out; NOT NULL refuses.

> CREATE TABLE t (id int NOT NULL, state text NOT NULL DEFAULT 'new', n numeric DEFAULT 2 * 1.5, note text)
> INSERT INTO t (id) VALUES (1), (2)
> INSERT INTO t VALUES (3, 'old', DEFAULT, 'x')
> INSERT INTO t VALUES (4, DEFAULT)
> SELECT * FROM t
1 new 3 <null>
2 new 3 <null>
3 old 3 x
4 new 3 <null>

! INSERT INTO t (state) VALUES ('x')
exact:null value in column "id" of relation "t" violates not-null constraint
! INSERT INTO t VALUES (5, NULL)
contains:null value in column "state"
# All or nothing.
! INSERT INTO t (id) VALUES (6), (7), (NULL)
contains:violates not-null constraint
! UPDATE t SET state = NULL WHERE id = 2
contains:null value in column "state"
> UPDATE t SET n = DEFAULT, note = NULL WHERE id = 3
> UPDATE t SET state = DEFAULT WHERE id = 3
> SELECT count(*), count(DISTINCT state) FROM t
4 1

> CREATE TABLE d (x int DEFAULT 7, y text)
> INSERT INTO d DEFAULT VALUES
> SELECT * FROM d
7 <null>
