# Defaults and keys of indexes are shown with their literals read, each with its type.

> CREATE TABLE d (a text DEFAULT 'x',
    b varchar(5) DEFAULT 'x',
    c date DEFAULT '2020-1-1',
    d int DEFAULT 1,
    e timestamptz DEFAULT now(),
    f int DEFAULT NULL,
    g varchar DEFAULT NULL,
    g2 varchar(4) default null, h numeric(10,2) DEFAULT 1,
    i float8 DEFAULT 1.5,
    j int DEFAULT -1,
    k numeric DEFAULT -1.5,
    l text DEFAULT lower('A'),
    m text DEFAULT 'a' || 'b',
    n bool DEFAULT true,
    o bool DEFAULT 't',
    p interval DEFAULT '1 day',
    q jsonb DEFAULT '{}',
    r bytea DEFAULT '\x00',
    s uuid DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    t int[] DEFAULT '{1,2}',
    u timestamptz DEFAULT '2020-01-01',
    v timestamp DEFAULT '2020-01-01',
    w int8 DEFAULT 10000000000,
    x text DEFAULT 'it''s',
    y char(3) DEFAULT 'a',
    z text DEFAULT 'a\b')
> CREATE TABLE e (a timestamptz DEFAULT CURRENT_TIMESTAMP,
    b int DEFAULT 1+2*3,
    c int DEFAULT (1+2)*3,
    d date DEFAULT '2020-01-01'::date,
    e date DEFAULT date '2020-1-1',
    f date DEFAULT current_date,
    g text DEFAULT 'x'::text,
    h text DEFAULT 'x'::varchar,
    i varchar(5) DEFAULT 'x'::varchar(5),
    j int8 DEFAULT 1::int8,
    k int DEFAULT '7',
    l text DEFAULT 1,
    m text DEFAULT now(),
    n float8 DEFAULT 1e5,
    o float8 DEFAULT '1e5',
    p numeric DEFAULT 1e3,
    q int[] DEFAULT ARRAY[1,2],
    r text[] DEFAULT ARRAY['a','b'],
    s text DEFAULT coalesce(null,'x'),
    t int DEFAULT NULL::int,
    u text DEFAULT current_user,
    v float8 DEFAULT '-0.5',
    w int DEFAULT - (1),
    x int2 DEFAULT 1, z numeric(10,2) DEFAULT '1.234')
> CREATE TABLE f (a text DEFAULT CAST('x' AS text),
    b timestamptz DEFAULT 'epoch',
    c bool DEFAULT (NOT true),
    d bool DEFAULT (1 < 2 AND true),
    e int DEFAULT length('abc'),
    j timestamptz DEFAULT now() + '1 day',
    k timestamptz DEFAULT now() - interval '1 day',
    l int DEFAULT abs(-5),
    m text DEFAULT '',
    n text DEFAULT replace('a','b','c'),
    o int DEFAULT +1)

> SELECT c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid, true) FROM pg_attrdef d
  JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN pg_class c ON c.oid = d.adrelid
d a 'x'::text
d b "'x'::character varying"
d c '2020-01-01'::date
d d 1
d e now()
d g2 "NULL::character varying"
d h 1
d i 1.5
d j '-1'::integer
d k '-1.5'::numeric
d l lower('A'::text)
d m "'a'::text || 'b'::text"
d n true
d o true
d p "'1 day'::interval"
d q '{}'::jsonb
d r '\x00'::bytea
d s 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid
d t '{1,2}'::integer[]
d u "'2020-01-01 00:00:00+00'::timestamp with time zone"
d v "'2020-01-01 00:00:00'::timestamp without time zone"
d w '10000000000'::bigint
d x 'it''s'::text
d y 'a'::bpchar
d z 'a\b'::text
e a CURRENT_TIMESTAMP
e b "1 + 2 * 3"
e c "(1 + 2) * 3"
e d '2020-01-01'::date
e e '2020-01-01'::date
e f CURRENT_DATE
e g 'x'::text
e h "'x'::character varying"
e i "'x'::character varying(5)"
e j 1::bigint
e k 7
e l 1
e m now()
e n '100000'::numeric
e o "'100000'::double precision"
e p '1000'::numeric
e q "ARRAY[1, 2]"
e r "ARRAY['a'::text, 'b'::text]"
e s "COALESCE(NULL::text, 'x'::text)"
e u CURRENT_USER
e v "'-0.5'::double precision"
e w '-1'::integer
e x 1
e z 1.234
f a 'x'::text
f b "'1970-01-01 00:00:00+00'::timestamp with time zone"
f c "NOT true"
f d "1 < 2 AND true"
f e length('abc'::text)
f j "now() + '1 day'::interval"
f k "now() - '1 day'::interval"
f l abs('-5'::integer)
f m ''::text
f n "replace('a'::text, 'b'::text, 'c'::text)"
f o "+ 1"

# What is read is the value, once: 'now' is the time of the CREATE.
> CREATE TABLE now_and_then (id int, made timestamptz DEFAULT 'now')
> INSERT INTO now_and_then VALUES (1)
> INSERT INTO now_and_then VALUES (2)
> SELECT count(DISTINCT made) FROM now_and_then
1

# The columns of an index are called by what they are, or expr, each by a name of its own.
> CREATE TABLE ti (a int, b text)
> CREATE INDEX ON ti ((a + 1))
> CREATE INDEX ON ti (lower(b), a, a)
> CREATE INDEX ON ti ((a + 1), (a + 2), (b || 'x'), (a::text), (-1), coalesce(a, 0))
> CREATE INDEX ON ti ((a > 1 AND b = 'y'))
> SELECT c.relname, a.attnum, a.attname, pg_get_indexdef(c.oid, a.attnum, true) FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname LIKE 'ti\_%'
ti_expr_expr1_expr2_a_expr3_coalesce_idx 1 expr "(a + 1)"
ti_expr_expr1_expr2_a_expr3_coalesce_idx 2 expr1 "(a + 2)"
ti_expr_expr1_expr2_a_expr3_coalesce_idx 3 expr2 "(b || 'x'::text)"
ti_expr_expr1_expr2_a_expr3_coalesce_idx 4 a (a::text)
ti_expr_expr1_expr2_a_expr3_coalesce_idx 5 expr3 ('-1'::integer)
ti_expr_expr1_expr2_a_expr3_coalesce_idx 6 coalesce "COALESCE(a, 0)"
ti_expr_idx 1 expr "(a + 1)"
ti_expr_idx1 1 expr "(a > 1 AND b = 'y'::text)"
ti_lower_a_a1_idx 1 lower lower(b)
ti_lower_a_a1_idx 2 a a
ti_lower_a_a1_idx 3 a1 a
