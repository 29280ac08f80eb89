#!/usr/bin/env bash
# Stock sysbench in full: six OLTP scripts x two prepared-statement modes x 1 and 16 threads, with checks of the data.
#   bench/suite/sysbench.sh [ours|postgres]     (default: ours)
#   SECONDS_EACH=20 ROWS=100000 SCRIPTS="oltp_point_select ..." THREADS="1 16" MODES="disable auto"
source "$(dirname "$0")/lib.sh"
target=${1:-ours} seconds=${SECONDS_EACH:-20} rows=${ROWS:-100000}
scripts=${SCRIPTS:-oltp_point_select oltp_read_only oltp_read_write oltp_insert oltp_update_index oltp_delete}
"start_$target"
[ "$target" = ours ] && port=$ours_port || port=$pg_port

bench() { # SCRIPT MODE THREADS COMMAND
  sysbench "$1" --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port="$port" --pgsql-user=postgres --pgsql-db=postgres \
    --table-size="$rows" --db-ps-mode="$2" --threads="$3" --time="$seconds" --percentile=95 "$4" 2>&1
}
state() { sql "$port" 'select count(*), coalesce(sum(k), 0), count(distinct id), (select count(*) from sbtest1 where k > -1) from sbtest1'; }
number() { grep -oE "$1 +[0-9]+" <<<"$report" | grep -oE '[0-9]+$'; }

printf '| script | ps-mode | threads | tps | p95 ms | ignored errors |\n|---|---|---:|---:|---:|---:|\n'
for script in $scripts; do
  bench "$script" disable 1 cleanup >/dev/null || true
  bench "$script" disable 1 prepare >/dev/null || fail "$script prepare"
  for mode in ${MODES:-disable auto}; do
    for threads in ${THREADS:-1 16}; do
      if [ "$script" = oltp_delete ]; then # or nothing is left to delete
        bench "$script" disable 1 cleanup >/dev/null
        bench "$script" disable 1 prepare >/dev/null
      fi
      read -r count sum _ _ < <(state)
      report=$(bench "$script" "$mode" "$threads" run) || fail "$script $mode $threads: $report"
      grep -q FATAL <<<"$report" && fail "$script $mode $threads: $(grep FATAL <<<"$report" | head -3)"
      events=$(number 'total number of events:') ignored=$(number 'ignored errors:')
      printf '| %s | %s | %s | %s | %s | %s |\n' "$script" "$mode" "$threads" \
        "$(grep -oE 'transactions: +[0-9]+ +\([0-9.]+' <<<"$report" | grep -oE '[0-9.]+$')" \
        "$(grep -oE '95th percentile: +[0-9.]+' <<<"$report" | grep -oE '[0-9.]+$')" "$ignored"
      read -r count2 sum2 distinct by_index < <(state)
      [ "$count2" = "$distinct" ] || fail "$script: $count2 rows, $distinct ids"
      [ "$count2" = "$by_index" ] || fail "$script: $count2 rows, $by_index by the index on k"
      # A statement that was under way when the time was up may have happened without being counted.
      case $script in
        oltp_point_select | oltp_read_only) [ "$count2 $sum2" = "$count $sum" ] || fail "$script changed the table: $count $sum -> $count2 $sum2" ;;
        oltp_read_write) [ "$count2" = "$count" ] || fail "$script: $count rows -> $count2" ;;
        oltp_insert) [ $((count2 - count - events)) -ge 0 ] && [ $((count2 - count - events)) -le "$threads" ] || fail "$script: $count rows + $events events -> $count2" ;;
        oltp_update_index) [ $((sum2 - sum - events)) -ge 0 ] && [ $((sum2 - sum - events)) -le "$threads" ] && [ "$count2" = "$count" ] || fail "$script: sum(k) $sum + $events events -> $sum2" ;;
        oltp_delete) [ "$count2" -lt "$count" ] && [ $((count - count2)) -le $((events + threads)) ] || fail "$script: $count rows, $events events -> $count2" ;;
      esac
      case $script in
        oltp_read_write) ;; # deadlocks and duplicate keys happen on PostgreSQL too
        *) [ "$ignored" = 0 ] || fail "$script $mode $threads: $ignored ignored errors" ;;
      esac
    done
  done
done
verdict
