# COPY in the CSV format: quotes, headers, delimiters, NULL.

> CREATE TABLE t (a int, b text, d date)
$ copy-in statement="COPY t FROM STDIN WITH (FORMAT csv)"
1,plain,2024-01-01
2,"with, comma",2024-02-29
3,"with ""quotes""",
4,,2024-03-01
5,"",2024-03-02
6," blanks ",2024-03-03
> SELECT a, b, d FROM t
1 plain 2024-01-01
2 "with, comma" 2024-02-29
3 "with \"quotes\"" <null>
4 <null> 2024-03-01
5 "" 2024-03-02
6 " blanks " 2024-03-03

$ copy-in statement="COPY t (b, a) FROM STDIN WITH (FORMAT csv, HEADER)"
b,a
"two
lines",7
> SELECT a, b FROM t WHERE a = 7
7 "two\nlines"

$ copy-in statement="COPY t (a, b) FROM STDIN WITH (FORMAT csv, DELIMITER ';', NULL '-', QUOTE '''')"
8;'x;y'
9;-
> SELECT a, b FROM t WHERE a > 7
8 x;y
9 <null>
