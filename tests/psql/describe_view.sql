create table t (a int not null, b text);
insert into t values (1, 'x');
create view v as select a, upper(b) as ub from t where a > 0;
\dv
\d v
\d+ v
\d
