# Booleans, and three-valued logic in a table.

> CREATE TABLE b (p bool, q bool)
> INSERT INTO b VALUES (true, true), (true, false), (true, NULL), (false, 'no'), (false, NULL), (NULL, 't')
> SELECT p, q, p AND q, p OR q, NOT p, p = q FROM b
true true true true false true
true false false true false false
true <null> <null> true false <null>
false false false false true true
false <null> false <null> true <null>
<null> true <null> true <null> <null>
> SELECT count(*) FROM b WHERE p AND q
1
> SELECT count(*) FROM b WHERE NOT (p AND q)
3
> SELECT count(*) FROM b WHERE (p AND q) IS NOT TRUE
5
> SELECT p, count(*) FROM b GROUP BY p
true 3
false 2
<null> 1
! INSERT INTO b VALUES ('perhaps', true)
exact:invalid input syntax for type boolean: "perhaps"
! SELECT p + q FROM b
exact:operator does not exist: boolean + boolean
