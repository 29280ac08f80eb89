a > 0
a > 0 and b <> 'x' or not (c is null)
a + 1 * 2
- a
-5
5000000000
1.5
'x'
'it''s'
'a\b'
true
null::int
a::bigint
a::text
'5'::int
b::varchar(3)
'abc'::varchar(3)
'abc'::char(5)
c::int
c::numeric(5,1)
1.5::numeric(5,1)
lower(b)
b || 'x'
a in (1, 2, 3)
a = any (array[1, 2])
a not in (1, 2)
a between 1 and 10
b like 'x%'
b ilike 'x%'
a is distinct from 1
coalesce(a, 0)
nullif(a, 1)
greatest(a, 1, 2)
case when a > 1 then 'x' else 'y' end
case a when 1 then 'one' when 2 then 'two' end
case when a > 1 then case when b = 'x' then 1 else 2 end end
substring(b from 1 for 2)
trim(b)
trim(leading 'x' from b)
position('x' in b)
overlay(b placing 'x' from 1)
substr(b, 1, 2)
array[1, 2]
array[]::int[]
(array[1, 2])[1]
(a, b) < (1, 'x')
(a, b) = (1, 'x')
row(a, b) is null
(a > 1) is true
(a > 1) is not unknown
a % 2 = 0
c * 1.1
c > 5
a::float8 / 2
length(b) > 5
abs(a - 5)
'2020-01-01'::date
date '2020-01-01' + a
interval '1 day'
a = 1 and b = 'x' and c = 2
not a > 1
(a)::smallint
b = 'x'::text
upper(b)::varchar
"left"(b, 1)
