# What scripts can do with variables and patterns.

$ set table=things value="two words"
$ set-arg-default prefix=p
> CREATE TABLE ${table} (a text)
> INSERT INTO ${table} VALUES ('${value}'), ('${arg.prefix}-${testdrive.seed}')
> SELECT a FROM ${table}
"two words"
\${arg.prefix}-${testdrive.seed}

$ set-from-sql var=count
SELECT count(*)::text FROM ${table}
> SELECT ${count} + 1
3

$ set-regex match=-\d+ replacement=-N
> SELECT a FROM ${table} WHERE a LIKE 'p-%'
p-N
! SELECT ('x-' || length('12345'))::int
exact:invalid input syntax for type integer: "x-N"
$ unset-regex

$ skip-if
SELECT ${count} = 2
> SELECT nothing
$ skip-end
> SELECT 1
1
