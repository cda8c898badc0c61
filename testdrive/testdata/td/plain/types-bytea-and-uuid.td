# bytea and uuid through the binary format.

> CREATE TABLE k (b bytea, u uuid)
> INSERT INTO k VALUES ('\x00ff41', '550e8400-e29b-41d4-a716-446655440000'), ('plain', 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff'), ('', NULL), (NULL, '00000000-0000-0000-0000-000000000000')
> SELECT b, u FROM k
"" <null>
<null> 00000000-0000-0000-0000-000000000000
"\\x00\\xffA" 550e8400-e29b-41d4-a716-446655440000
plain ffffffff-ffff-ffff-ffff-ffffffffffff
> SELECT length(b), encode(b, 'hex') FROM k
0 ""
3 00ff41
5 706c61696e
<null> <null>
> SELECT u FROM k WHERE b = 'plain'
ffffffff-ffff-ffff-ffff-ffffffffffff
> SELECT b || '\x01'::bytea FROM k WHERE u = '550e8400e29b41d4a716446655440000'
"\\x00\\xffA\\x01"
! SELECT '\x0'::bytea
contains:invalid hexadecimal data
! SELECT 'xyz'::uuid
exact:invalid input syntax for type uuid: "xyz"
