#!/usr/bin/env bash
# Thousands of games through fastchess, in batches with random options, against several engines. Counts what
# must not happen: illegal moves, crashes, disconnects, stalls, warnings, losses on time.
#
#   scripts/soak.sh FASTCHESS FINCH stockfish toga2    1,000 games against each of these, and itself
#   GAMES=20 LOADED=1 SEED=7 scripts/soak.sh FASTCHESS FINCH
#
# GAMES (for each opponent), BATCH (games with the same options), SEED, LOADED (1: a busy loop on every
# core beside the games; any other word: the cores have other work already), FINCH_SYZYGY (a folder of tables)
# and CUTECHESS (cutechess-cli, which plays every eighth batch with pondering) may be set. Threads times
# games never exceed the cores. Two of three batches of fastchess are adjudicated, the others played to their end. The games
# and all output stay in the folder OUT, soak by default. Exit status 1 if Finch failed, or lost on time on
# cores that were not loaded.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then
    scripts/soak.sh --help >&2
    exit 1
fi
fastchess=$1 finch=$2
shift 2
opponents=("$finch" "$@")
games=${GAMES:-1000}
batch=${BATCH:-40}
batch=$((batch < games ? batch : games))
out=${OUT:-soak}
RANDOM=${SEED:-1}
cores=$(nproc)
mkdir -p "$out"
openings=$PWD/books/openings.epd

if [ "${LOADED:-}" = 1 ]; then
    busy=()
    for ((core = 0; core < cores; core++)); do
        while :; do :; done &
        busy+=($!)
    done
    trap 'kill "${busy[@]}"' EXIT
fi

# pick NUMBER WORD…: the word that the number points at, counted round and round.
pick() {
    local number=$1
    shift
    shift $((number % $#))
    echo "$1"
}

# options THREADS SEED: options of Finch for one batch.
options() {
    local seed=$2
    echo "option.Threads=$1 option.Hash=$(pick $((seed / 4)) 1 4 16 64)"
    echo "option.MultiPV=$(pick $((seed / 16)) 1 1 1 3) option.OwnBook=$(pick $((seed / 64)) true false)"
    echo "option.Contempt=$(pick $((seed / 128)) -20 0 16)"
    if [ $((seed / 384 % 4)) -eq 0 ]; then
        echo "option.UCI_LimitStrength=true option.UCI_Elo=$(pick $((seed / 1536)) 1000 1500 2000 2400)"
    fi
    if [ -n "${FINCH_SYZYGY:-}" ]; then
        echo "option.SyzygyPath=$FINCH_SYZYGY"
    fi
}

# Whether an engine plays Chess960.
plays_chess960() { (echo uci; sleep 0.3; echo quit) | "$1" 2>/dev/null | grep -c UCI_Chess960 >/dev/null; }

# One batch through fastchess; every fourth one is Chess960 where the opponent plays that.
fastchess_batch() {
    local name=$1 threads=$2 opponent=$3 control=$4 seed=$5 variant=standard adjudication=()
    if [ $((seed % 4)) -eq 0 ] && plays_chess960 "$opponent"; then
        variant=fischerandom
    fi
    if [ $((seed % 3)) -gt 0 ]; then
        adjudication=(-draw movenumber=40 movecount=8 score=10 -resign movecount=4 score=600)
    fi
    # shellcheck disable=SC2046 # the options are several words
    "$fastchess" -engine cmd="$finch" name=Finch $(options "$threads" "$seed") \
        -engine cmd="$opponent" name=Opponent option.Hash=16 \
        -each tc="$control" -rounds $((batch / 2)) -games 2 -repeat -recover -variant "$variant" \
        -concurrency $((cores / threads > 0 ? cores / threads : 1)) -srand "$seed" \
        "${adjudication[@]}" -openings file="$openings" format=epd order=random \
        -pgnout file="$name.pgn" >"$name.log" 2>&1
}

# One batch through cutechess-cli with pondering: both sides think all the time.
ponder_batch() {
    local name=$1 opponent=$2 control=$3 seed=$4
    # shellcheck disable=SC2046
    "$CUTECHESS" -engine cmd="$finch" name=Finch ponder $(options 1 "$seed") \
        -engine cmd="$opponent" name=Opponent ponder option.Hash=16 \
        -each proto=uci tc="$control" -rounds $((batch / 2)) -games 2 -repeat -recover \
        -concurrency $((cores / 2 > 0 ? cores / 2 : 1)) -srand "$seed" \
        -openings file="$openings" format=epd order=random \
        -pgnout "$name.pgn" >"$name.log" 2>&1
}

number=0
for opponent in "${opponents[@]}"; do
    for ((played = 0; played < games; played += batch)); do
        number=$((number + 1))
        draw=$RANDOM
        threads=$(pick $((draw / 5)) 1 1 1 1 1 "$cores")
        control=$(pick $((draw / 7)) 1+0.01 0.3+0.01 0.3+0.01 0.3+0.01 0.3+0.01 0.3+0.01 0.3+0.01 0.3+0.01)
        name=$(printf '%s/%05d' "$out" "$number")
        if [ -n "${CUTECHESS:-}" ] && [ $((number % 8)) -eq 0 ]; then
            ponder_batch "$name" "$opponent" "$control" "$draw"
        else
            fastchess_batch "$name" "$threads" "$opponent" "$control" "$draw"
        fi || { echo "the match runner failed, see $name.log" >&2; exit 1; }
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
