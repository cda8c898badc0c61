copy t from stdin
;
copy t (a, b) from stdin
;
copy s.t to stdout
;
copy t from '/tmp/x'
;
copy t to program 'cat'
;
copy t from stdin with (format csv, header true, delimiter ',', null '', quote '"', escape '\')
;
copy t from stdin (format csv)
;
copy t from stdin with (header)
;
copy t from stdin csv
;
copy t from stdin with csv header
;
copy t from stdin delimiter ',' null 'x'
;
copy t from stdin with delimiter as ',' csv quote as '"' escape as '\' force not null a, b
;
copy t to stdout with csv force quote *
;
copy t to stdout with (force_quote *)
;
copy t to stdout with (force_quote (a, b))
;
copy t from stdin where a > 1
;
copy t from stdout
;
copy binary t from stdin
;
copy t from stdin binary
;
copy t from stdin using delimiters ','
;
copy (select 1) to stdout
;
copy (select a from t where b order by c) to stdout with (format binary)
;
copy (with x as (select 1) select * from x) to stdout
;
copy (insert into t values (1) returning a) to stdout
;
copy (values (1)) to stdout
;
copy (select 1) to stdout csv header
;
declare c cursor for select 1
;
declare c binary insensitive scroll cursor with hold for select 1
;
declare c no scroll cursor without hold for values (1)
;
fetch c
;
fetch from c
;
fetch in c
;
fetch next from c
;
fetch next c
;
fetch prior from c
;
fetch first from c
;
fetch last from c
;
fetch absolute 5 from c
;
fetch relative -5 c
;
fetch 10 from c
;
fetch -10 from c
;
fetch all from c
;
fetch all c
;
fetch forward from c
;
fetch forward 10 from c
;
fetch forward all in c
;
fetch backward c
;
fetch backward 5 from c
;
fetch next
;
fetch first
;
close c
;
close all
;
set a = 1
;
set a to 1
;
set a = 'x'
;
set a = b, c, 'd'
;
set a = default
;
set a to default
;
set a = on
;
set a = true
;
set a = -1.5
;
set a.b = c
;
set session a = 1
;
set local a = 1
;
set time zone 'UTC'
;
set time zone utc
;
set time zone -5
;
set time zone local
;
set time zone default
;
set time zone interval '1' hour
;
set local time zone 'UTC'
;
set names 'utf8'
;
set names
;
set schema 'x'
;
set role a
;
set role none
;
set role 'a'
;
set session authorization a
;
set session authorization default
;
set transaction isolation level serializable
;
set transaction isolation level read committed, read only
;
set transaction read write not deferrable
;
set session characteristics as transaction isolation level repeatable read
;
set search_path to public, "A"
;
set search_path = ''
;
set datestyle = iso, mdy
;
reset a
;
reset a.b
;
reset all
;
reset time zone
;
reset transaction isolation level
;
reset session authorization
;
show a
;
show a.b
;
show all
;
show time zone
;
show transaction isolation level
;
show session authorization
;
begin
;
begin work
;
begin transaction
;
begin isolation level serializable
;
begin transaction isolation level read uncommitted read only
;
begin read only, deferrable
;
start transaction
;
start transaction read write
;
commit
;
commit work
;
commit transaction
;
commit and chain
;
commit and no chain
;
end
;
rollback
;
rollback work
;
rollback and no chain
;
abort
;
prepare p as select 1
;
prepare p (int, text) as select $1, $2
;
prepare p as insert into t values ($1)
;
prepare p as values (1)
;
prepare p as update t set a = 1
;
prepare p as delete from t
;
execute p
;
execute p (1)
;
execute p (1 + 1, 'x', null)
;
deallocate p
;
deallocate prepare p
;
deallocate all
;
deallocate prepare all
;
deallocate prepare
;
discard all
;
discard temp
;
discard temporary
;
discard plans
;
discard sequences
;
explain select 1
;
explain analyze select 1
;
explain analyze verbose select 1
;
explain verbose select 1
;
explain (analyze) select 1
;
explain (analyze true, costs off, format json) select 1
;
explain insert into t values (1)
;
explain update t set a = 1
;
explain delete from t
;
explain (select 1)
;
explain values (1)
;
create database d
;
create schema s
;
create schema if not exists s
;
create table t ()
;
create table t (a int)
;
create table t (a int, b text)
;
create table if not exists s.t (a int)
;
create temp table t (a int)
;
create temporary table t (a int)
;
create local temp table t (a int)
;
create table t (a int not null)
;
create table t (a int null default 1)
;
create table t (a int default 1 not null)
;
create table t (a int default 1 + 1)
;
create table t (a int default (1 in (1)))
;
create table t (a timestamp default now())
;
create table t (a timestamp with time zone default current_timestamp not null)
;
create table t (a text default 'x' || 'y'::text)
;
create table t (a int primary key)
;
create table t (a int unique, b int)
;
create table t (a int check (a > 0))
;
create table t (a int constraint c not null)
;
create table t (a int constraint c check (a > 0) default 5)
;
create table t (a text collate "C" not null)
;
create table t (a int, primary key (a))
;
create table t (a int, unique (a))
;
create table t (a int, b int, constraint c primary key (a, b))
;
create table t (a int, check (a > 0 and a < 10))
;
create table t (a int, constraint c check (a in (1, 2)))
;
create table t (a int[], b numeric(10, 2), c varchar(10)[], d char(3), e interval day to second)
;
create table t (name text, value int, key text, type text, index int)
;
create table t ("A b" int, "select" text)
;
create table t (a int) with (fillfactor = 10)
;
create view v as select 1
;
create or replace view v as select 1
;
create view v (a, b) as select 1, 2
;
create temp view v as select 1
;
create view s.v as values (1)
;
create view v as select a from t union select b from u
;
create view v as with x as (select 1) select * from x
;
create view v as table t
;
create view v as (select 1)
;
create materialized view m as select 1
;
create materialized view if not exists m as select 1
;
create materialized view s.m (a) as select 1
;
create materialized view m as select 1 with data
;
create index on t (a)
;
create index i on t (a)
;
create index if not exists i on t (a)
;
create unique index i on t (a, b)
;
create index i on t using btree (a)
;
create index i on t (lower(a))
;
create index i on t ((a + b))
;
create index i on t (a desc nulls last, b)
;
create index i on only t (a)
;
create type t as (a int, b text)
;
create type s.t as (a int)
;
create role r
;
create role r login
;
create role r with login superuser
;
create role r password 'x'
;
create role r with password null inherit
;
drop table t
;
drop table if exists t
;
drop table t, s.u cascade
;
drop table t restrict
;
drop view v
;
drop view if exists v cascade
;
drop materialized view m
;
drop index i
;
drop schema s
;
drop schema s cascade
;
drop type t
;
drop role r
;
drop role if exists r, s
;
drop owned by r
;
drop owned by r, current_user cascade
;
reassign owned by r to s
;
alter table t rename to u
;
alter table if exists t rename to u
;
alter table t rename column a to b
;
alter table t rename a to b
;
alter view v rename to w
;
alter materialized view m rename to n
;
alter index i rename to j
;
alter schema s rename to r
;
alter database d rename to e
;
alter role r rename to s
;
alter table t owner to r
;
alter view v owner to current_user
;
alter schema s owner to r
;
alter database d owner to session_user
;
alter table t add column a int
;
alter table t add a int not null
;
alter table t add column if not exists a int default 5
;
alter table t set (fillfactor = 10)
;
alter table t reset (fillfactor)
;
alter role r login
;
alter role r with nologin password 'x'
;
alter role r set a = 1
;
alter role r set a to default
;
alter role r reset a
;
alter role r reset all
;
alter system set a = 1
;
alter system set a to 'x', 'y'
;
alter system set a.b = default
;
alter system reset a
;
alter system reset all
;
comment on table t is 'x'
;
comment on table s.t is null
;
comment on column t.a is 'x'
;
comment on column s.t.a is E'a\nb'
;
comment on view v is 'x'
;
comment on schema s is 'x'
;
comment on database d is 'x'
;
comment on role r is 'x'
;
comment on index i is 'x'
;
comment on type t is 'x'
;
comment on materialized view m is 'x'
;
grant select on t to r
;
grant select, insert, update, delete on table t, u to r, s
;
grant all on t to r
;
grant all privileges on table t to public
;
grant usage on schema s to r
;
grant create on database d to r
;
grant select on all tables in schema s, p to r
;
grant r to s
;
grant r, q to s, p
;
grant usage on type t to r
;
revoke select on t from r
;
revoke all on schema s from public
;
revoke r from s
;
revoke select on t from r restrict
;
alter default privileges grant select on tables to r
;
alter default privileges in schema s grant select on tables to r
;
alter default privileges for role q in schema s revoke insert on tables from r
;
alter default privileges for user q grant usage on schemas to r
;
