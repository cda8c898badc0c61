# Values that stand for objects are shown by name.

> CREATE TABLE rgt (a int)
> SELECT 'rgt'::regclass, 'int4'::regtype, 'pg_class'::regclass, 0::regclass, 'lower(text)'::regprocedure, 'public'::regnamespace
rgt integer pg_class - lower(text) public
> SELECT pg_typeof(1), pg_typeof('x'::varchar(3)), pg_typeof(array[1]), pg_typeof(null)
integer "character varying" integer[] unknown
> SELECT array['rgt'::regclass::text]::text[], row('rgt'::regclass, 1)::text
{rgt} (rgt,1)
> SELECT x FROM (VALUES ('rgt'::regclass), (NULL)) v (x)
<null>
rgt
> SELECT attrelid::regclass, attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'rgt'::regclass AND attnum > 0
rgt a integer
> SELECT to_regclass('rgt'), to_regtype('int'), to_regclass('nosuch')
rgt integer <null>
> SELECT '=(int,int4)'::regoperator, 'pg_catalog.+(int8, bigint)'::regoperator, 'abs(int)'::regprocedure, '-(none,float)'::regoperator
=(integer,integer) +(bigint,bigint) abs(integer) "-(NONE,double precision)"
! SELECT 'nosuch'::regclass
exact:relation "nosuch" does not exist
$ copy-out statement="COPY (SELECT 'rgt'::regclass, pg_typeof(1.5)) TO STDOUT (FORMAT csv)"
rgt,numeric
> BEGIN
> DECLARE c CURSOR FOR SELECT 'rgt'::regclass
> FETCH c
rgt
> COMMIT
> ALTER TABLE rgt RENAME TO renamed
> SELECT 'renamed'::regclass
renamed
$ psql-execute command="SELECT 'renamed'::regclass, ARRAY['renamed'::regclass]"
regclass |   array
----------+-----------
 renamed  | {renamed}
