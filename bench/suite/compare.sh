#!/usr/bin/env bash
# Latencies side by side: the release build against a private PostgreSQL 15, by run.py of the shared sysbench suite.
#   bench/suite/compare.sh [BENCHMARK...] [run.py's options]
#   RUN_PY=PATH   where run.py is (default: ../shared/sysbench/run.py beside the checkout)
source "$(dirname "$0")/lib.sh"
run_py=${RUN_PY:-$root/../shared/sysbench/run.py}
[ -f "$run_py" ] || { echo "no $run_py: set RUN_PY" >&2; exit 2; }
start_ours
start_postgres
sql "$ours_port" 'create database bench'
sql "$pg_port" 'create database bench'
# shellcheck disable=SC2086
${BENCH_PREFIX:-} python3 "$run_py" --target "pgfusion=127.0.0.1:$ours_port:postgres:bench" \
  --target "postgresql=127.0.0.1:$pg_port:postgres:bench" "$@"
