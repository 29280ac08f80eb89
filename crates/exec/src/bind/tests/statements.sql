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
SELECT DISTINCT tt.nspname AS "Schema", tt.name AS "Name", tt.object AS "Object", d.description AS "Description" FROM (   SELECT pgc.oid as oid, pgc.tableoid AS tableoid,   n.nspname as nspname,   CAST(pgc.conname AS pg_catalog.text) as name,  CAST('table constraint' AS pg_catalog.text) as object   FROM pg_catalog.pg_constraint pgc     JOIN pg_catalog.pg_class c ON c.oid = pgc.conrelid     LEFT JOIN pg_catalog.pg_namespace n     ON n.oid = c.relnamespace WHERE n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) UNION ALL   SELECT pgc.oid as oid, pgc.tableoid AS tableoid,   n.nspname as nspname,   CAST(pgc.conname AS pg_catalog.text) as name,  CAST('domain constraint' AS pg_catalog.text) as object   FROM pg_catalog.pg_constraint pgc     JOIN pg_catalog.pg_type t ON t.oid = pgc.contypid     LEFT JOIN pg_catalog.pg_namespace n     ON n.oid = t.typnamespace WHERE n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_type_is_visible(t.oid) UNION ALL   SELECT o.oid as oid, o.tableoid as tableoid,   n.nspname as nspname,   CAST(o.opcname AS pg_catalog.text) as name,   CAST('operator class' AS pg_catalog.text) as object   FROM pg_catalog.pg_opclass o     JOIN pg_catalog.pg_am am ON o.opcmethod = am.oid     JOIN pg_catalog.pg_namespace n ON n.oid = o.opcnamespace       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_opclass_is_visible(o.oid) UNION ALL   SELECT opf.oid as oid, opf.tableoid as tableoid,   n.nspname as nspname,   CAST(opf.opfname AS pg_catalog.text) AS name,   CAST('operator family' AS pg_catalog.text) as object   FROM pg_catalog.pg_opfamily opf     JOIN pg_catalog.pg_am am ON opf.opfmethod = am.oid     JOIN pg_catalog.pg_namespace n ON opf.opfnamespace = n.oid       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_opfamily_is_visible(opf.oid) UNION ALL   SELECT r.oid as oid, r.tableoid as tableoid,   n.nspname as nspname,   CAST(r.rulename AS pg_catalog.text) as name,  CAST('rule' AS pg_catalog.text) as object   FROM pg_catalog.pg_rewrite r        JOIN pg_catalog.pg_class c ON c.oid = r.ev_class        LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace   WHERE r.rulename != '_RETURN'       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) UNION ALL   SELECT t.oid as oid, t.tableoid as tableoid,   n.nspname as nspname,   CAST(t.tgname AS pg_catalog.text) as name,  CAST('trigger' AS pg_catalog.text) as object   FROM pg_catalog.pg_trigger t        JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid        LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ) AS tt   JOIN pg_catalog.pg_description d ON (tt.oid = d.objoid AND tt.tableoid = d.classoid AND d.objsubid = 0) ORDER BY 1, 2, 3
SELECT a.attname,   pg_catalog.format_type(a.atttypid, a.atttypmod),   (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)    FROM pg_catalog.pg_attrdef d    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),   a.attnotnull,   (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,   a.attidentity,   a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16471' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT a.attname,   pg_catalog.format_type(a.atttypid, a.atttypmod),   (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)    FROM pg_catalog.pg_attrdef d    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),   a.attnotnull,   (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,   a.attidentity,   a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16485' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT a.attname,   pg_catalog.format_type(a.atttypid, a.atttypmod),   (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)    FROM pg_catalog.pg_attrdef d    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),   a.attnotnull,   (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,   a.attidentity,   a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16493' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT a.attname,   pg_catalog.format_type(a.atttypid, a.atttypmod),   (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)    FROM pg_catalog.pg_attrdef d    WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),   a.attnotnull,   (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t    WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,   a.attidentity,   a.attgenerated,   a.attstorage,   a.attcompression AS attcompression,   CASE WHEN a.attstattarget=-1 THEN NULL ELSE a.attstattarget END AS attstattarget,   pg_catalog.col_description(a.attrelid, a.attnum) FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16471' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT a.attname,   pg_catalog.format_type(a.atttypid, a.atttypmod),   CASE WHEN a.attnum <= (SELECT i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indexrelid = '16491') THEN 'yes' ELSE 'no' END AS is_key,   pg_catalog.pg_get_indexdef(a.attrelid, a.attnum, TRUE) AS indexdef FROM pg_catalog.pg_attribute a WHERE a.attrelid = '16491' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
SELECT c.oid,   n.nspname,   c.relname FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(gen)$' COLLATE pg_catalog.default   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT c.oid,   n.nspname,   c.relname FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(s)$' COLLATE pg_catalog.default   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT c.oid,   n.nspname,   c.relname FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT c.oid,   n.nspname,   c.relname FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(u_ax)$' COLLATE pg_catalog.default   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT c.oid,   n.nspname,   c.relname FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(vw)$' COLLATE pg_catalog.default   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '16471'   AND c.relkind != 'p' AND c.relkind != 'I' ORDER BY inhseqno
SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = '16485'   AND c.relkind != 'p' AND c.relkind != 'I' ORDER BY inhseqno
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '16471' ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text
SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid) FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhrelid AND i.inhparent = '16485' ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16471'
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16485'
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16491'
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16492'
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16493'
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, pg_catalog.array_to_string(c.reloptions || array(select 'toast.' || x from pg_catalog.unnest(tc.reloptions) x), ', ') , c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname FROM pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid) WHERE c.oid = '16471'
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),   pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i   LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x')) WHERE c.oid = '16471' AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, c2.relname
SELECT d.datname as "Name",        pg_catalog.pg_get_userbyid(d.datdba) as "Owner",        pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",        d.datcollate as "Collate",        d.datctype as "Ctype",        d.daticulocale as "ICU Locale",        CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",        pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges" FROM pg_catalog.pg_database d ORDER BY 1
SELECT d.datname as "Name",        pg_catalog.pg_get_userbyid(d.datdba) as "Owner",        pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",        d.datcollate as "Collate",        d.datctype as "Ctype",        d.daticulocale as "ICU Locale",        CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",        pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges",        CASE WHEN pg_catalog.has_database_privilege(d.datname, 'CONNECT')           OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')             THEN pg_catalog.pg_size_pretty(pg_catalog.pg_database_size(d.datname))             ELSE 'No Access'        END as "Size",        t.spcname as "Tablespace",        pg_catalog.shobj_description(d.oid, 'pg_database') as "Description" FROM pg_catalog.pg_database d   JOIN pg_catalog.pg_tablespace t on d.dattablespace = t.oid ORDER BY 1
SELECT e.extname AS "Name", e.extversion AS "Version", n.nspname AS "Schema", c.description AS "Description" FROM pg_catalog.pg_extension e LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace LEFT JOIN pg_catalog.pg_description c ON c.objoid = e.oid AND c.classoid = 'pg_catalog.pg_extension'::pg_catalog.regclass ORDER BY 1
SELECT evtname as "Name", evtevent as "Event", pg_catalog.pg_get_userbyid(e.evtowner) as "Owner",  case evtenabled when 'O' then 'enabled'  when 'R' then 'replica'  when 'A' then 'always'  when 'D' then 'disabled' end as "Enabled",  e.evtfoid::pg_catalog.regproc as "Function", pg_catalog.array_to_string(array(select x from pg_catalog.unnest(evttags) as t(x)), ', ') as "Tags" FROM pg_catalog.pg_event_trigger e ORDER BY 1
SELECT i.indisunique, i.indisprimary, i.indisclustered, i.indisvalid,   (NOT i.indimmediate) AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x') AND condeferrable) AS condeferrable,   (NOT i.indimmediate) AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x') AND condeferred) AS condeferred, i.indisreplident, i.indnullsnotdistinct,   a.amname, c2.relname, pg_catalog.pg_get_expr(i.indpred, i.indrelid, true) FROM pg_catalog.pg_index i, pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_am a WHERE i.indexrelid = c.oid AND c.oid = '16491' AND c.relam = a.oid AND i.indrelid = c2.oid
SELECT n.nspname AS "Name",   pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner" FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1
SELECT n.nspname AS "Name",   pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner",   pg_catalog.array_to_string(n.nspacl, E'\n') AS "Access privileges",   pg_catalog.obj_description(n.oid, 'pg_namespace') AS "Description" FROM pg_catalog.pg_namespace n WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1
SELECT n.nspname AS "Schema",        c.collname AS "Name",        c.collcollate AS "Collate",        c.collctype AS "Ctype",        c.colliculocale AS "ICU Locale",        CASE c.collprovider WHEN 'd' THEN 'default' WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Provider",        CASE WHEN c.collisdeterministic THEN 'yes' ELSE 'no' END AS "Deterministic?" FROM pg_catalog.pg_collation c, pg_catalog.pg_namespace n WHERE n.oid = c.collnamespace       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'       AND c.collencoding IN (-1, pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding()))   AND pg_catalog.pg_collation_is_visible(c.oid) ORDER BY 1, 2
SELECT n.nspname AS "Schema",   c.relname AS "Table",   s.srvname AS "Server" FROM pg_catalog.pg_foreign_table ft   INNER JOIN pg_catalog.pg_class c ON c.oid = ft.ftrelid   INNER JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace   INNER JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver WHERE pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' END as "Type",   pg_catalog.array_to_string(c.relacl, E'\n') AS "Access privileges",   pg_catalog.array_to_string(ARRAY(     SELECT attname || E':\n  ' || pg_catalog.array_to_string(attacl, E'\n  ')     FROM pg_catalog.pg_attribute a     WHERE attrelid = c.oid AND NOT attisdropped AND attacl IS NOT NULL   ), E'\n') AS "Column privileges",   pg_catalog.array_to_string(ARRAY(     SELECT polname     || CASE WHEN NOT polpermissive THEN        E' (RESTRICTIVE)'        ELSE '' END     || CASE WHEN polcmd != '*' THEN            E' (' || polcmd::pg_catalog.text || E'):'        ELSE E':'        END     || CASE WHEN polqual IS NOT NULL THEN            E'\n  (u): ' || pg_catalog.pg_get_expr(polqual, polrelid)        ELSE E''        END     || CASE WHEN polwithcheck IS NOT NULL THEN            E'\n  (c): ' || pg_catalog.pg_get_expr(polwithcheck, polrelid)        ELSE E''        END    || CASE WHEN polroles <> '{0}' THEN            E'\n  to: ' || pg_catalog.array_to_string(                ARRAY(                    SELECT rolname                    FROM pg_catalog.pg_roles                    WHERE oid = ANY (polroles)                    ORDER BY 1                ), E', ')        ELSE E''        END     FROM pg_catalog.pg_policy pol     WHERE polrelid = c.oid), E'\n')     AS "Policies" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r','v','m','S','f','p')   AND n.nspname !~ '^pg_' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1, 2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','t','v','m','S','s','f','')   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','v','m','S','f','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('S','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner",   CASE c.relpersistence WHEN 'p' THEN 'permanent' WHEN 't' THEN 'temporary' WHEN 'u' THEN 'unlogged' END as "Persistence",   am.amname as "Access method",   pg_catalog.pg_size_pretty(pg_catalog.pg_table_size(c.oid)) as "Size",   pg_catalog.obj_description(c.oid, 'pg_class') as "Description" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r','p','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   c.relname as "Name",   CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",   pg_catalog.pg_get_userbyid(c.relowner) as "Owner",   c2.relname as "Table" FROM pg_catalog.pg_class c      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace      LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam      LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid      LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid WHERE c.relkind IN ('i','I','')       AND n.nspname <> 'pg_catalog'       AND n.nspname !~ '^pg_toast'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2
SELECT n.nspname as "Schema",   o.oprname AS "Name",   CASE WHEN o.oprkind='l' THEN NULL ELSE pg_catalog.format_type(o.oprleft, NULL) END AS "Left arg type",   CASE WHEN o.oprkind='r' THEN NULL ELSE pg_catalog.format_type(o.oprright, NULL) END AS "Right arg type",   pg_catalog.format_type(o.oprresult, NULL) AS "Result type",   coalesce(pg_catalog.obj_description(o.oid, 'pg_operator'),            pg_catalog.obj_description(o.oprcode, 'pg_proc')) AS "Description" FROM pg_catalog.pg_operator o      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace WHERE n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_operator_is_visible(o.oid) ORDER BY 1, 2, 3, 4
SELECT n.nspname as "Schema",   p.proname AS "Name",   pg_catalog.format_type(p.prorettype, NULL) AS "Result data type",   CASE WHEN p.pronargs = 0     THEN CAST('*' AS pg_catalog.text)     ELSE pg_catalog.pg_get_function_arguments(p.oid)   END AS "Argument data types",   pg_catalog.obj_description(p.oid, 'pg_proc') as "Description" FROM pg_catalog.pg_proc p      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.prokind = 'a'       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_function_is_visible(p.oid) ORDER BY 1, 2, 4
SELECT n.nspname as "Schema",   p.proname as "Name",   pg_catalog.pg_get_function_result(p.oid) as "Result data type",   pg_catalog.pg_get_function_arguments(p.oid) as "Argument data types",  CASE p.prokind   WHEN 'a' THEN 'agg'   WHEN 'w' THEN 'window'   WHEN 'p' THEN 'proc'   ELSE 'func'  END as "Type" FROM pg_catalog.pg_proc p      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE pg_catalog.pg_function_is_visible(p.oid)       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema' ORDER BY 1, 2, 4
SELECT n.nspname as "Schema",   pg_catalog.format_type(t.oid, NULL) AS "Name",   pg_catalog.obj_description(t.oid, 'pg_type') as "Description" FROM pg_catalog.pg_type t      LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid))   AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid)       AND n.nspname <> 'pg_catalog'       AND n.nspname <> 'information_schema'   AND pg_catalog.pg_type_is_visible(t.oid) ORDER BY 1, 2
SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname, pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,   'd' = any(stxkind) AS ndist_enabled,   'f' = any(stxkind) AS deps_enabled,   'm' = any(stxkind) AS mcv_enabled, stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '16471' ORDER BY nsp, stxname
SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname, pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,   'd' = any(stxkind) AS ndist_enabled,   'f' = any(stxkind) AS deps_enabled,   'm' = any(stxkind) AS mcv_enabled, stxstattarget FROM pg_catalog.pg_statistic_ext WHERE stxrelid = '16485' ORDER BY nsp, stxname
SELECT pg_catalog.format_type(castsource, NULL) AS "Source type",        pg_catalog.format_type(casttarget, NULL) AS "Target type",        CASE WHEN c.castmethod = 'b' THEN '(binary coercible)'             WHEN c.castmethod = 'i' THEN '(with inout)'             ELSE p.proname        END AS "Function",        CASE WHEN c.castcontext = 'e' THEN 'no'             WHEN c.castcontext = 'a' THEN 'in assignment'             ELSE 'yes'        END AS "Implicit?" FROM pg_catalog.pg_cast c LEFT JOIN pg_catalog.pg_proc p      ON c.castfunc = p.oid      LEFT JOIN pg_catalog.pg_type ts      ON c.castsource = ts.oid      LEFT JOIN pg_catalog.pg_namespace ns      ON ns.oid = ts.typnamespace      LEFT JOIN pg_catalog.pg_type tt      ON c.casttarget = tt.oid      LEFT JOIN pg_catalog.pg_namespace nt      ON nt.oid = tt.typnamespace WHERE ( (true  AND pg_catalog.pg_type_is_visible(ts.oid) ) OR (true  AND pg_catalog.pg_type_is_visible(tt.oid) ) ) ORDER BY 1, 2
SELECT pg_catalog.format_type(seqtypid, NULL) AS "Type",        seqstart AS "Start",        seqmin AS "Minimum",        seqmax AS "Maximum",        seqincrement AS "Increment",        CASE WHEN seqcycle THEN 'yes' ELSE 'no' END AS "Cycles?",        seqcache AS "Cache" FROM pg_catalog.pg_sequence WHERE seqrelid = '16492'
SELECT pg_catalog.quote_ident(nspname) || '.' ||    pg_catalog.quote_ident(relname) || '.' ||    pg_catalog.quote_ident(attname),    d.deptype FROM pg_catalog.pg_class c INNER JOIN pg_catalog.pg_depend d ON c.oid=d.refobjid INNER JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace INNER JOIN pg_catalog.pg_attribute a ON (  a.attrelid=c.oid AND  a.attnum=d.refobjsubid) WHERE d.classid='pg_catalog.pg_class'::pg_catalog.regclass  AND d.refclassid='pg_catalog.pg_class'::pg_catalog.regclass  AND d.objid='16492'  AND d.deptype IN ('a', 'i')
SELECT pol.polname, pol.polpermissive,   CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where oid = any (pol.polroles) order by 1),',') END,   pg_catalog.pg_get_expr(pol.polqual, pol.polrelid),   pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid),   CASE pol.polcmd     WHEN 'r' THEN 'SELECT'     WHEN 'a' THEN 'INSERT'     WHEN 'w' THEN 'UPDATE'     WHEN 'd' THEN 'DELETE'     END AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '16471' ORDER BY 1
SELECT pol.polname, pol.polpermissive,   CASE WHEN pol.polroles = '{0}' THEN NULL ELSE pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where oid = any (pol.polroles) order by 1),',') END,   pg_catalog.pg_get_expr(pol.polqual, pol.polrelid),   pg_catalog.pg_get_expr(pol.polwithcheck, pol.polrelid),   CASE pol.polcmd     WHEN 'r' THEN 'SELECT'     WHEN 'a' THEN 'INSERT'     WHEN 'w' THEN 'UPDATE'     WHEN 'd' THEN 'DELETE'     END AS cmd FROM pg_catalog.pg_policy pol WHERE pol.polrelid = '16485' ORDER BY 1
SELECT pubname      , NULL      , NULL FROM pg_catalog.pg_publication p      JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid      JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid ='16471' and pg_catalog.pg_relation_is_publishable('16471') UNION SELECT pubname      , pg_get_expr(pr.prqual, c.oid)      , (CASE WHEN pr.prattrs IS NOT NULL THEN          (SELECT string_agg(attname, ', ')            FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,                 pg_catalog.pg_attribute           WHERE attrelid = pr.prrelid AND attnum = prattrs[s])         ELSE NULL END) FROM pg_catalog.pg_publication p      JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid      JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '16471' UNION SELECT pubname      , NULL      , NULL FROM pg_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16471') ORDER BY 1
SELECT pubname      , NULL      , NULL FROM pg_catalog.pg_publication p      JOIN pg_catalog.pg_publication_namespace pn ON p.oid = pn.pnpubid      JOIN pg_catalog.pg_class pc ON pc.relnamespace = pn.pnnspid WHERE pc.oid ='16485' and pg_catalog.pg_relation_is_publishable('16485') UNION SELECT pubname      , pg_get_expr(pr.prqual, c.oid)      , (CASE WHEN pr.prattrs IS NOT NULL THEN          (SELECT string_agg(attname, ', ')            FROM pg_catalog.generate_series(0, pg_catalog.array_upper(pr.prattrs::pg_catalog.int2[], 1)) s,                 pg_catalog.pg_attribute           WHERE attrelid = pr.prrelid AND attnum = prattrs[s])         ELSE NULL END) FROM pg_catalog.pg_publication p      JOIN pg_catalog.pg_publication_rel pr ON p.oid = pr.prpubid      JOIN pg_catalog.pg_class c ON c.oid = pr.prrelid WHERE pr.prrelid = '16485' UNION SELECT pubname      , NULL      , NULL FROM pg_catalog.pg_publication p WHERE p.puballtables AND pg_catalog.pg_relation_is_publishable('16485') ORDER BY 1
SELECT pubname AS "Name",   pg_catalog.pg_get_userbyid(pubowner) AS "Owner",   puballtables AS "All tables",   pubinsert AS "Inserts",   pubupdate AS "Updates",   pubdelete AS "Deletes",   pubtruncate AS "Truncates",   pubviaroot AS "Via root" FROM pg_catalog.pg_publication ORDER BY 1
SELECT r.conname, pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r WHERE r.conrelid = '16485' AND r.contype = 'c' ORDER BY 1
SELECT r.rolname, r.rolsuper, r.rolinherit,   r.rolcreaterole, r.rolcreatedb, r.rolcanlogin,   r.rolconnlimit, r.rolvaliduntil,   ARRAY(SELECT b.rolname         FROM pg_catalog.pg_auth_members m         JOIN pg_catalog.pg_roles b ON (m.roleid = b.oid)         WHERE m.member = r.oid) as memberof , r.rolreplication , r.rolbypassrls FROM pg_catalog.pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY 1
SELECT rolname AS "Role", datname AS "Database", pg_catalog.array_to_string(setconfig, E'\n') AS "Settings" FROM pg_catalog.pg_db_role_setting s LEFT JOIN pg_catalog.pg_database d ON d.oid = setdatabase LEFT JOIN pg_catalog.pg_roles r ON r.oid = setrole ORDER BY 1, 2
SELECT s.name AS "Parameter", pg_catalog.current_setting(s.name) AS "Value" FROM pg_catalog.pg_settings s WHERE s.source <> 'default' AND       s.setting IS DISTINCT FROM s.boot_val ORDER BY 1
SELECT spcname AS "Name",   pg_catalog.pg_get_userbyid(spcowner) AS "Owner",   pg_catalog.pg_tablespace_location(oid) AS "Location" FROM pg_catalog.pg_tablespace ORDER BY 1
select sum(k) from (select a as k from t where a between 1 and 100) x
select c from t where a=1
select distinct c from t where a between 1 and 100 order by c
update t set c=c+1 where a=1
select abalance from (select a as abalance from t) q where abalance = 1
select * from pg_roles
select * from pg_indexes
select * from pg_views
select * from pg_stat_activity
select * from pg_settings
select * from pg_locks
select * from pg_stat_user_tables
select * from pg_database
select * from information_schema.columns
select * from information_schema.table_constraints
select * from information_schema.key_column_usage
select * from information_schema.schemata
select * from information_schema.referential_constraints
select * from information_schema.sequences
select * from information_schema.views
select * from information_schema.routines
select * from pg_sequences
select * from pg_user
select * from pg_shadow
select * from pg_matviews
select * from pg_timezone_names
with recursive r as (select 1 as n union select n + 1 from r where n < 10) select sum(n) from r
with recursive a as (select * from b), b as (select 1 as x) select * from a
with recursive a as (select 1 as x union all select x from a where false), b as (select * from a) select * from b
with recursive x(n) as (select 1 union all select n+1 from x where n < 5 order by 1) select * from x
with recursive x(n) as (select 1 union all (select n+1 from x where n < 5)) select * from x
with recursive x(n) as (select 1 intersect select n+1 from x) select * from x
with recursive x(n) as (select 1 union all select count(*) from x) select * from x
with recursive x(n) as (select 1 union all select t.a from t left join x on x.n = t.a) select * from x
with recursive x(n) as (select 1 union all select x1.n from x x1, x x2) select * from x
with recursive x(n) as (select 1 union all select 1 where exists (select 1 from x)) select * from x
with recursive x(n) as (select 'a' union all select n || 'b' from x) select * from x
with recursive x(n) as (select 1::numeric(5,1) union all select n + 1 from x) select * from x
with q as (select a from t) select * from q, q q2 where q.a = q2.a
with q as (select a from t), w as (select * from q) select * from w union select * from q
select (with q as (select 1 as z) select z from q)
select * from (with q as (select 1 as z) select z from q) s
with q as materialized (select 1) select * from q
with q as (select 1 as x) select (select x from q), exists (select 1 from q where x = t.a) from t
with q as (insert into t (a) values (1)) select 1
select * from t where a in (with q as (delete from t returning a) select * from q)
insert into t with q as (select 5) select * from q
insert into t (a) (select 1)
insert into t (a) (values (1), (2))
insert into t (a) select 1 union select 2
insert into t (a, b) select a, 'x' from u group by a
insert into t select 1, 'x', 'y'
insert into t (a, b) values (1, $1) returning $2::int
insert into t (a, b) values ((1, 2))
insert into t (a, b) values ((select 1), (select 'x'))
insert into t (a) values (a)
insert into t (a) values (t.a)
insert into t (a) values (sum(1))
insert into t (a) values (default), ('x')
insert into t (a) values (generate_series(1, 3))
insert into t (a) values (generate_series(1, 3)), (1)
insert into t (nosuch.a) values (1)
insert into t as x (a) values (1) returning x.a
insert into t as x (a) values (1) returning t.a
update nosuch set a = 1
update t set a = 1 from t
update t set a = 1 from t t2 where t2.a = t.a
update t set t.a = 1
update t set a = x.a from (select 1 as a) x
update t set a = (select a, b from t)
update t set b = (select 1)
update t set a = default, b = default
delete from t using t
delete from t where nosuch = 1
delete from t returning nosuch
delete from t x where x.a = 1 returning x.*
update t set a = 1 returning t.*, 1 as one
select a from only t
select * from t where current_date > d
select a from t where b in ('a', 'b') or a in (1)
select a from t where (a, b) in ((1, 'x'), (2, 'y'))
select a from t where a in (1, 2.5)
select a from t where a in (1, 'x')
select a from t where a in ('1', '2')
select a from t where b in (1, 2)
select a from t where a in (a, 1)
select a from t where a = all (select a from u)
select a from t where a > some (select a from u)
select a from t where (a, 1) = any (select a, x from u)
select a from t where row(a) = (select a from u)
select a from t where a <> all (array[1,2]::bigint[])
select x from u where x in (1, 2)
select x from u where x = any('{1,2}'::int[])
select count(*) filter (where a > 1), count(*) filter (where sum(a) > 1) from t
select count(distinct a, b) from t
select count(*) over (partition by b order by a range between 1 preceding and 1 following) from t
select count(*) over (order by b range between 1 preceding and 1 following) from t
select count(*) over (order by a, b range between 1 preceding and 1 following) from t
select count(*) over (rows between a preceding and current row) from t
select count(*) over (groups 1 preceding) from t
select lag(a, 1, 0) over (order by b), lead(b) over w, nth_value(a, 2) over w, last_value(a) over w from t window w as (order by a)
select max(a) over (), min(b) over (partition by c) from t group by a, b, c
select a, sum(c) from t group by a order by sum(c) desc nulls last limit 5
select t.a, t.b, sum(u.x) from t join u on u.a = t.a group by t.a
select u.a, t.b from t join u on u.a = t.a group by u.a
select b from t group by 1 having max(a) > 1 and b > 'a'
select a % 2, count(*) from t group by a % 2
select a % 2 + 1, count(*) from t group by a % 2
select case when a > 1 then 1 end, count(*) from t group by case when a > 1 then 1 end
select b as a, count(*) from t group by a
select b as z, max(a) from t group by z order by z
select x.b from t x group by b
select 1 from t group by ()
select grouping(a, b), a, b from t group by cube (a, b)
select a, b from t group by grouping sets ((a, b), rollup (a))
select a from t group by distinct rollup (a), rollup (a)
select distinct a, count(*) over () from t
select distinct on (1) a, b from t
select distinct z from u
select json '{"a":1}', '{}'::json
select j from (select '1'::json as j) x order by j
select j from (select '1'::json as j) x group by j
select distinct j from (select '1'::json as j) x
select j from (select '1'::json as j) x union select '2'::json
select j = j from (select '1'::json as j) x
