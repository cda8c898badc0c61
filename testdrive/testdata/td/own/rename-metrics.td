# Metrics carry the full name that a collection has now: they follow when it, its schema or its database is renamed.

> CREATE SCHEMA one
> CREATE TABLE one.t (a int)
# A restart would set them back: from here on the server is left alone.
$ set-from-metric var=ticks name=tributary_engine_ticks_total
> SELECT ${ticks} >= 0
true

> CREATE MATERIALIZED VIEW one.v AS SELECT sum(a) AS s FROM one.t
> INSERT INTO one.t VALUES (1)
> SELECT * FROM one.v
1
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.one.v"} min=1
> ALTER SCHEMA one RENAME TO two
> INSERT INTO two.t VALUES (2)
> SELECT * FROM two.v
3
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.one.v"} equals=0
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.two.v"} min=1
$ assert-metric name=tributary_storage_consensus_bytes_total labels={collection="materialize.one.t"} equals=0
$ assert-metric name=tributary_storage_consensus_bytes_total labels={collection="materialize.two.t"} min=1
> ALTER MATERIALIZED VIEW two.v RENAME TO w
> INSERT INTO two.t VALUES (3)
> SELECT * FROM two.w
6
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.two.v"} equals=0
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.two.w"} min=1
> DROP SCHEMA two CASCADE
$ assert-metric name=tributary_sink_rows_total labels={view="materialize.two.w"} equals=0
