create database gone;
\c gone
\c postgres
drop database gone;
\c gone
select 'not reached';
