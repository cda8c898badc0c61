# Names fold to lower case unless quoted; any name can be quoted.

> CREATE TABLE MyTable (MyColumn int, "MyColumn" text)
> INSERT INTO mytable VALUES (1, 'x')
> SELECT mycolumn, "MyColumn", MYTABLE.MYCOLUMN FROM mytable
1 x 1
! SELECT * FROM "MyTable"
exact:relation "MyTable" does not exist
> CREATE TABLE "select" ("from" int, "where" int)
> INSERT INTO "select" VALUES (1, 2)
> SELECT "from" FROM "select" WHERE "where" = 2
1
> CREATE TABLE "a ""quoted"" name; DROP TABLE mytable" (x int)
> SELECT count(*) FROM "a ""quoted"" name; DROP TABLE mytable"
0
> SELECT count(*) FROM public.mytable
1
! SELECT count(*) FROM nowhere.mytable
exact:relation "nowhere.mytable" does not exist
> SELECT ü FROM (SELECT 1 AS ü) AS q
1
! CREATE TABLE t (a int, A int)
exact:column "a" specified more than once
> DROP TABLE "select", "a ""quoted"" name; DROP TABLE mytable"
> SELECT count(*) FROM mytable
1
