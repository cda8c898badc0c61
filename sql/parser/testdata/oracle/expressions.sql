SELECT 1
;
SELECT 1.5
;
SELECT .5
;
SELECT 5.
;
SELECT 1e10
;
SELECT 1.5e-3
;
SELECT 1E+5
;
SELECT 'abc'
;
SELECT 'it''s'
;
SELECT E'a\nb\t\\\'c\x41\101\u0041\U00000041'
;
SELECT E'it''s'
;
SELECT U&'d\0061t\+000061'
;
SELECT U&'d!0061t!+000061' UESCAPE '!'
;
SELECT U&"d\0061t"
;
SELECT $$dollar$$
;
SELECT $tag$a $$ b$tag$
;
SELECT 'a'
  'b'
;
SELECT 'a' -- comment
  'b'
;
SELECT B'1010'
;
SELECT X'1FF'
;
SELECT N'abc'
;
SELECT null
;
SELECT true
;
SELECT false
;
SELECT not true
;
SELECT $1
;
SELECT $1::int + $2
;
SELECT a
;
SELECT a.b
;
SELECT a.b.c
;
SELECT a.b.c.d
;
SELECT "A"."b c"
;
SELECT "a""b"
;
SELECT a.*
;
SELECT -1
;
SELECT - 1
;
SELECT +1
;
SELECT - - 1
;
SELECT -(-5)
;
SELECT -a
;
SELECT +a
;
SELECT -a ^ 2
;
SELECT - 2 ^ 2
;
SELECT -'1'::int
;
SELECT -5::int
;
SELECT a + b - c
;
SELECT a - b - c
;
SELECT a * b / c % d
;
SELECT a ^ b ^ c
;
SELECT a + b * c
;
SELECT (a + b) * c
;
SELECT a || b
;
SELECT a || b || c
;
SELECT a || b + c
;
SELECT a + b || c
;
SELECT a = b
;
SELECT a <> b
;
SELECT a != b
;
SELECT a < b
;
SELECT a > b
;
SELECT a <= b
;
SELECT a >= b
;
SELECT a < b and c > d or e
;
SELECT a or b and c
;
SELECT not a or b
;
SELECT not a and b
;
SELECT not a = b
;
SELECT not not a
;
SELECT not a is null
;
SELECT not (a or b)
;
SELECT a = not b
;
SELECT a = not b = c
;
SELECT a = b is null
;
SELECT a < b is not null
;
SELECT a is null
;
SELECT a is not null
;
SELECT a isnull
;
SELECT a notnull
;
SELECT a is true
;
SELECT a is not true
;
SELECT a is false
;
SELECT a is not false
;
SELECT a is unknown
;
SELECT a is not unknown
;
SELECT a is null is null
;
SELECT a is null = b
;
SELECT a is null + 1
;
SELECT a is distinct from b
;
SELECT a is not distinct from b
;
SELECT a is distinct from b = c
;
SELECT a is distinct from b and c
;
SELECT a = b is distinct from c
;
SELECT a in (1)
;
SELECT a in (1, 2, 3)
;
SELECT a not in (1, 2)
;
SELECT a in (select 1)
;
SELECT a not in (select b from t)
;
SELECT a in ((select 1), 2)
;
SELECT (a, b) in ((1, 2), (3, 4))
;
SELECT (a, b) in (select 1, 2)
;
SELECT a in (1) in (true)
;
SELECT a in (1) = b
;
SELECT a in (1) and b in (2)
;
SELECT a between 1 and 2
;
SELECT a not between 1 and 2
;
SELECT a between symmetric 1 and 2
;
SELECT a between asymmetric 1 and 2
;
SELECT a not between symmetric b + 1 and c * 2
;
SELECT a between 1 and 2 and b
;
SELECT a between 1 and 2 or b
;
SELECT a between b < c and d
;
SELECT a between 1 and 2 = b
;
SELECT a between - 1 and + 2
;
SELECT a between (1 and 2) and 3
;
SELECT a like b
;
SELECT a not like b
;
SELECT a like 'x' || 'y'
;
SELECT a like 'x' escape '!'
;
SELECT a like b escape c || d
;
SELECT a not like 'x' escape '!' and b
;
SELECT a ilike b
;
SELECT a not ilike b escape 'x'
;
SELECT a similar to b
;
SELECT a not similar to b escape 'x'
;
SELECT a like b = c
;
SELECT a = b like c
;
SELECT a like b and c like d
;
SELECT a || b like c || d
;
SELECT a = any (array[1, 2])
;
SELECT a = any ('{1,2}')
;
SELECT a = any (select 1)
;
SELECT a = some (select 1)
;
SELECT a <> all (select 1)
;
SELECT a < all (array[1])
;
SELECT a = any (b) and c
;
SELECT a = any (b) = c
;
SELECT a || b = any (c)
;
SELECT a @> any (b)
;
SELECT a like any (array['x'])
;
SELECT a not like all (b)
;
SELECT a ilike any (b)
;
SELECT a operator(pg_catalog.=) any (b)
;
SELECT a + any (b)
;
SELECT a @> b
;
SELECT a <@ b
;
SELECT a -> b
;
SELECT a ->> 'x'
;
SELECT a -> 'x' -> 'y'
;
SELECT a #> b
;
SELECT a #>> b
;
SELECT a ? b
;
SELECT a ?| b
;
SELECT a ?& b
;
SELECT a && b
;
SELECT a & b | c # d
;
SELECT a << b >> c
;
SELECT a ~ b
;
SELECT a !~ b
;
SELECT a ~* b
;
SELECT a !~* b
;
SELECT a ~~ b
;
SELECT @ a
;
SELECT ~ a
;
SELECT !! a
;
SELECT |/ a
;
SELECT ||/ a
;
SELECT @ - a
;
SELECT - @ a
;
SELECT @ a + b
;
SELECT @ a || b
;
SELECT a + @ b
;
SELECT a + @ b * c
;
SELECT a * @ b + c
;
SELECT a || @ b || c
;
SELECT a @> @ b
;
SELECT @ @ a
;
SELECT a = @ b
;
SELECT a and @ b
;
SELECT not @ a
;
SELECT a @-@ b
;
SELECT a @- b
;
SELECT a <-> b
;
SELECT a operator(pg_catalog.+) b
;
SELECT a operator(pg_catalog.+) b * c
;
SELECT operator(pg_catalog.-) a
;
SELECT a operator(+) b
;
SELECT a operator(pg_catalog.~) 'x' collate pg_catalog.default
;
SELECT a::int
;
SELECT a::int::text
;
SELECT a::pg_catalog.int4
;
SELECT 'x'::pg_catalog.regclass
;
SELECT a::int[]
;
SELECT a::int[][]
;
SELECT a::int[3]
;
SELECT a::int array
;
SELECT a::int array[4]
;
SELECT a::numeric(10)
;
SELECT a::numeric(10, 2)
;
SELECT a::decimal
;
SELECT a::dec(5)
;
SELECT a::varchar
;
SELECT a::varchar(10)
;
SELECT a::character varying
;
SELECT a::character varying (10)
;
SELECT a::char
;
SELECT a::char(5)
;
SELECT a::character(5)
;
SELECT a::national character varying (5)
;
SELECT a::nchar(3)
;
SELECT a::bpchar
;
SELECT a::text
;
SELECT a::"char"
;
SELECT a::bit
;
SELECT a::bit(3)
;
SELECT a::bit varying
;
SELECT a::bit varying(3)
;
SELECT a::float
;
SELECT a::float(10)
;
SELECT a::float(30)
;
SELECT a::real
;
SELECT a::double precision
;
SELECT a::bool
;
SELECT a::boolean
;
SELECT a::smallint
;
SELECT a::bigint
;
SELECT a::timestamp
;
SELECT a::timestamp(3)
;
SELECT a::timestamp with time zone
;
SELECT a::timestamp(3) with time zone
;
SELECT a::timestamp without time zone
;
SELECT a::timestamptz
;
SELECT a::time
;
SELECT a::time(2) with time zone
;
SELECT a::interval
;
SELECT a::interval(3)
;
SELECT a::interval year
;
SELECT a::interval day to second
;
SELECT a::interval day to second(3)
;
SELECT a::interval second(2)
;
SELECT a::s.t
;
SELECT a::s.t(5)
;
SELECT a + b::int
;
SELECT - a::int
;
SELECT a::int + b
;
SELECT a::int is null
;
SELECT cast(a as int)
;
SELECT cast(a + b as text)
;
SELECT cast('x' as varchar(10)) || 'y'
;
SELECT int '5'
;
SELECT int4 '5'
;
SELECT date '2001-02-03'
;
SELECT timestamp '2001-02-03'
;
SELECT timestamp(3) '2001-02-03'
;
SELECT timestamp with time zone '2001-02-03'
;
SELECT time '10:00'
;
SELECT interval '1 day'
;
SELECT interval '1' day
;
SELECT interval '1' year to month
;
SELECT interval '1' second(3)
;
SELECT interval(3) '1 second'
;
SELECT numeric(5,2) '1.5'
;
SELECT double precision '1'
;
SELECT char(3) 'abc'
;
SELECT char 'abc'
;
SELECT character varying(3) 'abc'
;
SELECT bit '101'
;
SELECT bit varying '101'
;
SELECT boolean 'true'
;
SELECT float '1'
;
SELECT pg_catalog.int4 '5'
;
SELECT mytype 'x'
;
SELECT json '{}'
;
SELECT a collate "C"
;
SELECT a collate pg_catalog."default"
;
SELECT a || b collate "C"
;
SELECT (a || b) collate "C" < c
;
SELECT a at time zone 'UTC'
;
SELECT a at time zone b at time zone c
;
SELECT a::timestamp at time zone 'UTC'
;
SELECT a + b at time zone c
;
SELECT a at time zone b + c
;
SELECT a at time zone -b
;
SELECT a at time zone 'x' collate "C"
;
SELECT (a at time zone 'x')::date
;
SELECT a at time zone 'x'::text
;
SELECT f()
;
SELECT f(a)
;
SELECT f(a, b + 1)
;
SELECT f(*)
;
SELECT s.f(a)
;
SELECT d.s.f(a)
;
SELECT count(*)
;
SELECT count(distinct a)
;
SELECT count(all a)
;
SELECT sum(a order by b)
;
SELECT string_agg(a, ',' order by b desc nulls last, c)
;
SELECT array_agg(distinct a order by a)
;
SELECT f(a => 1)
;
SELECT f(a := 1, b => 2)
;
SELECT f(1, b => 2 + 3)
;
SELECT f(variadic a)
;
SELECT f(a, variadic array[1])
;
SELECT count(*) filter (where a > 1)
;
SELECT sum(distinct a order by b) filter (where c)
;
SELECT percentile_cont(0.5) within group (order by a)
;
SELECT percentile_cont(0.5) within group (order by a desc) filter (where b)
;
SELECT row_number() over ()
;
SELECT row_number() over w
;
SELECT rank() over (partition by a)
;
SELECT rank() over (order by a)
;
SELECT rank() over (partition by a, b + 1 order by c desc, d)
;
SELECT sum(a) over (order by b rows unbounded preceding)
;
SELECT sum(a) over (order by b rows between 1 preceding and 2 following)
;
SELECT sum(a) over (order by b rows between unbounded preceding and current row)
;
SELECT sum(a) over (order by b range between current row and unbounded following)
;
SELECT sum(a) over (order by b groups between 1 preceding and 1 following exclude ties)
;
SELECT sum(a) over (rows 5 preceding exclude current row)
;
SELECT sum(a) over (w rows current row)
;
SELECT sum(a) over (w partition by b)
;
SELECT sum(a) filter (where b) over (order by c) + 1
;
SELECT left('abc', 2)
;
SELECT right(a, 1)
;
SELECT "left"(a, 2)
;
SELECT replace(a, 'b', 'c')
;
SELECT coalesce(a, b, 1)
;
SELECT nullif(a, b)
;
SELECT greatest(a, b)
;
SELECT least(1, 2, 3)
;
SELECT coalesce(a, b) + 1
;
SELECT extract(year from a)
;
SELECT extract('year' from a)
;
SELECT extract(epoch from a - b)
;
SELECT extract(isodow from a) + 1
;
SELECT position('a' in b)
;
SELECT position('a' || 'b' in c || d)
;
SELECT substring(a from 1)
;
SELECT substring(a from 1 for 2)
;
SELECT substring(a for 2)
;
SELECT substring(a for 2 from 1)
;
SELECT substring(a from 'x' for '#')
;
SELECT substring(a, 1, 2)
;
SELECT substring(a similar 'x' escape '#')
;
SELECT overlay(a placing b from 1)
;
SELECT overlay(a placing b from 1 for 2)
;
SELECT overlay(a, b, 1, 2)
;
SELECT trim(a)
;
SELECT trim(both from a)
;
SELECT trim(leading from a)
;
SELECT trim(trailing 'x' from a)
;
SELECT trim(both 'x' from a)
;
SELECT trim('x' from a)
;
SELECT trim(a, 'x')
;
SELECT trim(from a)
;
SELECT normalize(a)
;
SELECT normalize(a, nfc)
;
SELECT current_date
;
SELECT current_time
;
SELECT current_time(3)
;
SELECT current_timestamp
;
SELECT current_timestamp(3)
;
SELECT localtime
;
SELECT localtime(0)
;
SELECT localtimestamp
;
SELECT localtimestamp(6)
;
SELECT current_user
;
SELECT current_role
;
SELECT session_user
;
SELECT user
;
SELECT current_catalog
;
SELECT current_schema
;
SELECT current_schema()
;
SELECT pg_catalog.current_schema()
;
SELECT current_date - 1
;
SELECT current_timestamp at time zone 'UTC'
;
SELECT case when a then b end
;
SELECT case when a then b else c end
;
SELECT case a when 1 then 'x' when 2 then 'y' else 'z' end
;
SELECT case when a and b or c then 1 end + 1
;
SELECT case case when a then b end when c then d end
;
SELECT case when a is null then null end::text
;
SELECT array[1, 2, 3]
;
SELECT array[]
;
SELECT array[]::int[]
;
SELECT array[[1, 2], [3, 4]]
;
SELECT array[array[1, 2], array[3, 4]]
;
SELECT array[[[1]]]
;
SELECT array[a + b, c]
;
SELECT array(select 1)
;
SELECT array(select a from t order by b)
;
SELECT array(values (1), (2))
;
SELECT array[1, 2] || 3
;
SELECT a[1]
;
SELECT a[1][2]
;
SELECT a[1:2]
;
SELECT a[:2]
;
SELECT a[1:]
;
SELECT a[:]
;
SELECT a[b + 1]
;
SELECT a[b[1]]
;
SELECT a.b[1]
;
SELECT a[1].b
;
SELECT (a)[1]
;
SELECT (array[1, 2])[1]
;
SELECT (f(x))[1]
;
SELECT (select a)[1]
;
SELECT $1[1]
;
SELECT $1.f
;
SELECT (a).b
;
SELECT (a).b.c
;
SELECT (a).b[1]
;
SELECT (a).*
;
SELECT (f(x)).a
;
SELECT (a[1]).b
;
SELECT a[1]::text
;
SELECT (a)::text
;
SELECT (a, b)
;
SELECT (a, b, c + 1)
;
SELECT ((a, b), c)
;
SELECT row(1, 2)
;
SELECT row(1)
;
SELECT row()
;
SELECT row(a.*)
;
SELECT row(a.*, 1)
;
SELECT (1, 2) = (3, 4)
;
SELECT row(1, 2) < row(3, 4)
;
SELECT (a, b) = (select 1, 2)
;
SELECT (a, b) is null
;
SELECT (a)
;
SELECT ((a))
;
SELECT (((a + b)))
;
SELECT exists (select 1)
;
SELECT not exists (select 1)
;
SELECT exists (select 1) and a
;
SELECT (select 1)
;
SELECT (select 1) + 1
;
SELECT ((select 1))
;
SELECT ((select 1) + 1)
;
SELECT ((select 1)) + 1
;
SELECT (((select 1)) + 1) * 2
;
SELECT (select 1)::int
;
SELECT (select a from t where b = c.d)
;
SELECT (values (1))
;
SELECT (table t)
;
SELECT (with x as (select 1) select * from x)
;
SELECT ((select 1) union (select 2))
;
SELECT ((select 1) union select 2)
;
SELECT (select 1 union select 2)
;
SELECT (select 1 limit 1)
;
SELECT (select a from t order by b limit 1)
;
SELECT a in (values (1), (2))
;
SELECT a = (select b) and c
;
SELECT default
;
SELECT row
;
SELECT row.a
;
SELECT values
;
SELECT coalesce
;
SELECT exists
;
SELECT precision
;
SELECT "select"
;
SELECT "values"(a)
;
SELECT int
;
SELECT date
;
SELECT time
;
SELECT timestamp
;
SELECT interval
;
SELECT char
;
SELECT bit
;
SELECT text
;
SELECT name
;
SELECT position
;
SELECT substring
;
SELECT double
;
SELECT national
;
SELECT setof
;
SELECT none
;
SELECT normalize
;
SELECT window_
;
SELECT year
;
SELECT day
;
SELECT filter
;
SELECT over
;
SELECT within
;
SELECT nulls
;
SELECT partition
;
SELECT rows
;
SELECT unbounded
;
SELECT of
;
SELECT operator
;
SELECT zone
;
SELECT at
;
SELECT escape
;
SELECT uescape
;
SELECT list
;
SELECT map
;
SELECT options
;
SELECT qualify
;
SELECT subscribe
;
SELECT mutually
;
SELECT a --comment
;
SELECT a /* comment */
;
SELECT a /* nested /* comment */ */
;
SELECT /* c */ a
;
SELECT a+-1
;
SELECT a*-1
;
SELECT a-(-1)
;
SELECT a- -1
;
SELECT a<-1
;
SELECT a<@-1
;
SELECT a<=-1
;
SELECT a=-1
;
SELECT a=+1
;
SELECT a||-1
;
SELECT 1--1
;
SELECT é
;
SELECT "é" || 'ü'
;
SELECT déjà.vu
;
SELECT a$b
;
SELECT _a1
;
SELECT a < b or c > d and not e = f
;
SELECT a = 1 or a = 2 or a = 3 or a = 4
;
SELECT a and b and c and d
;
SELECT (a and b) and c
;
SELECT a and (b and c)
;
SELECT a or (b or c)
;
SELECT (a or b) or c
;
SELECT '{"a": 1}'::jsonb -> 'a' ->> 'b'
;
SELECT now() - interval '1 day' > a
;
SELECT a::date + 1
;
SELECT a % 2 = 0
;
SELECT a ^ 2 * 3 + 4 < 5
;
SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
;
SELECT (select pg_catalog.array_to_string(array(select 1), ', '))
;
SELECT c.relkind = any (array['r', 'p'])
;
SELECT a like '%x%' or a ilike 'Y%' and not b similar to 'z'
;
SELECT (a = b) = (c = d)
;
SELECT (a < b) < c
;
SELECT ((a is null) is null)
;
SELECT a is not distinct from null
;
