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
insert into t (a, b) values (1, 'x') on conflict (b) do nothing
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
