# Session variables: SET, SHOW, RESET, and their end with the transaction.

> SHOW timezone
UTC
> SHOW client_encoding
UTF8
> SHOW standard_conforming_strings
on
> SHOW datestyle
"ISO, MDY"
> SHOW server_encoding
UTF8
> SET application_name = 'story'
> SHOW application_name
application_name
---
story
> SET application_name TO 'other'
> SELECT current_setting('application_name')
other
> BEGIN
> SET LOCAL application_name = 'inside'
> SHOW application_name
inside
> COMMIT
> SHOW application_name
other
> BEGIN
> SET application_name = 'undone'
> ROLLBACK
> SHOW application_name
other
> RESET application_name
> SET timezone = 'UTC'
> SHOW TimeZone
UTC
! SHOW nothing_of_this_name
exact:unrecognized configuration parameter "nothing_of_this_name"
