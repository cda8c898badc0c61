# Strings of every spelling.

> SELECT 'it''s', E'a\'b\\c\td', $$a 'dollar' string$$, $x$with $$ inside$x$
it's "a'b\\c\td" "a 'dollar' string" "with $$ inside"
> SELECT 'one '
  'two'
"one two"
> SELECT E'\u00e9\x41\101', 'semi;colon', '-- no comment', '/* nor this */'
éAA semi;colon "-- no comment" "/* nor this */"
> SELECT 'back\slash', length('back\slash')
back\slash 10
> SELECT 1 -- a comment
  + 2 /* another /* nested */ one */ + 3
6
! SELECT 'open
contains:unterminated quoted string
! SELECT $$open
contains:unterminated dollar-quoted string
! SELECT "open
contains:unterminated quoted identifier
! SELECT 1 /* open
contains:unterminated /* comment
