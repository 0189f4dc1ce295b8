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

count() { cat "$out"/*."$1" 2>/dev/null | grep -cE "$2" || true; }
total=$(count pgn '^\[Result "(1-0|0-1|1/2-1/2)"\]')
failures=$(count log "Finch.*(illegal|disconnect|stall|crash|unresponsive)|[Ww]arning.*Finch")
on_time=$(count log 'Finch loses on time|(Black|White) loses on time.*Finch')
other_on_time=$(count log 'Opponent loses on time')
echo "games $total; failures and warnings of Finch $failures; losses on time: Finch $on_time, others $other_on_time"
[ "$failures" -eq 0 ] && { [ -n "${LOADED:-}" ] || [ "$on_time" -eq 0 ]; }
