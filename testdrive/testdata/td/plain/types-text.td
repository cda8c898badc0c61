# Text, varchar and char through the binary format.

> CREATE TABLE s (t text, v varchar(5), c char(4))
> INSERT INTO s VALUES ('plain', 'var', 'chr'), ('', '', ''), (NULL, NULL, NULL), ('two words', 'a b', 'a b')
> INSERT INTO s VALUES (E'tab\tnew\nline', 'ünïc', 'ü'), ('quote"s', '''', '\')
> SELECT t, v, c FROM s
plain var "chr "
"" "" "    "
<null> <null> <null>
"two words" "a b" "a b "
"tab\tnew\nline" ünïc "ü   "
"quote\"s" ' "\\   "

> SELECT length(t), length(v), length(c), octet_length(v) FROM s
5 3 3 3
0 0 0 0
<null> <null> <null> <null>
9 3 3 3
12 4 1 6
7 1 1 1
> SELECT t FROM s WHERE c = 'chr'
plain
> SELECT v FROM s WHERE c = 'a b       '
"a b"
> SELECT c || '|', c::text || '|', v || '|' FROM s WHERE t = 'plain'
chr| chr| var|
! INSERT INTO s (v) VALUES ('123456')
exact:value too long for type character varying(5)
! INSERT INTO s (c) VALUES ('12345')
exact:value too long for type character(4)
> INSERT INTO s (v, c) VALUES ('12345   ', '1234   ')
> SELECT '123456789'::varchar(5), '123456789'::char(4)
12345 1234
