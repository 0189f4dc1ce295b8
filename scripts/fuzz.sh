#!/usr/bin/env bash
# Fuzzes the readers of Finch with libFuzzer, for some seconds each, and prints the executions, the coverage
# (edges and features that libFuzzer counts) and the findings of each target.
#
#   scripts/fuzz.sh                 all targets, 600 seconds each
#   scripts/fuzz.sh 60 fen epd      only these, 60 seconds each
#
# Needs cargo-fuzz: cargo install cargo-fuzz. What was found grows in fuzz/corpus from run to run.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/../fuzz"
seconds=${1:-600}
shift || true
# libFuzzer's instrumentation is behind a switch of the compiler that the stable one has, too.
export RUSTC_BOOTSTRAP=1
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo fuzz list)
failed=0
printf '%-12s %12s %8s %8s  %s\n' target executions edges features result
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target"
    log=$(mktemp)
    result=ok
    # Sessions write to standard output; libFuzzer's own lines come on standard error.
    cargo fuzz run --sanitizer none "$target" "corpus/$target" "seeds/$target" -- \
        -print_final_stats=1 -max_total_time="$seconds" -timeout=1 -rss_limit_mb=1024 -max_len=8192 \
        >/dev/null 2>"$log" || { result="found something, see fuzz/artifacts/$target"; failed=1; }
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2)
    features=$(grep -o 'ft: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2)
    printf '%-12s %12s %8s %8s  %s\n' "$target" "${executions:-0}" "${edges:-0}" "${features:-0}" "$result"
    [ "$result" = ok ] || tail -n 30 "$log" >&2
    rm -f "$log"
done
exit "$failed"
