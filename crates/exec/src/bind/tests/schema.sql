create table t (a int primary key, b text, c numeric(10,2), d timestamptz default now());
create table u (a int, x bigint not null, y varchar(10), z int[]);
create table gen (id int generated always as identity, v int default 7, w int generated always as (v * 2) stored, check (v > 0));
create unique index u_ax on u (a, x);
create sequence s;
create view vw as select a, b from t where a > 0;
