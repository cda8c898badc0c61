# Schemas: objects of one name live in each.

> CREATE SCHEMA s
> CREATE TABLE s.t (a int)
> CREATE TABLE t (a int)
> INSERT INTO s.t VALUES (1)
> INSERT INTO public.t VALUES (2)
> SELECT * FROM t
2
> SELECT * FROM s.t
1
> SELECT s.t.a, public.t.a FROM s.t, public.t
1 2
> CREATE VIEW s.v AS SELECT a + 10 AS b FROM s.t
> SELECT b FROM s.v
11
> SET search_path = s, public
> SELECT a FROM t
1
> SHOW search_path
"s, public"
> RESET search_path
> SELECT a FROM t
2
! CREATE TABLE nowhere.t (a int)
exact:schema "nowhere" does not exist
! CREATE SCHEMA s
exact:schema "s" already exists
! DROP SCHEMA s
contains:cannot drop schema s because other objects depend on it
> DROP SCHEMA s CASCADE
! SELECT * FROM s.t
exact:relation "s.t" does not exist
