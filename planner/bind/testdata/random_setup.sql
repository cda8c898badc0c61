CREATE TABLE t (a int, b int);
CREATE TABLE u (x int, y int NOT NULL);
CREATE TABLE v (k int NOT NULL, n bigint);
CREATE TABLE e (id int);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 1), (NULL, 2), (2, NULL), (1, 1), (4, 3), (0, 0);
INSERT INTO u VALUES (1, 1), (2, 2), (2, 3), (4, 0), (NULL, 2), (3, 3);
INSERT INTO v VALUES (1, 4), (2, 1), (3, NULL), (3, 2), (0, 0), (2, 1);
CREATE VIEW vt AS SELECT a, sum(b) AS total FROM t GROUP BY a;
