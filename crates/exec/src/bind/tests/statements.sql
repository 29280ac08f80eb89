select 1
select 1, 'x', null, 1.5, true, 5000000000
select a, b from t
select * from t
select t.*, u.x from t, u
select t from t
select a + 1, a || 'x', -a, a::bigint, cast(a as text), b || b from t
select count(*), sum(a), max(b), avg(a) from t
select case when a > 1 then 'x' else b end, coalesce(a, 1), nullif(a, 1), greatest(a, 2.5) from t
select case a when 1 then 'one' end from t
select array[1,2,3], array[a], array['a','b'], array(select a from t), row(1, 2) from t
select exists (select 1), (select a from t limit 1), (select 1)
select current_date, current_timestamp, current_user, localtimestamp(3), now()
select a as "X", b label from t
select a from t where b = 'x' and c > 5 and d > '2020-01-01'
select a from t where a in (1, 2, 3) and b in ('x') and a not in (select a from u)
select a from t order by b desc, 1
select b, count(*) from t group by b having count(*) > 1 order by count(*)
select a, b, c from t group by a
select b, a from t group by b
select sum(a), b from t
select a from t group by 1 order by 1
select a + 1 from t group by a + 1
select a + 2 from t group by a + 1
select distinct b from t order by a
select distinct on (b) b, a from t order by b, a
select distinct on (b) b, a from t order by a
select x from t join u on t.a = u.a
select * from t join u using (a)
select a from t join u using (a)
select a from t join u on t.a = u.a
select * from t natural join u
select * from t full join u using (a)
select t.a from t left join u on u.a = t.a where u.a is null
select * from t cross join u
select * from t t1 join t t2 on t1.a = t2.a
select * from t, t
select foo from t
select t.foo from t
select bar.foo from t
select aa from t
select t.aa from t
select x.a from t x, u
select t.a from t x
select * from nosuch
select * from nosuch.t
select * from public.t
select public.t.a from public.t
select nosuch(1)
select lower(1)
select a + b from t
select a || 1 from t
select 1 + 'x'
select 'a' + 'b'
select a from t where a
select a from t where 1 + 2
select a from t where b = 1
select a from t limit 'x'
select a from t limit a
select a from t having a > 1
select a from t where count(*) > 1
select sum(sum(a)) from t
select a, row_number() over (order by b) from t
select sum(a) over (partition by b order by a rows between 1 preceding and current row) from t
select row_number() from t
select rank() over w from t window w as (order by a)
select rank() over w from t
select a from t where row_number() over () > 1
select sum(a) filter (where b = 'x') from t
select lower(b) filter (where true) from t
select count(distinct b), string_agg(b, ',' order by a) from t
select lower(distinct b) from t
select count() from t
select percentile_cont(0.5) within group (order by a) from t
select generate_series(1, 3)
select * from generate_series(1, 3)
select * from generate_series(1, 3) g
select g from generate_series(1, 3) g
select g.g from generate_series(1, 3) g
select i from generate_series(1, 3) as i
select * from generate_series(1, 3) with ordinality as x(n, o)
select a from t where generate_series(1, 2) = 1
select unnest(z), x from u
select * from u, unnest(z) e
select * from u, lateral (select u.x + 1 as y1) q
select * from u, (select u.x + 1 as y1) q
select * from (select 1) s
select * from (select 1 as one, 'x') s
select one from (select 1 as one) s(two)
select * from (values (1, 'a'), (2, 'b')) v(n, s)
select * from (values (1, 'a'), (2)) v(n, s)
values (1, 'a'), (2, null)
values (1), ('x')
select 1 union select 2
select 1 union all select 'x'
select 'a' union select 'b'
select 1, 2 union select 1
select a from t union select x from u order by a
select a from t union select x from u order by x
select a from t union select b from t
select 1 union select 2.5
select null union select 1
with q as (select 1 as n) select * from q
with q(m) as (select 1 as n) select m from q
with q(m, k) as (select 1 as n) select m from q
with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r
with recursive r(n) as (select 1 union all select n + 1.5 from r where n < 5) select * from r
with recursive r(n) as (select n + 1 from r) select * from r
with q as (select * from q2), q2 as (select 1) select * from q
with q as (select 1), q as (select 2) select * from q
with d as (delete from t returning a) select * from d
with d as (delete from t) select * from d
select a from t where a = (select a, b from t)
select a from t where a in (select a, b from t)
select a from t where (a, b) = (1, 'x')
select a from t where (a, b) in (select a, y from u)
select a from t where (a, b) < (1, 'x')
select a from t where a = any (array[1, 2]) and a <> all ('{1,2}')
select a from t where a = any (1)
select a between 1 and 2, a between symmetric 3 and 1, a is distinct from 1, b like 'x%', b ilike 'y', b similar to 'z', a is null from t
select extract(year from d), substring(b from 1 for 2), position('a' in b), trim(b), overlay(b placing 'x' from 1), d at time zone 'UTC' from t
select date '2020-01-01', interval '1 day', timestamp '2020-01-01', interval '1' year, int '5', numeric(5,1) '1.5'
select 'x'::int
select '1'::int, '1.5'::numeric(5,1), 'abc'::varchar(2), 'abc'::char(5)
select 1::nosuch
select 1::int(5)
select 1::varchar(0)
select z[1], z[1:2], (array[1,2])[1] from u
select a[1] from t
select b collate "C" from t
select b collate "xx" from t
select a collate "C" from t
select $1 from t
select a from t where a = $1 and b = $2
select $1::int, $2
select $1 + 1, $1
select $1 + $2
select $1 is null
select $1 = $1::int
select a from t limit $1 offset $2
select coalesce($1, 5)
insert into t values ($1, $2, $3)
insert into t (a, b) values (1, 'x')
insert into t values (1, 'x', 2.5, default)
insert into t values (1, 'x', 2.5, now(), 5)
insert into t (a, b) values (1)
insert into t (a, foo) values (1, 2)
insert into t (a, a) values (1, 2)
insert into t (a) values ('x')
insert into t (a) values (true)
insert into t (a, c) select 1, '2.5'
insert into t (a, b) select x, y from u returning a, b as bb, t.*
insert into t default values returning *
insert into t (a) values (1), (2), (default)
insert into nosuch values (1)
insert into gen (id) values (1)
insert into gen (w) values (1)
insert into gen (id, v) overriding system value values (1, 2) returning *
insert into gen values (default, 5, default)
insert into t (a) values (1) on conflict do nothing
insert into t (a, b) values (1, 'x') on conflict (a) do update set b = excluded.b where t.a > 0 returning b
insert into t (a, b) values (1, 'x') on conflict do update set b = 'x'
insert into u (a, x) values (1, 2) on conflict (x, a) do update set y = excluded.y
insert into t (a) values (1) on conflict on constraint t_pkey do nothing
insert into t (a) values (1) on conflict on constraint nosuch do nothing
update t set b = 'x'
update t set b = 'x', c = c + 1 where a = 1 returning *
update t set a = 'x'
update t set a = b
update t set foo = 1
update t set b = 'x', b = 'y'
update t set (a, b) = (1, 'x')
update t set (a, b) = (select a, y from u limit 1)
update t set (a, b) = (1, 2, 3)
update t set b = u.y from u where u.a = t.a
update t x set b = 'y' where x.a = 1
update t x set b = 'y' where t.a = 1
update t set c = default
update gen set w = 1
update gen set id = 1
delete from t where a = 1
delete from t using u where u.a = t.a returning t.a, u.x
delete from nosuch
delete from t where a = 'x'
select * from vw
select a from vw where b = 'x'
select nextval('s'), last_value from s
select relname from pg_class where relkind = 'r'
select oid, typname from pg_type limit 1
select * from pg_tables
select table_name from information_schema.tables
select c.relname, n.nspname from pg_catalog.pg_class c join pg_namespace n on n.oid = c.relnamespace
select 'pg_class'::regclass
select a from t for update
select b from t group by b for update
select a from t for update of u
select a from t, u for update of t nowait
select a as b from t order by b
select a as b, b as a from t order by a
select a, a as b from t group by b
select t.b from t order by lower(t.b) limit 10 offset 5
select grouping(a), a, b from t group by rollup (a, b)
select a, b, count(*) from t group by grouping sets ((a), (b), ())
select grouping(c) from t group by a
select max(a) from t order by max(b)
select count(*) from t where exists (select 1 from u where u.a = t.a)
select (select max(u.x) from u where u.a = t.a) from t
select (select sum(t.a)) from t
select a, (select count(*) from u where u.a = t.a) from t group by a
select b, (select u.x from u where u.y = t.b) from t group by b
select b, (select u.x from u where u.a = t.a) from t group by b
select a from t where a > (select avg(a) from t)
select not a from t
select a and true from t
select a from t order by 5
select a from t order by 'x'
select a from t group by 7
select * from t order by t.foo
select * from (select a from t) s where b = 1
select *
select t.* from u
select distinct a, b from t
select a from t fetch first 2 rows only
select to_char(d, 'YYYY'), round(c, 1), abs(a), length(b), upper(b) from t
select pg_typeof(1), version(), current_setting('TimeZone')
select 1 where false
select 1 as a, 2 as a order by a
select 'x' like 'y' escape 'z'
select (1, 2) is null, row(1, null) is not null
select array[]::int[]
select array[]
select array[1, 'x']
select array[[1,2],[3,4]]
select coalesce(1, 'x')
select coalesce(1, true)
select case when 1 then 2 end
select case when true then 1 else 'x' end
select 1 = true
select nullif(1, 'a')
select greatest(1, 'x')
select sum(b) from t
select max(b), min(d) from t
select t.a, u.a from t, u where a = 1
select lower(b => 'x') from t
select make_interval(days => 5)
select count(t) from t
select (t).a from t
select (t.z)[1] from u t
select * from u where z @> array[1]
select b ~ 'x', b !~* 'y' from t
explain select 1
select x.* from (t join u on t.a = u.a) x
select (select 1 union select 2)
select a from t where a not between 1 and 2 or not b = 'x'
select 1 order by 2
select cast(null as int) + 1
select date '2020-13-01'
select interval '1 foo'
select '{1,2'::int[]
select 99999999999999999999
select -2147483648, 2147483648, 1e5, .5
select 1/0
select repeat('x', 3), 'a' 'b'
select all a from t
select b from t where b = any (select y from u)
select d + interval '1 day', d - d, d::date from t
select a % 2, a ^ 2, |/ 4.0, @ -5 from t
select mod(a, 2), power(a, 2), random() from t
select oid from t
select ctid from t where false
select tableoid from t
select b, sum(a), (select max(x) from u where u.a = sum(t.a)) from t group by b having exists (select 1 from u where u.y = t.b) order by b
select count(*) over (), sum(sum(a)) over (order by b) from t group by b
select (select a from u limit 1) from t group by t.a
select a from t where exists (select 1 from u where u.a = t.a and exists (select 1 from t t2 where t2.a = t.a and t2.a = u.a))
select * from t where (select count(*) from u where u.a = t.a) > 1 order by (select 1)
with q as (select a, count(*) as n from t group by a) select q.n, (select n from q q2 where q2.a = q.a) from q
select sum(a) + (select count(*) from u) from t
select lower(b), count(*) from t group by lower(b) order by lower(b)
select a, b from t group by a, b having b > 'x'
select a as z from t group by z
select count(*) from (select distinct a from t) x
select coalesce(sum(a), 0)::int from t
select * from t where a = 1 or (a = 2 and b is not null)
insert into t (a, b) values (1, 'x') returning a + 1, (select max(x) from u)
insert into t (a) select a from u where not exists (select 1 from t where t.a = u.a)
with q as (insert into t (a) values (1) returning a) insert into u (a, x) select a, a from q returning *
with q as (select 1 as a) update t set b = 'x' from q where q.a = t.a
with q as (select 1 as a) delete from t where a in (select a from q)
select e.* from u, unnest(u.z) with ordinality as e(v, n)
select * from t left join lateral (select x from u where u.a = t.a limit 1) l on true
select * from t right join lateral (select x from u where u.a = t.a limit 1) l on true
select a from t as x(q) where q = 1
select x.q, x.b from t as x(q)
select * from t as x(q, w, e, r, z)
select * from (t join u using (a)) as j(k) where k = 1
select t.a, u.a from t join u using (a)
select * from t join u using (b)
select * from t join u using (nosuch)
select a, b from t union all select x, y from u order by 2, 1 limit 3
(select a from t order by b limit 1) union all (select x from u)
select a from t except select x from u intersect select 1
select 'a' as x union all select b from t order by x
select string_agg(b, ', ') from t
select array_agg(a order by b desc) from t
select lag(a) over (order by a), first_value(b) over w, ntile(4) over w from t window w as (partition by b order by a)
select sum(a) over w from t window w as (partition by b), w as (order by a)
select sum(a) over (w order by a) from t window w as (order by b)
select sum(count(*)) from t
select avg(row_number() over ()) from t
select sum(a) over (order by sum(a) over ()) from t
select a from t order by row_number() over (order by b)
select generate_series(1, a) from t order by 1
select a, generate_series(1, 2), generate_series(1, 3) from t
select case when a > 1 then generate_series(1, 2) end from t
select sum(generate_series(1, 2)) from t
update t set a = sum(a)
update t set b = (select y from u where u.a = t.a)
update t set a = generate_series(1, 2)
delete from t where count(*) > 1
select * from t where a in ()
select 1 as select
select a from t limit all
select a from t offset 1 rows fetch next row only
select from t
select distinct on (a, b) a, b, c from t order by a, c
select "A" from t
select T.A from T
select a from "T"
select a.b from t
select t.a.b from t
select t.nosuch.x from t
select pg_catalog.lower('X'), pg_catalog.count(*) from t
select nosuch.lower('X')
select public.lower('X')
select 1 operator(pg_catalog.+) 2
select '1' || 2, 1 || '2'
select 'abc' like 'a%', 'abc' not like 'b%'
select true and 'yes'
select true and 1
select not 1
select -'1'
select +b from t
select a & 1, a << 2, ~a, a # 3 from t
select c / 3, c * 2.5, c % 2 from t
select 1::numeric / 3, 5 / 2, 5.0 / 2
select d = '2020-01-01', d < now(), d between '2020-01-01' and '2021-01-01' from t
select b = 'x'::varchar, y = b from t, u
select x = a, x + a, a::smallint + x from u
select sum(x), sum(a), avg(a), sum(a::smallint), sum(1.5), sum(1.5::float8) from u
select 1.0::float4 + 1, 1.0::float8 + 1.0
select length('x'), char_length(b), octet_length(b) from t
select current_user = 'postgres'
select cast('1' as int), '1'::int4, int4 '1'
select 'a'::"char", 'x'::name, '\x00'::bytea
select '12:00'::time, '12:00'::time(2), '2020-01-01'::date, '1 day'::interval day to hour
select timestamp with time zone '2020-01-01', time '12:00'
select array[1,2] || 3, array[1] || array[2], array[1,2] = '{1,2}', 1 = any('{1,2}')
select array_length(array[1,2], 1), cardinality(z) from u
select row(1, 2) = row(1, 2), row(1, 2) < row(1, 3)
select row(1, 2) = row(1)
select (1, 'x') = (select 1, 'x')
select $1::text || $2
select b from t where b like $1
select b from t where a in ($1, $2)
select a from t where a = any($1)
select case when $1 then 1 else 2 end
select lower($1), abs($2)
insert into u (a, x, y, z) values ($1, $2, $3, $4)
update u set x = $1 where a = $2
select $2
select $1 from t where $1 = a
select $1, $1 + 1
select * from t where a = $1 and $1 is not null
select coalesce($1, b) from t
select $1 between a and 5 from t
select 1 +
select 1 from
select * form t
select a b c from t
selec 1
create tabel x (a int)
drop tabel x
insert t values (1)
insert into t values 1
insert into t (a values (1)
insert into t () values (1)
update t a = 1
update set a = 1
delete t where a = 1
select 'abc
select "abc
select $$abc
select 1 /* abc
select 12abc
select 1..2
select a from t where
select a from t where a = 
select a from t where a == 1
select a from t where a = = 1
select a from t where (a = 1
select a from t where a = 1)
select a,, b from t
select a, from t
select , a from t
select a from t order a
select a from t group a
select a from t order by
select a from t limit
select a from t, 
select a from t join u
select a from t join u on
select a from t left u on true
select a from t union
select a from t union select
select case a when 1 then 2 from t
select case end from t
select cast(a int) from t
select cast(a as) from t
select a::from t
select count( from t
select count(*) from t)
select f(a b) from t
select (select a from t from t
select a from (select a from t)
select a from (select a from t) where a = 1
select a from (values (1))
select a in 1 from t
select a between 1 from t
select a is 5 from t
select a not 5 from t
select not from t
select 'a' 'b'
select @ from t
select a ? from t
select a ~~ from t
with x as select 1 select * from x
with as (select 1) select 1
values 1
values (1
values ()
select distinct on a from t
select a as from t
select a as 'x' from t
select a 'x' from t
select all distinct a from t
select a from t for upd
select a from t where a = 'it's'
select user.a from t
select a from table
select a from user
select table from t
select a from t as
select a from t where a like
select array[1, from t
select array(1) from t
select row( from t
select interval from t
select extract(year d) from t
select extract(from d) from t
select substring(b from) from t
select position(a, b) from t
select trim(both from) from t
insert into t values (1) on conflict
insert into t values (1) on conflict do
insert into t values (1) on conflict do nothing returning
insert into t values (1) returning
update t set a = 1 where
update t set
update t set a
delete from
delete from t using
explain
explain select
select é from t
select 'é', nosuch from t
select U&'\00zz'
select e'\u00zz'
select $0
select a from t where a = $
select #1
select "" from t
table t
table nosuch
table
