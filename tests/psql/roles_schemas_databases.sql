\dn
\du
\l
create schema extra;
create role app login;
\dn
\du
create database second;
\l
select datname from pg_database order by 1;
drop database second;
\l
