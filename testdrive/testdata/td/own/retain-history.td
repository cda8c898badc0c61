# RETAIN HISTORY: how far AS OF reaches back, for one table or view, through restarts too.

> CREATE TABLE kept (a int) WITH (RETAIN HISTORY FOR '1 hour')
> CREATE TABLE plain (a int)
> CREATE MATERIALIZED VIEW kept_view WITH (RETAIN HISTORY = FOR '1 hour') AS SELECT count(*) AS n FROM kept
> CREATE MATERIALIZED VIEW plain_view AS SELECT count(*) AS n FROM kept
> INSERT INTO kept VALUES (1)
> INSERT INTO plain VALUES (1)
> SELECT n FROM kept_view
1
> SELECT n FROM plain_view
1
# After a restart, times begin up to a second ahead of the clock.
$ sleep duration=1500ms
$ set-from-sql var=first
SELECT floor(extract(epoch FROM now()) * 1000)::int8::text
$ sleep duration=1500ms
> INSERT INTO kept VALUES (2)
> INSERT INTO plain VALUES (2)
> SELECT n FROM kept_view
2
> SELECT n FROM plain_view
2
> SELECT * FROM kept AS OF ${first}
1
> SELECT * FROM kept_view AS OF ${first}
1
! SELECT * FROM plain AS OF ${first}
contains:no longer readable
! SELECT * FROM plain_view AS OF ${first}
contains:no longer readable

# A time from before there was anything.
! SELECT * FROM kept_view AS OF 1000
contains:no longer readable

> SHOW CREATE TABLE kept
materialize.public.kept "CREATE TABLE materialize.public.kept (a integer) WITH (RETAIN HISTORY = FOR '01:00:00');"

# Less from now on; what is gone does not come back with more.
> ALTER TABLE kept RESET (RETAIN HISTORY)
> ALTER MATERIALIZED VIEW kept_view SET (RETAIN HISTORY FOR '1 second')
> INSERT INTO kept VALUES (3)
> SELECT n FROM kept_view
3
! SELECT * FROM kept AS OF ${first}
contains:no longer readable
> ALTER TABLE kept SET (RETAIN HISTORY FOR '2 days')
! SELECT * FROM kept AS OF ${first}
contains:no longer readable
> SHOW CREATE TABLE kept
materialize.public.kept "CREATE TABLE materialize.public.kept (a integer) WITH (RETAIN HISTORY = FOR '48:00:00');"
> SELECT count(*) FROM kept
3

! ALTER INDEX kept SET (RETAIN HISTORY FOR '1 hour')
contains:ALTER INDEX
! CREATE TABLE other (a int) WITH (RETAIN HISTORY FOR '1 month')
contains:RETAIN HISTORY cannot be in months or years
