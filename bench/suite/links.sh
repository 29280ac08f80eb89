#!/usr/bin/env bash
# A URL shortener on both servers: load by psql, prepared reads and writes from 50 connections, without an index and with one.
#   bench/suite/links.sh
#   ROWS=500000 CONNECTIONS=50 SECONDS_EACH=10
source "$(dirname "$0")/lib.sh"
rows=${ROWS:-500000} connections=${CONNECTIONS:-50} seconds=${SECONDS_EACH:-10}
cargo build --release --manifest-path "$root/Cargo.toml" -p tests --bin links >&2
driver=$CARGO_TARGET_DIR/release/links
start_ours
start_postgres
cat >"$work/load.sql" <<SQL
CREATE TABLE IF NOT EXISTS links (code TEXT NOT NULL, url TEXT NOT NULL, created_at TIMESTAMPTZ NOT NULL DEFAULT now());
INSERT INTO links (code, url) SELECT 'seed' || lpad(i::text, 6, '0'), 'https://example.com/page/' || i FROM generate_series(1, $rows) AS i;
SQL
milliseconds() { date +%s%3N; }
each() { # NAME COMMAND...: runs the command with \$port set, for both servers
  local what=$1; shift
  for name in pgfusion postgresql; do
    [ "$name" = pgfusion ] && port=$ours_port || port=$pg_port
    echo "$what, $name: $("$@" 2>&1 | paste -sd '; ')"
  done
}
load() {
  local start; start=$(milliseconds)
  psql -h 127.0.0.1 -p "$port" -U postgres -Xq -v ON_ERROR_STOP=1 -f "$work/load.sql" || echo FAILED
  echo "$(($(milliseconds) - start)) ms"
}
drive() { "$driver" "postgres://postgres@127.0.0.1:$port/postgres" "$connections" "$seconds" "$rows" || echo FAILED; }
index() { local start; start=$(milliseconds); sql "$port" 'create unique index links_code on links (code)'; echo "$(($(milliseconds) - start)) ms"; }
count() { sql "$port" 'select count(*), count(distinct code), min(code), max(length(url)) from links'; }

each load load
for p in "$ours_port" "$pg_port"; do sql "$p" 'vacuum analyze links' || fail vacuum; done
each "without an index" drive
echo; sql "$ours_port" "explain analyze select url from links where code = 'seed000123'"
sql "$ours_port" "explain analyze select url from links where code = 'seed000123'" | grep -q 'Rows Removed by Filter: [0-9]' || fail "EXPLAIN ANALYZE shows no rows removed"
echo
each "create index" index
each "with an index" drive
before=$(port=$ours_port count)
kill_ours
start_ours
after=$(port=$ours_port count)
[ "$before" = "$after" ] || fail "before the restart $before, after it $after"
echo "after kill -9 and restart: $after"
verdict
