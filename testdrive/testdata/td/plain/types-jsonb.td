# jsonb through the binary format, in canonical form.

> CREATE TABLE j (id int, v jsonb)
> INSERT INTO j VALUES (1, '{"b": [1, 2, {"c": null}], "a": "x y"}'), (2, '[1.5, true, "q"]'), (3, '"text"'), (4, '{}'), (5, NULL), (6, 'null'), (7, '{"a": 1, "a": 2}')
> SELECT id, v FROM j
1 "{\"a\":\"x y\",\"b\":[1,2,{\"c\":null}]}"
2 "[1.5,true,\"q\"]"
3 "\"text\""
4 {}
5 <null>
6 null
7 "{\"a\":2}"
> SELECT id, v -> 'a', v ->> 'a', v -> 'b' -> 1, v -> 'b' -> 2 ->> 'c' FROM j
1 "\"x y\"" "x y" 2 <null>
2 <null> <null> <null> <null>
3 <null> <null> <null> <null>
4 <null> <null> <null> <null>
5 <null> <null> <null> <null>
6 <null> <null> <null> <null>
7 2 2 <null> <null>
> SELECT v -> 0, v ->> 1, v -> -1, v -> 9 FROM j WHERE id = 2
1.5 true "\"q\"" <null>
> SELECT id FROM j WHERE v = '{"a": "x y", "b": [1, 2, {"c": null}]}'
1
> SELECT id FROM j WHERE v -> 'a' IS NULL
2
3
4
5
6
> SELECT (v ->> 'a')::int + 1 FROM j WHERE id = 7
3
> SELECT v::text FROM j WHERE id = 4
{}
! SELECT '{"a": }'::jsonb
contains:invalid input syntax for type json
! INSERT INTO j VALUES (8, 'x')
contains:invalid input syntax for type json
