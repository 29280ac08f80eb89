create table t (id int, name text, n numeric);
insert into t values (1, 'one', 1.5), (2, null, null), (3, 'three
lines
here', -100.25);
select * from t order by id;
select * from t where id = 1 \gx
\x
select * from t order by id;
\x
\pset null '(null)'
select * from t order by id;
\pset null ''
\a
select * from t order by id;
\a
\t
select * from t order by id;
\t
\pset format csv
select * from t order by id;
\pset format aligned
select 1 as a, 'x' as b \g
select 2 as two \gset
\echo :two
select * from t where false;
select;
select 1, 2; select 3; select 4;
select 1 as "a b", 'ünï' as "日本";
\pset border 2
select * from t where id < 3 order by id;
\pset border 1
select 'select 5 as generated' \gexec
