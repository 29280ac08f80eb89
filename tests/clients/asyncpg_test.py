"""asyncpg, which speaks binary only and asks the catalogs about types, against the server at PGHOST:PGPORT."""

import asyncio
import datetime as dt
import decimal
import sys
import uuid

import asyncpg

UTC = dt.timezone.utc
VALUES = [
    ("bool", True),
    ("int2", -32768),
    ("int4", 2147483647),
    ("int8", 9223372036854775807),
    ("float4", 1.5),
    ("float8", 1e300),
    ("numeric", decimal.Decimal("123456789012345678901234567890.123456789")),
    ("numeric", decimal.Decimal("-0.001")),
    ("text", "é 日本語 \\ '"),
    ("varchar", "abc"),
    ("bytea", b"\x00\xff"),
    ("date", dt.date(2020, 2, 29)),
    ("time", dt.time(23, 59, 59, 999999)),
    ("timestamp", dt.datetime(1999, 12, 31, 23, 59, 59, 123456)),
    ("timestamptz", dt.datetime(2020, 7, 1, 12, 0, tzinfo=UTC)),
    ("interval", dt.timedelta(days=5, hours=3, microseconds=7)),
    ("uuid", uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")),
    ("json", '{"a": 1}'),
    ("int4[]", [1, None, 3]),
    ("text[]", ["a", "b c"]),
]


async def test_types(conn):
    for name, value in VALUES:
        got = await conn.fetchval(f"select $1::{name}", value)
        assert got == value, (name, value, got)
        assert await conn.fetchval(f"select $1::{name}", None) is None


async def test_table_and_records(conn):
    await conn.execute("drop table if exists apg; create table apg (id serial primary key, v text, n numeric(10,2))")
    await conn.executemany("insert into apg (v, n) values ($1, $2)", [("a", decimal.Decimal("1.5")), ("b", None)])
    rows = await conn.fetch("select * from apg order by id")
    assert [dict(r) for r in rows] == [
        {"id": 1, "v": "a", "n": decimal.Decimal("1.50")},
        {"id": 2, "v": "b", "n": None},
    ], rows
    assert await conn.fetchval("insert into apg (v) values ($1) returning id", "c") == 3
    assert await conn.execute("update apg set v = 'z' where id > $1", 1) == "UPDATE 2"
    assert await conn.fetchrow("select 1 where false") is None


async def test_transactions(conn):
    await conn.execute("drop table if exists apg_tx; create table apg_tx (a int primary key)")
    try:
        async with conn.transaction():
            await conn.execute("insert into apg_tx values (1)")
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    async with conn.transaction():
        await conn.execute("insert into apg_tx values (2)")
        try:
            async with conn.transaction():
                await conn.execute("insert into apg_tx values (2)")
        except asyncpg.UniqueViolationError as e:
            assert e.constraint_name == "apg_tx_pkey"
        await conn.execute("insert into apg_tx values (3)")
    assert [r[0] for r in await conn.fetch("select a from apg_tx order by a")] == [2, 3]


async def test_cursor(conn):
    async with conn.transaction():
        seen = [r[0] async for r in conn.cursor("select generate_series(1, 120)", prefetch=50)]
    assert seen == list(range(1, 121))


async def test_prepared(conn):
    statement = await conn.prepare("select $1::int + $2::int8 as s, $3::text")
    assert [p.name for p in statement.get_parameters()] == ["int4", "int8", "text"]
    assert [(a.name, a.type.name) for a in statement.get_attributes()] == [("s", "int8"), ("text", "text")]
    for i in range(10):
        assert tuple(await statement.fetchrow(i, 1, "x")) == (i + 1, "x")


async def test_copy(conn):
    await conn.execute("drop table if exists apg_copy; create table apg_copy (a int, b text)")
    import io

    await conn.copy_to_table("apg_copy", source=io.BytesIO(b"1\tx\n2\t\\N\n"), format="text")
    out = io.BytesIO()
    await conn.copy_from_query("select * from apg_copy order by a", output=out, format="csv")
    assert out.getvalue() == b"1,x\n2,\n", out.getvalue()


async def test_errors(conn):
    for sql, kind in [
        ("selec", asyncpg.PostgresSyntaxError),
        ("select nosuch", asyncpg.UndefinedColumnError),
        ("select 1 / 0", asyncpg.DivisionByZeroError),
        ("select 'x'::int", asyncpg.InvalidTextRepresentationError),
    ]:
        try:
            await conn.fetch(sql)
        except kind:
            continue
        raise AssertionError(sql)


async def test_timeout_cancels(conn):
    try:
        await conn.fetch("select pg_sleep(10)", timeout=0.2)
    except asyncio.TimeoutError:
        pass
    assert await conn.fetchval("select 1") == 1


async def test_pool(conn):
    await conn.execute("drop table if exists apg_pool; create table apg_pool (a int)")
    async with asyncpg.create_pool(database="postgres", min_size=2, max_size=8) as pool:
        await asyncio.gather(*[pool.execute("insert into apg_pool values ($1)", i) for i in range(100)])
        assert await pool.fetchval("select sum(a) from apg_pool") == 4950


async def main():
    failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            conn = await asyncpg.connect(database="postgres")
            try:
                await asyncio.wait_for(test(conn), 60)
                print("ok", name)
            except BaseException as e:
                failed += 1
                print("FAILED", name, type(e).__name__, str(e)[:500])
            await conn.close()
    return failed


sys.exit(1 if asyncio.run(main()) else 0)
