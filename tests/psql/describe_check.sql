create table t (a int primary key check (a > 0), b int, constraint b_big check (b > a), c text default 'x' || 'y', d int default 1 + 2, e date default current_date);
\d t
\d+ t
create sequence s start 5 increment 2 maxvalue 100 cycle;
\d s
\ds
alter table t drop column c;
\d t
drop table t;
\d
