SELECT 1;
SELECT 1 + 2 * 3, 'a' || 'b', NULL;
SELECT a, b FROM t;
SELECT * FROM t;
SELECT t.* FROM t;
SELECT t.a, t.b + 1 AS next FROM t WHERE a > 1;
SELECT a FROM t WHERE a IS NULL;
SELECT a FROM t WHERE NOT (a = 1);
SELECT a FROM t WHERE a = 1 OR b = 20;
SELECT a FROM t WHERE a IN (1, 5);
SELECT a FROM t WHERE a NOT IN (1, 5);
SELECT a FROM t WHERE a IN (1, NULL);
SELECT a FROM t WHERE a NOT IN (1, NULL);
SELECT a FROM t WHERE (a, b) IN ((1, 10), (2, 20));
SELECT a FROM t WHERE (a, b) = (1, 10);
SELECT a FROM t WHERE (a, b) < (2, 20);
SELECT a FROM t WHERE (a, b) >= (2, 20);
SELECT a FROM t WHERE (a, b) <> (2, 20);
SELECT a FROM t WHERE (a, b) IS DISTINCT FROM (2, NULL);
SELECT a FROM t WHERE a BETWEEN 1 AND 2;
SELECT a FROM t WHERE a NOT BETWEEN 1 AND 2;
SELECT a FROM t WHERE a BETWEEN SYMMETRIC 3 AND 2;
SELECT c FROM t WHERE c LIKE 't%';
SELECT c FROM t WHERE c NOT LIKE 't%';
SELECT c FROM t WHERE c ILIKE 'T_O';
SELECT c FROM t WHERE c LIKE 'x%' ESCAPE 'x';
SELECT c FROM t WHERE c ~ '^t';
SELECT c FROM t WHERE c !~ 'e$';
SELECT a IS DISTINCT FROM 2, a IS NOT DISTINCT FROM NULL FROM t;
SELECT (a > 1) IS TRUE, (a > 1) IS NOT TRUE, (a > 1) IS FALSE, (a > 1) IS NOT FALSE, (a > 1) IS UNKNOWN, (a > 1) IS NOT UNKNOWN FROM t;
SELECT CASE WHEN a = 1 THEN 'x' WHEN a = 2 THEN 'y' ELSE c END FROM t;
SELECT CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END FROM t;
SELECT CASE WHEN a IS NULL THEN 1 ELSE 2.5 END FROM t;
SELECT coalesce(a, b, 0), coalesce(c, 'none') FROM t;
SELECT nullif(a, 2), nullif(c, 'two') FROM t;
SELECT greatest(a, b, 15), least(a, b) FROM t;
SELECT DISTINCT a FROM t;
SELECT DISTINCT a, b FROM t;
SELECT ALL a FROM t;
--ordered
SELECT a, b, c FROM t ORDER BY a, b, c;
--ordered
SELECT a, b, c FROM t ORDER BY a DESC, b, c;
--ordered
SELECT a, b, c FROM t ORDER BY a NULLS FIRST, b DESC NULLS LAST, c;
--ordered
SELECT a, b, c FROM t ORDER BY 2, 1, 3;
--ordered
SELECT a AS z, b, c FROM t ORDER BY z, b, c;
--ordered
SELECT a + b AS s, c FROM t ORDER BY a + b, c;
--ordered
SELECT c FROM t ORDER BY b, c;
--ordered
SELECT c, b FROM t ORDER BY -b, c;
--ordered
SELECT a, b FROM t ORDER BY a, b LIMIT 3;
--ordered
SELECT a, b FROM t ORDER BY a, b LIMIT 3 OFFSET 2;
--ordered
SELECT a, b FROM t ORDER BY a, b OFFSET 4;
--ordered
SELECT a, b FROM t ORDER BY a, b FETCH FIRST 2 ROWS ONLY;
--ordered
SELECT a FROM t ORDER BY a LIMIT 1 + 1;
SELECT a FROM t LIMIT 0;
--ordered
SELECT a FROM t ORDER BY a LIMIT NULL;
--ordered
SELECT DISTINCT a FROM t ORDER BY a DESC;
--ordered
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC;
--ordered
SELECT DISTINCT ON (a) a, b, c FROM t ORDER BY a, b NULLS FIRST, c;
--ordered
SELECT DISTINCT ON (a, b) a, b, c FROM t ORDER BY a, b, c;
--ordered
SELECT DISTINCT ON (a % 2) a % 2, a, b FROM t ORDER BY a % 2, a DESC, b;
--ordered
SELECT DISTINCT ON (1) a, b FROM t ORDER BY 1, 2;
--ordered
SELECT a, b AS a2 FROM t ORDER BY a2, a;
--ordered
SELECT a + 1 AS a FROM t ORDER BY a;
VALUES (1, 'a'), (2, 'b');
VALUES (1), (2.5), (NULL);
VALUES (NULL), ('x');
--ordered
VALUES (3, 'x'), (1, 'y') ORDER BY 1;
--ordered
VALUES (3), (1), (2) ORDER BY column1 LIMIT 2;
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS q (n, s) WHERE n > 1;
TABLE t;
SELECT 'x' AS a UNION SELECT 'y';
SELECT true AND NULL, false AND NULL, true OR NULL, false OR NULL, NOT NULL;
SELECT 1 WHERE false;
SELECT 1 WHERE true;
SELECT;
SELECT FROM t;
SELECT 2147483648, -2147483648, 9223372036854775808, 1.5, 1e3;
SELECT t FROM t;
SELECT q FROM (SELECT 1 AS a, 'x' AS b) q;
SELECT (q).a FROM (SELECT 1 AS a, 'x' AS b) q;
SELECT (q).* FROM (SELECT 1 AS a, 'x' AS b) q;
SELECT row(1, 'a', NULL);
SELECT (1, 2) = (1, 2), row(1, 2) IS NULL, row(NULL, NULL) IS NULL, row(1, NULL) IS NOT NULL;
SELECT count(u) FROM t LEFT JOIN u ON t.a = u.x;
SELECT 'abc'::text COLLATE "C";
SELECT y, x FROM (VALUES (1, 'a'), (2, 'b')) AS q (x, y);
SELECT y, x, y FROM (VALUES (1, 'a'), (2, 'b')) AS q (x, y) WHERE x > 1;
SELECT b, a, c FROM (SELECT 1 AS a, 'x' AS b, true AS c) q;
SELECT * FROM (VALUES (1, 2), (3, 4)) AS q (x, y) JOIN (VALUES (2, 1), (4, 3)) AS r (x, y) ON q.x = r.y;
SELECT y + x, x - y FROM (VALUES (1, 2), (3, 4)) AS q (x, y) ORDER BY x - y;
