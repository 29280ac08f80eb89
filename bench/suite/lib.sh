# Starts servers for the comparisons; sourced by the scripts beside it. Servers and data are gone when the script ends.
#   PGFUSION_BIN     the binary to measure (default: the release build, made if need be)
#   BENCH_PREFIX     put before every server's command, e.g. "chrt -r 1" on a busy machine
#   BENCH_DIR        where the data goes (default: a temporary directory)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pgfusion/target}
work=$(mktemp -d "${BENCH_DIR:-/tmp}/pgfusion-bench-XXXXXX")
chmod 755 "$work"
pids=()
stop_all() {
  for pid in "${pids[@]}"; do kill -QUIT "$pid" 2>/dev/null || true; kill -KILL "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop_all EXIT

as_postgres() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; else "$@"; fi; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

wait_until_ready() { # PORT
  for _ in $(seq 300); do
    psql -h 127.0.0.1 -p "$1" -U postgres -Xqtc 'select 1' >/dev/null 2>&1 && return
    sleep 0.1
  done
  echo "no server on port $1; its log:" >&2
  tail -20 "$work"/*.log >&2
  exit 1
}

build_ours() {
  if [ -z "${PGFUSION_BIN:-}" ]; then
    cargo build --release --manifest-path "$root/Cargo.toml" -p server --bin pgfusion >&2
    PGFUSION_BIN=$CARGO_TARGET_DIR/release/pgfusion
  fi
}

start_ours() { # sets ours_port and ours_pid; the second call is a restart on the same data and port
  build_ours
  ours_port=${ours_port:-$(free_port)}
  # shellcheck disable=SC2086
  ${BENCH_PREFIX:-} "$PGFUSION_BIN" --listen "127.0.0.1:$ours_port" --data-dir "$work/ours" >>"$work/ours.log" 2>&1 &
  ours_pid=$!
  pids+=("$ours_pid")
  wait_until_ready "$ours_port"
}

start_postgres() { # sets pg_port and pg_pid; stock settings, C collation
  local bin=/usr/lib/postgresql/15/bin
  pg_port=${pg_port:-$(free_port)}
  if [ ! -d "$work/pg" ]; then
    mkdir "$work/pg"
    [ "$(id -u)" != 0 ] || chown postgres "$work/pg"
    as_postgres "$bin/initdb" -A trust -U postgres -E UTF8 --locale=C -D "$work/pg/data" >/dev/null
  fi
  # shellcheck disable=SC2086
  ${BENCH_PREFIX:-} setpriv $([ "$(id -u)" = 0 ] && echo --reuid=postgres --regid=postgres --init-groups) -- \
    "$bin/postgres" -D "$work/pg/data" -p "$pg_port" -k "$work/pg" -c listen_addresses=127.0.0.1 >>"$work/pg.log" 2>&1 &
  pg_pid=$!
  pids+=("$pg_pid")
  wait_until_ready "$pg_port"
}

kill_ours() { kill -KILL "$ours_pid"; wait "$ours_pid" 2>/dev/null || true; }

sql() { # PORT SQL: the result, columns separated by spaces
  psql -h 127.0.0.1 -p "$1" -U postgres -XqAt -F ' ' -v ON_ERROR_STOP=1 -c "$2"
}

fail() { echo "FAILED: $*"; failures=$((${failures:-0} + 1)); }
verdict() { if [ "${failures:-0}" = 0 ]; then echo "all checks passed"; else echo "$failures checks failed"; exit 1; fi; }
