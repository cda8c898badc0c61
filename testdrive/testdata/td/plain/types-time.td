# Dates and times through the binary format.

> CREATE TABLE e (d date, t time, ts timestamp, tz timestamptz, i interval)
> INSERT INTO e VALUES ('2024-02-29', '12:34:56', '2024-02-29 12:34:56.5', '2024-02-29 12:34:56.000001+02', '1 day 02:00:00')
> INSERT INTO e VALUES ('0001-01-01', '00:00', '0001-01-01 00:00', '2000-01-01 00:00+00', '-1 years')
> INSERT INTO e VALUES ('9999-12-31', '23:59:59.999', '9999-12-31 23:59:59.999999', '1970-01-01 00:00+00', '00:00:00')
> INSERT INTO e VALUES (NULL, NULL, NULL, NULL, NULL)
> SELECT * FROM e
2024-02-29 12:34:56 "2024-02-29 12:34:56.500" "2024-02-29 10:34:56.000001 UTC" "1 day 02:00:00"
0001-01-01 00:00:00 "0001-01-01 00:00:00" "2000-01-01 00:00:00 UTC" "-1 years"
9999-12-31 23:59:59.999 "9999-12-31 23:59:59.999999" "1970-01-01 00:00:00 UTC" 00:00:00
<null> <null> <null> <null> <null>

> SELECT d + 1, d - date '2024-01-01', ts + i, ts - i, tz + i, i * 2, -i FROM e WHERE d = '2024-02-29'
2024-03-01 59 "2024-03-01 14:34:56.500" "2024-02-28 10:34:56.500" "2024-03-01 12:34:56.000001 UTC" "2 days 04:00:00" "-1 days -02:00:00"
> SELECT ts::date, ts::time, tz::date, d::timestamp, extract(year FROM d), extract(dow FROM d), date_trunc('month', ts) FROM e WHERE d = '2024-02-29'
2024-02-29 12:34:56.500 2024-02-29 "2024-02-29 00:00:00" 2024 4 "2024-02-01 00:00:00"
> SELECT interval '1 year 2 mons 3 days 4 hours 5 minutes 6.789 seconds', interval '-1 mon +1 day', interval '100 hours', interval '1 week'
"1 year 2 mons 3 days 04:05:06.789" "-1 mons +1 day" 100:00:00 "7 days"
> SELECT timestamp '2024-03-01 00:00' - timestamp '2024-02-28 12:00', date '2024-03-01' - date '2023-03-01'
"1 day 12:00:00" 366
! SELECT date '2024-02-30'
contains:date/time field value out of range: "2024-02-30"
! SELECT timestamp 'yesterday-ish'
contains:invalid input syntax for type timestamp
! INSERT INTO e (d) VALUES ('not a date')
contains:invalid input syntax for type date: "not a date"
