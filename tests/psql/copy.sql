create table t (id int primary key, s text, n numeric, d date);
copy t from stdin;
1	one	1.5	2020-01-01
2	\N	\N	\N
3	tab\there	-2	infinity
4	back\\slash	0	1999-12-31
5		100	2000-02-29
\.
select * from t order by id;
copy t to stdout;
copy t (id, s) from stdin;
10	ten
11	eleven
\.
copy t (s, id) to stdout;
copy t from stdin;
1	dup	1	2020-01-01
\.
copy t from stdin;
x	bad	1	2020-01-01
\.
copy t from stdin;
20	too few
\.
copy t from stdin;
20	too	1	2020-01-01	many
\.
copy t from stdin;
\N	null key	1	2020-01-01
\.
copy nosuch from stdin;
\.
copy t (nosuch) from stdin;
\.
select count(*) from t;
truncate t;
copy t from stdin with (format csv, header);
id,s,n,d
1,"quoted, comma",1.5,2020-01-01
2,,,
3,"",0,2020-01-01
4,"say ""hi""",1,2020-01-01
\.
select id, s, s is null as is_null, n, d from t order by id;
copy t to stdout (format csv, header);
\copy t to 'out.txt'
\! cat out.txt
truncate t;
\copy t from 'out.txt'
select count(*) from t;
\copy (select id, s from t where id < 3 order by id) to 'sub.csv' csv header
\! cat sub.csv
create table c (v text);
\copy c from 'sub.csv'
select * from c;
begin;
copy c from stdin;
in a transaction
\.
rollback;
select count(*) from c;
copy c from stdin;
\x41\102\tx
\.
select * from c where v like 'A%';
copy c from stdin (delimiter ',', null 'NIL');
NIL
\.
select count(*) from c where v is null;
