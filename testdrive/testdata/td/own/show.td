# The SHOW lists.

> CREATE TABLE t (a int NOT NULL, b text, c numeric)
> CREATE TABLE u (x int)
> CREATE VIEW v AS SELECT a FROM t
> CREATE MATERIALIZED VIEW m AS SELECT b FROM t
> CREATE INDEX t_a ON t (a)
> SHOW TABLES
name comment
---
t ""
u ""
> SHOW VIEWS
v ""
> SHOW MATERIALIZED VIEWS
name cluster comment
---
m quickstart ""
> SHOW INDEXES
name on cluster key comment
---
t_a t quickstart {a} ""
> SHOW INDEXES ON t
t_a t quickstart {a} ""
> SHOW INDEXES ON u
> SHOW COLUMNS FROM t
name nullable type comment
---
a false integer ""
b true text ""
c true numeric ""
> SELECT name, type FROM (SHOW OBJECTS)
t table
u table
v view
m materialized-view
t_a index
> SHOW TABLES LIKE 't%'
t ""
> SELECT name FROM (SHOW SCHEMAS) WHERE name = 'public'
public
> SELECT name FROM (SHOW DATABASES)
materialize
! SHOW COLUMNS FROM nothing
contains:"nothing" does not exist
