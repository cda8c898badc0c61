# What COPY writes, COPY reads.

> CREATE TABLE a (i int, t text, n numeric, f float8, d date, ts timestamp, b bytea, u uuid, o bool)
> CREATE TABLE b (i int, t text, n numeric, f float8, d date, ts timestamp, b bytea, u uuid, o bool)
> INSERT INTO a VALUES
    (1, E'x\ty\nz\\', 1.25, 0.5, '2024-02-29', '2024-02-29 12:34:56.789', '\x00ff5c', '550e8400-e29b-41d4-a716-446655440000', true),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (-3, '', -100, 'NaN', '0001-01-01', '1999-12-31 23:59:59', '', '00000000-0000-0000-0000-000000000000', false),
    (4, '\N', 0, 'inf', '9999-12-31', '2000-01-01', 'abc', NULL, NULL)

$ copy-out statement="COPY (SELECT * FROM a WHERE i = 1) TO STDOUT"
1	x\ty\nz\\	1.25	0.5	2024-02-29	2024-02-29 12:34:56.789	\\x00ff5c	550e8400-e29b-41d4-a716-446655440000	t
$ copy-in statement="COPY b FROM STDIN"
1	x\ty\nz\\	1.25	0.5	2024-02-29	2024-02-29 12:34:56.789	\\x00ff5c	550e8400-e29b-41d4-a716-446655440000	t
\\N	\N	\N	\N	\N	\N	\N	\N	\N
-3		-100	NaN	0001-01-01	1999-12-31 23:59:59	\\x	00000000-0000-0000-0000-000000000000	f
4	\\N	0	Infinity	9999-12-31	2000-01-01 00:00:00	\\x616263	\N	\N
> SELECT count(*) FROM (SELECT * FROM a EXCEPT ALL SELECT * FROM b) AS d
0
> SELECT count(*) FROM (SELECT * FROM b EXCEPT ALL SELECT * FROM a) AS d
0
