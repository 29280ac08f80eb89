create table t (id serial primary key, name varchar(20) not null, n numeric(10,2) default 1.50, c char(3), ts timestamptz default now(), u uuid, j json, b bool not null default false);
create table u (a int, b text, unique (a, b));
create table plain (a int);
create index t_name on t (name);
create index t_two on t (n desc, c);
create unique index t_u on t (u);
\d
\dt
\di
\ds
\d t
\d u
\d plain
\d t_name
\d t_two
\d t_id_seq
\d+ t
\d public.t
\dt public.*
\d "T"
