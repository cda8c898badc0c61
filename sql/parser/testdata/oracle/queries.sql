SELECT
;
SELECT FROM t
;
SELECT 1
;
select 1 as a
;
select 1 a
;
select 1 "A b"
;
select 1 as select
;
select 1 as "select"
;
select a as from, b as where from t
;
select a b, c d from t
;
select a year_ from t
;
select *
;
select * from t
;
select t.*, u.a from t, u
;
select *, * from t
;
select distinct a from t
;
select distinct on (a) a, b from t order by a, b
;
select distinct on (a, b + 1) * from t
;
select all a from t
;
select a from t where b
;
select a from only t
;
select a from only (t)
;
select a from t *
;
select a from s.t
;
select a from d.s.t
;
select a from t as x
;
select a from t x
;
select a from t as x (a, b)
;
select a from t x (a, b)
;
select a from t as "X"
;
select a from t of
;
select a from t values
;
select a from t, u, v
;
select a from t join u on true
;
select a from t inner join u on t.a = u.a
;
select a from t left join u on true
;
select a from t left outer join u on true
;
select a from t right join u on true
;
select a from t full join u on true
;
select a from t full outer join u on true
;
select a from t cross join u
;
select a from t natural join u
;
select a from t natural inner join u
;
select a from t natural left join u
;
select a from t natural right outer join u
;
select a from t natural full join u
;
select a from t join u using (a)
;
select a from t join u using (a, b)
;
select a from t join u using (a) as j
;
select a from t full join u using (a)
;
select a from t join u on true join v on true
;
select a from t join u join v on true on true
;
select a from t join (u join v on true) on true
;
select a from (t join u on true)
;
select a from (t join u on true) as j
;
select a from (t join u on true) as j (a, b)
;
select a from ((t join u on true) join v on true)
;
select a from ((t join u on true))
;
select a from t cross join u cross join v
;
select a from t cross join u join v on true
;
select a from t join u cross join v on true
;
select a from t join u natural join v on true
;
select a from t left join u right join v on true on true
;
select a from t, u join v on true, w
;
select a from (select 1) x
;
select a from (select 1) as x (a)
;
select a from ((select 1)) x
;
select a from ((select 1) union (select 2)) x
;
select a from ((select 1) x join u on true)
;
select a from (values (1, 'a'), (2, 'b')) as v (a, b)
;
select a from (table t) x
;
select a from (with y as (select 1) select * from y) x
;
select a from t, lateral (select t.a) x
;
select a from t left join lateral (select t.a) x on true
;
select a from t cross join lateral f(t.a) x
;
select a from f(1)
;
select a from f(1) x
;
select a from f(1) as x
;
select a from f(1) as x (a)
;
select a from f(1) as x (a int, b text)
;
select a from f(1) x (a int, b text)
;
select a from f(1) as (a int, b text)
;
select a from s.f(1) with ordinality
;
select a from f(1) with ordinality as x (a, n)
;
select a from generate_series(1, 10) a, lateral f(a)
;
select a from rows from (f(1), g(2)) as x
;
select a from rows from (f(1) as (a int), g(2)) with ordinality as x (a, b, n)
;
select a from lateral rows from (f(1)) x
;
select a from unnest(array[1, 2]) with ordinality
;
select a from current_date
;
select a from current_timestamp(3) x
;
select a from cast(1 as int)
;
select a from coalesce(1, 2) x
;
select a from f(1 + 2, (select 3)) x
;
select a from current_schema() x
;
select a from t group by a
;
select a from t group by a, b + 1
;
select a from t group by 1
;
select a from t group by (a, b)
;
select a from t group by (a), b
;
select a from t having count(*) > 1
;
select a from t group by a having a > 1 order by a
;
select 1 where true
;
select 1 group by 1
;
select 1 having true
;
select 1 where true group by 1 having true order by 1
;
select a from t window w as (partition by a)
;
select sum(a) over w, sum(b) over (w order by c) from t window w as (partition by a), x as (order by b)
;
select a from t where a window w as ()
;
select a from t order by a
;
select a from t order by a asc, b desc
;
select a from t order by a nulls first, b desc nulls last
;
select a from t order by a using <
;
select a from t order by a using operator(pg_catalog.<) nulls last
;
select a from t order by a + b, f(c)
;
select a from t limit 1
;
select a from t limit all
;
select a from t limit null
;
select a from t limit 1 + 1
;
select a from t limit $1
;
select a from t limit (select 1)
;
select a from t offset 1
;
select a from t offset 1 rows
;
select a from t offset 1 row
;
select a from t limit 1 offset 2
;
select a from t offset 2 limit 1
;
select a from t fetch first row only
;
select a from t fetch first rows only
;
select a from t fetch first 5 rows only
;
select a from t fetch next 5 rows only
;
select a from t fetch next $1 rows only
;
select a from t fetch first (1 + 1) rows only
;
select a from t fetch first +1 row only
;
select a from t fetch first -1 row only
;
select a from t offset 5 rows fetch first 5 rows only
;
select a from t fetch first 5 rows only offset 5
;
select a from t order by b limit 1 offset 2
;
values (1)
;
values (1, 2), (3, 4)
;
values (1, 'a'), (2, 'b') order by 1 limit 1
;
values (1 + 1, f(2)), ((select 3), default)
;
table t
;
table only t
;
table s.t order by 1
;
select 1 union select 2
;
select 1 union all select 2
;
select 1 union distinct select 2
;
select 1 except select 2
;
select 1 except all select 2
;
select 1 intersect select 2
;
select 1 intersect all select 2
;
select 1 union select 2 union all select 3
;
select 1 union select 2 intersect select 3
;
select 1 intersect select 2 union select 3
;
select 1 union select 2 except select 3 intersect select 4 union select 5
;
select 1 intersect select 2 intersect all select 3
;
(select 1)
;
((select 1))
;
(select 1) union (select 2)
;
(select 1) union select 2
;
select 1 union (select 2)
;
(select 1 union select 2) intersect select 3
;
select 1 intersect (select 2 union select 3)
;
select 1 union (select 2 union select 3)
;
(select 1 limit 1) union (select 2 order by 1) limit 3
;
(select 1 order by 1) limit 1
;
(select 1 limit 1) order by 1
;
((select 1 limit 1) order by 1) offset 2
;
select 1 union select 2 order by 1 limit 1
;
select 1 union values (2)
;
values (1) union select 2
;
table t union table u
;
select a from t where b union select c from u where d group by e
;
select 1 where a in (select 1 union select 2)
;
with x as (select 1) select * from x
;
with x (a) as (select 1) select * from x
;
with x (a, b) as (values (1, 2)) table x
;
with x as (select 1), y as (select * from x) select * from x, y
;
with x as materialized (select 1) select * from x
;
with x as not materialized (select 1) select * from x
;
with recursive x as (select 1 union all select a + 1 from x) select * from x
;
with recursive x (n) as (values (1) union all select n + 1 from x where n < 100) select sum(n) from x
;
with x as (with y as (select 1) select * from y) select * from x
;
with x as (select 1) (select * from x)
;
with x as (select 1) (select * from x) union select 2
;
with x as (select 1) select 2 union select 3 order by 1
;
with x as (select 1) values (1)
;
with x as ((select 1)) select 1
;
with x as (select 1 union select 2) select 1
;
with x as (select 1) (select * from x) order by 1
;
(with x as (select 1) select * from x) union select 2
;
select (with x as (select 1) select * from x)
;
select a, (select b from u where u.a = t.a) from t
;
select exists (select 1 from t where t.a = u.a) from u
;
select a from t where (a, b) in (select a, b from u)
;
select a from t where a = (select max(a) from t)
;
select count(*), sum(a) filter (where b > 1) from t group by rollup_
;
select a from t where a = $1 and b = $2
;
select 1
;
SELECT "a" FROM "T" WHERE "b" = 'c'
;
select a as "b""c" from t
;
select a from t where b = 'x' -- end
;
select a, /* x */ b from t
;
select current_date, current_user from t
;
select t from t
;
select t.t from t
;
select a from a.b.c as d
;
select (t).a from t
;
select (t.*)::text from t
;
select count(t.*) from t
;
select t.*::text from t
;
select a.b.* from a.b
;
select case when exists (select 1) then 1 end from t
;
select a from t where not exists (select 1 from u) and not a in (1)
;
select distinct a + b as c from t order by c desc limit 10
;
select a from t left join u on t.a = u.a and u.b is null where u.a is null
;
select a from t tablesample_
;
select sum(a) over (partition by b order by c rows between unbounded preceding and current row) as s from t
;
select a from x.y.z join (select b from c) as d on e = f left join g using (h) where i order by j
;
select '' as name, 1 as type, 2 as value, 3 as index
;
select a as array, b as user, c as table from t
;
select name, type, value, key, index, comment, cluster from t
;
select t.select, t.from, t.table from t
;
select f.order(1)
;
select a.row, a.values from a
;
