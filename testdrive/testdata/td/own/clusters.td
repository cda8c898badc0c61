# Clusters do the work of views; a view may be read from every session whatever its cluster.

> CREATE CLUSTER c (SIZE = 'scale=1,workers=4')
> SELECT name FROM (SHOW CLUSTERS) WHERE name IN ('c', 'quickstart')
c
quickstart
> CREATE TABLE t (a int)
> INSERT INTO t VALUES (1), (2)
> CREATE MATERIALIZED VIEW v IN CLUSTER c AS SELECT sum(a) AS s FROM t
> SELECT s FROM v
3
> SELECT name, cluster FROM (SHOW MATERIALIZED VIEWS)
v c
> INSERT INTO t VALUES (3)
> SELECT s FROM v
6
> SHOW cluster
quickstart
> SET cluster = c
> SHOW cluster
c
> CREATE MATERIALIZED VIEW w AS SELECT max(a) AS m FROM t
> SELECT m FROM w
3
> SELECT name, cluster FROM (SHOW MATERIALIZED VIEWS)
v c
w c
> SET cluster = quickstart
> SELECT s, m FROM v, w
6 3
! CREATE CLUSTER d (SIZE = 'huge')
contains:size
! CREATE CLUSTER c (SIZE = 'scale=1,workers=1')
contains:already exists
! CREATE MATERIALIZED VIEW x IN CLUSTER nowhere AS SELECT 1
contains:unknown cluster
! DROP CLUSTER c
contains:depend
> DROP MATERIALIZED VIEW v
> DROP MATERIALIZED VIEW w
> DROP CLUSTER c
> SELECT count(*) FROM (SHOW CLUSTERS) WHERE name = 'c'
0
