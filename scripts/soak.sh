#!/usr/bin/env bash
# Thousands of games through fastchess, in batches with random options, against several engines. Counts what
# must not happen: illegal moves, crashes, disconnects, stalls, warnings, losses on time.
#
#   scripts/soak.sh FASTCHESS FINCH stockfish toga2    1,000 games against each of these, and itself
#   GAMES=20 LOADED=1 SEED=7 scripts/soak.sh FASTCHESS FINCH
#
# GAMES (for each opponent), BATCH (games with the same options), SEED, LOADED (a busy loop on every
# core beside the games) and FINCH_SYZYGY (a folder of tables) may be set. Threads times games never
# exceed the cores. The games and all output stay in the folder OUT, soak by default. Exit status 1 if
# Finch failed, or lost on time on cores that were not loaded.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then
    sed -n '2,13s/^# \{0,1\}//p' scripts/soak.sh >&2
    exit 1
fi
fastchess=$1 finch=$2
shift 2
opponents=("$finch" "$@")
games=${GAMES:-1000}
batch=${BATCH:-20}
out=${OUT:-soak}
RANDOM=${SEED:-1}
cores=$(nproc)
mkdir -p "$out"
openings=$PWD/books/openings.epd

# One of the arguments.
pick() { shift $((RANDOM % $#)); echo "$1"; }

if [ -n "${LOADED:-}" ]; then
    busy=()
    for ((core = 0; core < cores; core++)); do
        while :; do :; done &
        busy+=($!)
    done
    trap 'kill "${busy[@]}"' EXIT
fi

# Random options of Finch for one batch.
options() {
    local threads=$1
    echo "option.Threads=$threads option.Hash=$(pick 1 4 16 64) option.MultiPV=$(pick 1 1 1 3)"
    echo "option.OwnBook=$(pick true false) option.Contempt=$(pick -20 0 16)"
    if [ "$(pick 0 0 0 1)" = 1 ]; then
        echo "option.UCI_LimitStrength=true option.UCI_Elo=$(pick 1500 2000 2400)"
    fi
    if [ -n "${FINCH_SYZYGY:-}" ]; then
        echo "option.SyzygyPath=$FINCH_SYZYGY"
    fi
}

number=0
for opponent in "${opponents[@]}"; do
    for ((played = 0; played < games; played += batch)); do
        number=$((number + 1))
        threads=$(pick 1 1 "$cores")
        name=$(printf '%s/%05d' "$out" "$number")
        # shellcheck disable=SC2046 # the options are several words
        "$fastchess" -engine cmd="$finch" name=Finch $(options "$threads") \
            -engine cmd="$opponent" name=Opponent option.Hash=16 \
            -each tc="$(pick 1+0.01 0.3+0.01)" -rounds $((batch / 2)) -games 2 -repeat -recover \
            -concurrency $((cores / threads > 0 ? cores / threads : 1)) -srand "$RANDOM" \
            -openings file="$openings" format=epd order=random \
            -pgnout file="$name.pgn" >"$name.log" 2>&1 || { echo "fastchess failed, see $name.log" >&2; exit 1; }
    done
done

# Who loses by what: "Finished game 4 (Opponent vs Finch): 1-0 {Black loses on time (2ms overrun)}".
faults() {
    cat "$out"/*.log | sed -nE \
        -e "s/^Finished game [0-9]+ \(([^ ]+) vs [^ ]+\): [^{]*\{White('s)? ($1).*/\1/p" \
        -e "s/^Finished game [0-9]+ \([^ ]+ vs ([^ ]+)\): [^{]*\{Black('s)? ($1).*/\1/p"
}
count() { faults "$2" | grep -c "$1" || true; }

total=$(cat "$out"/*.log | grep -c '^Finished game' || true)
failures=$(count Finch "makes an illegal|disconnect|stall|crash|connection")
warnings=$(cat "$out"/*.log | grep -cE 'Warning.*Finch' || true)
on_time=$(count Finch "loses on time")
others_on_time=$(count Opponent "loses on time")
echo "games $total; Finch: failures $failures, warnings $warnings, losses on time $on_time; others on time $others_on_time"
[ "$total" -gt 0 ] && [ "$failures" -eq 0 ] && [ "$warnings" -eq 0 ] &&
    { [ -n "${LOADED:-}" ] || [ "$on_time" -eq 0 ]; }
