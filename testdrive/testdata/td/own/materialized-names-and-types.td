# A materialized view has columns of its own names and its query's types.

> CREATE TABLE t (a smallint NOT NULL, b varchar(5), c numeric(6, 2), d date, e jsonb, f interval, g uuid, h bytea, i timestamptz, j float4)
> CREATE MATERIALIZED VIEW v (one, two, three, four, five, six, seven, eight, nine, ten) AS SELECT * FROM t
> INSERT INTO t VALUES (1, 'two', 3.14159, '2024-04-04', '{"five": [5]}', '6 days', '00000000-0000-0000-0000-000000000007', '\x08', '2024-09-09 09:09+00', 0.1), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
> SELECT one, two, three, four, six, seven, eight, nine, ten FROM v
one two three four six seven eight nine ten
---
1 two 3.14 2024-04-04 "6 days" 00000000-0000-0000-0000-000000000007 "\\x08" "2024-09-09 09:09:00 UTC" 0.1
2 <null> <null> <null> <null> <null> <null> <null> <null>
> SELECT five -> 'five' -> 0 FROM v
5
<null>
> SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'v' AND ordinal_position < 5
one smallint
two "character varying"
three numeric
four date
! CREATE MATERIALIZED VIEW w (a, b) AS SELECT 1
contains:more column names than columns
! CREATE MATERIALIZED VIEW w AS SELECT 1 AS a, 2 AS a
contains:specified more than once
! CREATE MATERIALIZED VIEW w AS SELECT * FROM nothing
exact:relation "nothing" does not exist
