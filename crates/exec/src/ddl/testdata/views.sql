select a, b from t where a > 1
select x.a, u.b, y.b as yb from t x join u on x.a = u.a left join t y on y.a = u.b order by x.b desc, 1 limit 5
select b, count(*), sum(a) filter (where a > 2) as s from t group by b having count(*) > 1
select a from t union all select a from u union select b::int from t order by 1
with w as (select a from t) select w.a, (select max(u.b) from u where u.a = w.a) m from w where exists (select 1 from u where u.a = w.a) and w.a in (select a from u)
select distinct on (b) b, a from t order by b, a desc nulls last
select row_number() over (partition by b order by a), g from t, generate_series(1,3) g
select case when a > 1 then 'x' else 'y' end as c, coalesce(b, 'z') from t
select s.a, s.n from (select a, count(*) n from t group by a) s
values (1, 'a'), (2, 'b')
select a + 1 as "X y", -a, not (a = 1) as n from t
