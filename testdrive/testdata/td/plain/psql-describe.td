# psql's own queries: \d of a table and of a view.

> CREATE TABLE t (a int NOT NULL, b text DEFAULT 'x', c numeric(10, 2), d timestamp with time zone, e varchar(5))
> CREATE VIEW v AS SELECT a, b FROM t
$ psql-execute command="\d t"
\                              Table "public.t"
 Column |           Type           | Collation | Nullable |  Default
--------+--------------------------+-----------+----------+-----------
 a      | integer                  |           | not null |
 b      | text                     |           |          | 'x'::text
 c      | numeric(10,2)            |           |          |
 d      | timestamp with time zone |           |          |
 e      | character varying(5)     |           |          |
$ psql-execute command="\d v"
\                  View "public.v"
 Column |  Type   | Collation | Nullable | Default
--------+---------+-----------+----------+---------
 a      | integer |           |          |
 b      | text    |           |          |
