create table t(id int primary key, g int, s text, b bigint, f float8, n numeric(10,2), d date, ts timestamp, bo bool, c char(5), sm smallint, v varchar(20), iv interval, r real);
insert into t select i, i%7, 'name'||(i%13), i*1000000000::bigint, case when i%11=0 then 'NaN'::float8 when i%10=0 then 0 when i%10=1 then -0.0::float8 else i/3.0 end, (i%50)/4.0, date '2020-01-01'+(i%40), timestamp '2020-01-01'+ (i||' minutes')::interval, i%3=0, 'c'||(i%4), i%100, case when i%5=0 then null else 'v'||(i%6) end, (i%5||' days')::interval, i/7.0 from generate_series(1,3000) i;
insert into t(id) values (9001),(9002);
create table u(k int, big bigint, label text, num numeric, fl real);
insert into u select i, i, 'name'||i, i, i from generate_series(0,19) i;
insert into u values (null,null,null,null,null),(3,3,'name3',3.00,3);
create table e(a int, b text);
