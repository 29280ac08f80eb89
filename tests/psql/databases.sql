create table in_first (a int);
create database other;
\c other
\dt
create table in_other (a int);
insert into in_other values (1), (2);
\dt
select current_database();
\c postgres
\dt
select * from in_other;
\c other
select * from in_other order by a;
drop database other;
\c postgres
drop database other;
drop database nosuch;
drop database if exists nosuch;
drop database postgres;
create database postgres;
\! createdb made_by_tool
\c made_by_tool
select current_database();
\c postgres
\! createdb made_by_tool
\! dropdb made_by_tool
\! dropdb made_by_tool
\! dropdb --if-exists made_by_tool
create database tmpl template template0;
create database enc encoding 'UTF8';
create database "Odd Name";
\c "Odd Name"
create table x (a int);
\c postgres
drop database "Odd Name";
select datname from pg_database order by 1;
