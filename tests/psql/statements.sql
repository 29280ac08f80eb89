select 1; select 2;
select 1 as a\; select 2 as b;
create table t (a int); insert into t values (1), (2), (3); select count(*) from t; drop table t;
begin; create table r (a int); rollback; select * from r;
\timing off
select 'a;b' as semi, $$;$$ as dollar; -- comment ;
select /* ; */ 5;
insert into nosuch values (1); select 'goes on';
create table one (a int)\; insert into one values (1)\; select * from one\; select 1/0\; insert into one values (2);
select * from one;
begin\; create table two (a int)\; commit\; select nosuch;
select * from two;
\set x 5
select :x + 1, :'x' as text;
\if true
select 'yes';
\else
select 'no';
\endif
prepare p as select $1::int + 1;
execute p(41);
select 1 as one \gset pre_
\echo :pre_one
explain (costs off) select 1 where false \g /dev/null
show server_encoding;
select 'done';
