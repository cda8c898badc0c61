# A tour of the functions on text.

> CREATE TABLE w (s text)
> INSERT INTO w VALUES ('Hello, World'), ('  padded '), ('plain'), (''), (NULL)
> SELECT s, length(s), upper(s), trim(s), left(s, 3), reverse(s) FROM w
"" 0 "" "" "" ""
"  padded " 9 "  PADDED " padded "  p" " deddap  "
<null> <null> <null> <null> <null> <null>
"Hello, World" 12 "HELLO, WORLD" "Hello, World" Hel "dlroW ,olleH"
plain 5 PLAIN plain pla nialp
> SELECT replace(s, 'l', 'L'), position('o' IN s), split_part(s, ', ', 2), starts_with(s, 'He') FROM w WHERE s LIKE 'H%'
"HeLLo, WorLd" 5 World true
> SELECT lpad('7', 3, '0'), rpad('ab', 4, '.'), repeat('-', 5), substring('hello' FROM 2 FOR 3), initcap('two words'), chr(65), ascii('A')
007 ab.. ----- ell "Two Words" A 65
> SELECT 'a' || 1 || NULL, 'a' || 1 || true, md5('x'), regexp_replace('a1b22', '[0-9]+', '#', 'g'), translate('abc', 'ab', 'xy')
<null> a1true 9dd4e461268c8034f5c8564e155c67a6 a#b# xyc
> SELECT s FROM w WHERE s ~ '^[A-Z]'
"Hello, World"
> SELECT s FROM w WHERE s ILIKE '%WORLD'
"Hello, World"
