# Parameters of the system: set, shown, reset, unknown ones refused.

$ postgres-execute connection=mz_system
ALTER SYSTEM RESET compute_mv_sink_shared_batch_max_bytes
> SHOW compute_mv_sink_shared_batch_max_bytes
1048576
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 4096
> SHOW compute_mv_sink_shared_batch_max_bytes
4096
> CREATE TABLE t (a int)
> CREATE MATERIALIZED VIEW v AS SELECT a FROM t
> INSERT INTO t VALUES (1)
> SELECT * FROM v
1
$ postgres-execute connection=mz_system
ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 0
> SHOW compute_mv_sink_shared_batch_max_bytes
0
> INSERT INTO t VALUES (2)
> SELECT * FROM v
1
2
$ postgres-execute connection=mz_system
ALTER SYSTEM RESET compute_mv_sink_shared_batch_max_bytes
> SHOW compute_mv_sink_shared_batch_max_bytes
1048576
! ALTER SYSTEM SET no_such_parameter = 1
contains:unrecognized configuration parameter "no_such_parameter"
! ALTER SYSTEM SET compute_mv_sink_shared_batch_max_bytes = 'many'
contains:compute_mv_sink_shared_batch_max_bytes
