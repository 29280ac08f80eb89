#!/usr/bin/env bash
# pgbench's TPC-B in its three query modes, then killed in the middle; the sums must agree afterwards.
#   bench/suite/pgbench.sh [ours|postgres]      (default: ours)
#   SCALE=5 CLIENTS=8 SECONDS_EACH=20
source "$(dirname "$0")/lib.sh"
target=${1:-ours} scale=${SCALE:-5} clients=${CLIENTS:-8} seconds=${SECONDS_EACH:-20}
"start_$target"
[ "$target" = ours ] && port=$ours_port || port=$pg_port
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=postgres PGDATABASE=postgres

invariant() { # WHEN
  read -r a t b h n < <(sql "$port" 'select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from pgbench_tellers),
    (select sum(bbalance) from pgbench_branches), (select coalesce(sum(delta), 0) from pgbench_history), (select count(*) from pgbench_history)')
  [ "$a" = "$t" ] && [ "$t" = "$b" ] && [ "$b" = "$h" ] || fail "$1: accounts $a, tellers $t, branches $b, history $h"
}

time pgbench -i -s "$scale" -q || fail "pgbench -i"
[ "$(sql "$port" 'select count(*) from pgbench_accounts')" = $((scale * 100000)) ] || fail "wrong number of accounts"
done_before=0
for mode in simple extended prepared; do
  report=$(pgbench -M "$mode" -c "$clients" -T "$seconds" -n 2>&1) || fail "$mode: $report"
  grep -E 'latency average|tps =|failed transactions' <<<"$report" | sed "s/^/$mode: /"
  grep -q 'failed transactions: 0 ' <<<"$report" || fail "$mode: $report"
  invariant "$mode"
  processed=$(grep -oE 'actually processed: [0-9]+' <<<"$report" | grep -oE '[0-9]+$')
  done_before=$((done_before + processed))
  [ "$n" = "$done_before" ] || fail "$mode: $n rows of history, $done_before transactions"
done
if [ "$target" = ours ]; then
  for mode in simple prepared; do
    pgbench -M "$mode" -c "$clients" -T 600 -n >/dev/null 2>&1 &
    load=$!
    sleep $((seconds / 4 + 1))
    kill_ours
    wait "$load" || true
    start_ours
    invariant "killed under $mode"
    [ "$n" -gt "$done_before" ] || fail "nothing happened before the kill"
    done_before=$n
    echo "killed under $mode: $n transactions in the history, sums agree"
  done
fi
verdict
