# Groups, HAVING, aggregates of nothing.

> CREATE TABLE sale (day date, item text, n int, price numeric)
> SELECT count(*), count(n), sum(n), min(day), max(item), avg(price) FROM sale
0 0 <null> <null> <null> <null>
> SELECT item, count(*) FROM sale GROUP BY item
> INSERT INTO sale VALUES ('2024-01-01', 'tea', 2, 1.5), ('2024-01-01', 'cup', 1, 8), ('2024-01-02', 'tea', 3, 1.75), ('2024-01-03', 'tea', NULL, 2), ('2024-01-03', NULL, 1, 1)
> SELECT count(*), count(n), sum(n), min(day), max(item), sum(n * price) FROM sale
5 4 7 2024-01-01 tea 17.25
> SELECT item, count(*), sum(n), min(price), max(price) FROM sale GROUP BY item
tea 3 5 1.5 2
cup 1 1 8 8
<null> 1 1 1 1
> SELECT day, count(DISTINCT item) FROM sale GROUP BY day HAVING count(*) > 1
2024-01-01 2
2024-01-03 1
> SELECT item, avg(n), round(avg(price), 2) FROM sale GROUP BY item
tea 2.5 1.75
cup 1 8
<null> 1 1
> SELECT extract(day FROM day), sum(n) FILTER (WHERE item = 'tea') FROM sale GROUP BY 1
1 2
2 3
3 <null>
! SELECT item, n FROM sale GROUP BY item
exact:column "sale.n" must appear in the GROUP BY clause or be used in an aggregate function
! SELECT item FROM sale WHERE sum(n) > 1
exact:aggregate functions are not allowed in WHERE
! SELECT sum(item) FROM sale
exact:function sum(text) does not exist
hint:No function matches
