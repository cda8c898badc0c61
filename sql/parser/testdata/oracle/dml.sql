insert into t values (1)
;
insert into t values (1, 'a'), (2, 'b')
;
insert into t (a) values (1)
;
insert into t (a, b) values (1, default)
;
insert into t default values
;
insert into s.t (a) select b from u
;
insert into t select 1 union select 2
;
insert into t (select 1)
;
insert into t (a) (select 1)
;
insert into t ((select 1))
;
insert into t (a, b) ((select 1, 2) union (select 3, 4))
;
insert into t table u
;
insert into t with x as (select 1) select * from x
;
insert into t as x values (1)
;
insert into t as x (a) values (1) returning x.a
;
insert into t values (1) returning *
;
insert into t values (1) returning a, b as c, d + 1 e
;
insert into t select a from u order by b limit 1
;
insert into t values (-1), (+2), (1.5e3), ('x'::text), (now()), (null), (true), (array[1, 2]), ((select 1))
;
insert into t values (1, 2, 3), (4, 5 + 6, 7), ($1, $2, 'x' || 'y')
;
with x as (select 1) insert into t select * from x
;
with x as (select 1) insert into t select * from x returning a
;
with recursive x as (select 1) insert into t values (1)
;
update t set a = 1
;
update t set a = 1, b = a + 1 where c
;
update t as x set a = 1
;
update t x set a = 1
;
update only t set a = 1
;
update t set a = default
;
update t set (a, b) = (1, 2)
;
update t set (a, b) = row(1, 2)
;
update t set (a, b) = (select 1, 2)
;
update t set (a) = (select 1)
;
update t set a = 1 from u where t.a = u.a
;
update t set a = u.a from u join v on true where t.b = v.b
;
update t set a = 1 returning *
;
update t set a = 1 where b returning a, b as c
;
update t set a = (select max(b) from u) where a in (select 1)
;
update s.t set a = a || 'x', b = null
;
with x as (select 1) update t set a = 1 from x
;
delete from t
;
delete from t where a = 1
;
delete from only t
;
delete from t as x where x.a
;
delete from t x
;
delete from t using u where t.a = u.a
;
delete from t using u, v join w on true
;
delete from t returning *
;
delete from t where a returning a + 1 as b
;
with x as (select 1) delete from t using x
;
with x as (select 1) delete from t where a in (select * from x) returning *
;
