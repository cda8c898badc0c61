# A bad value in the middle of a COPY changes nothing.

> CREATE TABLE t (a int NOT NULL, b bool)
$ copy-in statement="COPY t FROM STDIN" error="invalid input syntax for type integer: \"x\""
1	t
x	f
3	t
$ copy-in statement="COPY t FROM STDIN" error="invalid input syntax for type boolean: \"maybe\""
1	t
2	maybe
$ copy-in statement="COPY t FROM STDIN" error="missing data for column \"b\""
1	t
2
$ copy-in statement="COPY t FROM STDIN" error="extra data after last expected column"
1	t	1
$ copy-in statement="COPY t FROM STDIN" error="null value in column \"a\""
1	t
\\N	t
$ copy-in statement="COPY t FROM STDIN WITH (FORMAT csv)" error="unterminated CSV quoted field"
1,"t
> SELECT * FROM t

$ copy-in statement="COPY nothing FROM STDIN" error="relation \"nothing\" does not exist"
1	t
$ copy-in statement="COPY t (a, nothing) FROM STDIN" error="column \"nothing\" of relation \"t\" does not exist"
1	t
$ copy-in statement="COPY t FROM STDIN WITH (FORMAT nonsense)" error="COPY format \"nonsense\" not recognized"
1	t

# After an error the session goes on.
$ copy-in statement="COPY t FROM STDIN"
1	t
> SELECT * FROM t
1 true
