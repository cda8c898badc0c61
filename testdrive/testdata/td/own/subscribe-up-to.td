# A subscription ends at its UP TO, also when nothing happens by then; one that reads nothing ends at once.
# The end is 1.5 seconds from now: after a restart, times begin up to a second ahead of the clock. It is asked for within the
# transaction, so that no restart comes between.

$ set-regex match=\d{13} replacement=<TS>
> CREATE TABLE t (a int)
> INSERT INTO t VALUES (1)

> BEGIN
$ set-from-sql var=until
SELECT ((extract(epoch FROM now()) * 1000)::int8 + 1500)::text
> DECLARE c CURSOR FOR SUBSCRIBE t UP TO ${until}
$ postgres-execute connection=materialize
INSERT INTO t VALUES (2)
> FETCH ALL c WITH (timeout = '30s')
<TS> 1 1
<TS> 1 2
> FETCH ALL c WITH (timeout = '30s')
> COMMIT

> BEGIN
$ set-from-sql var=until
SELECT ((extract(epoch FROM now()) * 1000)::int8 + 1500)::text
$ copy-out statement="COPY (SUBSCRIBE t WITH (SNAPSHOT = false) UP TO ${until}) TO STDOUT"

# With progress, the last row says that everything before the end has come. (It is the same transaction, since progress is
# told every second.)
$ set-from-sql var=until
SELECT ((extract(epoch FROM clock_timestamp()) * 1000)::int8 + 500)::text
> DECLARE c CURSOR FOR SUBSCRIBE (SELECT count(*) = 2 AS both FROM t) WITH (PROGRESS, SNAPSHOT = false) UP TO ${until}
> FETCH 1 c
<TS> true <null> <null>
$ unset-regex
> FETCH ALL c WITH (timeout = '30s')
\${until} true <null> <null>
> COMMIT

$ set-regex match=\d{13} replacement=<TS>
> BEGIN
> DECLARE c CURSOR FOR SUBSCRIBE (SELECT 7 AS x)
> FETCH ALL c WITH (timeout = '30s')
<TS> 1 7
> COMMIT
