"""psycopg 3 against the server at PGHOST:PGPORT: every type, text and binary, transactions, errors, COPY, pipelines."""

import datetime as dt
import decimal
import sys
import uuid

import psycopg
from psycopg import errors
from psycopg.rows import dict_row

BINARY = sys.argv[1] == "binary"
UTC = dt.timezone.utc

# (SQL type, value to send, value expected back if it is another)
VALUES = [
    ("bool", True),
    ("bool", False),
    ("int2", -32768),
    ("int4", 2147483647),
    ("int8", -9223372036854775808),
    ("oid", 4294967295),
    ("float4", 1.5),
    ("float8", 1e-300),
    ("float8", float("inf")),
    ("numeric", decimal.Decimal("12345678901234567890123456789012345678901234567890.123456789")),
    ("numeric", decimal.Decimal("-0.00001")),
    ("numeric", decimal.Decimal("0")),
    ("text", "it's \\ \"quoted\"\ttab\nnewline é 日本語"),
    ("text", ""),
    ("varchar", "abc"),
    ("bytea", b"\x00\xff\\'\x80"),
    ("bytea", b""),
    ("date", dt.date(2020, 2, 29)),
    ("date", dt.date(1, 1, 1)),
    ("date", dt.date(9999, 12, 31)),
    ("time", dt.time(23, 59, 59, 999999)),
    ("timestamp", dt.datetime(1999, 12, 31, 23, 59, 59, 123456)),
    ("timestamptz", dt.datetime(2020, 7, 1, 12, 0, tzinfo=UTC)),
    ("interval", dt.timedelta(days=5, hours=3, microseconds=7)),
    ("interval", dt.timedelta(days=-1)),
    ("uuid", uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")),
]


def connect(**options):
    return psycopg.connect("dbname=postgres", **options)


def test_types_round_trip():
    with connect(autocommit=True) as conn:
        cur = conn.cursor(binary=BINARY)
        for name, value in VALUES:
            got = cur.execute(f"select %s::{name}", [value]).fetchone()[0]
            assert got == value and type(got) is type(value), (name, value, got)
            placeholder = "%b" if BINARY else "%t"
            got = cur.execute(f"select {placeholder}::{name}", [value]).fetchone()[0]
            assert got == value, (name, placeholder, value, got)
            assert cur.execute(f"select %s::{name}", [None]).fetchone()[0] is None
        got = cur.execute("select 'NaN'::float8, 'NaN'::numeric").fetchone()
        assert got[0] != got[0] and got[1].is_nan()
        assert cur.execute("""select '{"a": [1, null]}'::json""").fetchone()[0] == {"a": [1, None]}
        assert cur.execute("select array[1, null, 3], array['a', 'b c']").fetchone() == ([1, None, 3], ["a", "b c"])


def test_types_through_a_table():
    with connect(autocommit=True) as conn:
        conn.execute("drop table if exists py_types")
        columns = ", ".join(f"c{i} {name}" for i, (name, _) in enumerate(VALUES))
        conn.execute(f"create table py_types ({columns})")
        cur = conn.cursor(binary=BINARY)
        marks = ", ".join(["%s"] * len(VALUES))
        cur.execute(f"insert into py_types values ({marks})", [value for _, value in VALUES])
        assert cur.execute("select * from py_types").fetchone() == tuple(value for _, value in VALUES)
        for i, (name, value) in enumerate(VALUES):
            found = cur.execute(f"select count(*) from py_types where c{i} = %s", [value]).fetchone()[0]
            assert found == 1, (name, value)
        conn.execute("drop table py_types")


def test_transactions():
    with connect() as conn:
        conn.execute("drop table if exists py_tx")
        conn.execute("create table py_tx (a int primary key)")
        conn.commit()
        conn.execute("insert into py_tx values (1)")
        conn.rollback()
        with conn.transaction():
            conn.execute("insert into py_tx values (2)")
        try:
            with conn.transaction():
                conn.execute("insert into py_tx values (3)")
                conn.execute("insert into py_tx values (2)")
        except errors.UniqueViolation as e:
            assert e.diag.constraint_name == "py_tx_pkey", e.diag.constraint_name
            assert e.diag.message_detail == "Key (a)=(2) already exists."
        else:
            raise AssertionError("no unique violation")
        with conn.transaction():
            try:
                with conn.transaction():  # a savepoint
                    conn.execute("insert into py_tx values (4)")
                    raise ZeroDivisionError
            except ZeroDivisionError:
                pass
            conn.execute("insert into py_tx values (5)")
        assert conn.execute("select array_agg(a order by a) from py_tx").fetchone()[0] == [2, 5]
        conn.rollback()
        conn.execute("drop table py_tx")
        conn.commit()


def test_failed_transaction():
    with connect() as conn:
        try:
            conn.execute("select 1 / 0")
        except errors.DivisionByZero:
            pass
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        try:
            conn.execute("select 1")
        except errors.InFailedSqlTransaction:
            pass
        else:
            raise AssertionError("accepted in a failed transaction")
        conn.rollback()
        assert conn.execute("select 1").fetchone() == (1,)


def test_errors():
    with connect(autocommit=True) as conn:
        for sql, kind in [
            ("selec 1", errors.SyntaxError),
            ("select nosuch", errors.UndefinedColumn),
            ("select * from nosuch", errors.UndefinedTable),
            ("select nosuch()", errors.UndefinedFunction),
            ("select 'x'::int", errors.InvalidTextRepresentation),
            ("select 2147483647 + 1", errors.NumericValueOutOfRange),
        ]:
            try:
                conn.execute(sql)
            except kind:
                continue
            raise AssertionError(sql)


def test_executemany_and_returning():
    with connect(autocommit=True) as conn:
        conn.execute("drop table if exists py_many")
        conn.execute("create table py_many (id serial primary key, v text)")
        cur = conn.cursor(binary=BINARY)
        cur.executemany("insert into py_many (v) values (%s) returning id", [("a",), ("b",), ("c",)], returning=True)
        ids = []
        while True:
            ids.append(cur.fetchone()[0])
            if not cur.nextset():
                break
        assert ids == [1, 2, 3], ids
        cur = conn.cursor(row_factory=dict_row)
        assert cur.execute("select * from py_many where id = %s", [2]).fetchone() == {"id": 2, "v": "b"}
        cur.execute("update py_many set v = v || '!'")
        assert cur.rowcount == 3
        conn.execute("drop table py_many")


def test_prepared_many_times():
    with connect(autocommit=True, prepare_threshold=0) as conn:
        for i in range(20):
            assert conn.execute("select %s::int + 1", [i]).fetchone()[0] == i + 1
        conn.prepare_threshold = None
        assert conn.execute("select %s::int", [7]).fetchone()[0] == 7


def test_pipeline():
    with connect(autocommit=True) as conn:
        conn.execute("drop table if exists py_pipe")
        with conn.pipeline():
            conn.execute("create table py_pipe (a int primary key)")
            cur = conn.cursor()
            cur.executemany("insert into py_pipe values (%s)", [(i,) for i in range(50)])
            total = conn.execute("select sum(a) from py_pipe")
            assert total.fetchone()[0] == 1225
        try:
            with conn.pipeline() as pipe:
                conn.execute("insert into py_pipe values (100)")
                conn.execute("insert into py_pipe values (1)")
                conn.execute("insert into py_pipe values (101)")
                pipe.sync()
        except errors.UniqueViolation:
            pass
        else:
            raise AssertionError("no unique violation")
        assert conn.execute("select count(*) from py_pipe").fetchone()[0] == 50
        conn.execute("drop table py_pipe")


def test_copy():
    with connect(autocommit=True) as conn:
        conn.execute("drop table if exists py_copy")
        conn.execute("create table py_copy (a int, b text, c timestamptz)")
        cur = conn.cursor()
        rows = [(1, "x", dt.datetime(2020, 1, 1, tzinfo=UTC)), (2, None, None), (3, "tab\tnl\n\\", None)]
        with cur.copy("copy py_copy from stdin") as copy:
            for row in rows:
                copy.write_row(row)
        assert cur.rowcount == 3
        assert cur.execute("select * from py_copy order by a").fetchall() == rows
        with cur.copy("copy (select a, b from py_copy order by a) to stdout") as copy:
            copy.set_types(["int4", "text"])
            assert list(copy.rows()) == [row[:2] for row in rows]
        conn.execute("drop table py_copy")


def test_server_side_cursor():
    with connect() as conn:
        cur = conn.cursor("named")
        cur.execute("select generate_series(1, 1000)")
        assert cur.fetchmany(3) == [(1,), (2,), (3,)]
        assert len(cur.fetchall()) == 997


def test_notices_and_parameters():
    with connect(autocommit=True) as conn:
        heard = []
        conn.add_notice_handler(lambda diag: heard.append((diag.sqlstate, diag.message_primary)))
        conn.execute("drop table if exists nosuch")
        assert heard == [("00000", 'table "nosuch" does not exist, skipping')], heard
        assert conn.info.parameter_status("server_version").startswith("15")
        assert 150000 <= conn.info.server_version < 160000
        assert conn.info.encoding == "utf-8"


def test_cancel():
    with connect(autocommit=True) as conn:
        import threading

        threading.Timer(0.2, conn.cancel).start()
        try:
            conn.execute("select pg_sleep(10)")
        except errors.QueryCanceled:
            pass
        else:
            raise AssertionError("not cancelled")
        assert conn.execute("select 1").fetchone() == (1,)


failed = 0
for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
            print("ok", name)
        except BaseException as e:
            failed += 1
            print("FAILED", name, type(e).__name__, str(e)[:500])
sys.exit(1 if failed else 0)
