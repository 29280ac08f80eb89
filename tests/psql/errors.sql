select nosuch from pg_class;
select * from nosuch;
select 1 +;
select 'x'::int;
select 1 / 0;
create table t (a int primary key);
insert into t values (1), (1);
insert into t values (null);
select a, count(*)
from t
where a > 'x'
group by a;
\set VERBOSITY terse
select nosuch from t;
\set VERBOSITY default
drop table if exists nosuch;
begin;
select 1/0;
select 1;
commit;
commit;
select length('日本'), nosuch;
\set ON_ERROR_STOP on
select nosuch;
select 'not reached';
