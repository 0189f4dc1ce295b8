#!/usr/bin/env bash
# Kills a small piece of work at random moments and repeats the same call each time: it must come to the
# files of a call that nothing disturbed, byte for byte.
#
#   scripts/kills.sh                       all kinds, 25 kills each
#   scripts/kills.sh evolve|…|all [KILLS]  one kind: evolve, search, train, tune, label, selfplay, match,
#                                          book or annotate
#
# FINCH names the program, SEED chooses the moments.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
kinds=(evolve search train tune label selfplay match book annotate)
kills=${2:-25}
RANDOM=${SEED:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each kind: one call that works in the folder $1 and resumes what is there. selfplay, book and annotate write
# their file only when it is complete: if it is there, the call is done.
evolve() {
    exec "$finch" evolve --from zero --out "$1/run" --generations 3 --set search.every=2 \
        --set start.width=64 --set 'selfplay.positions=[400, 600]' --set 'selfplay.nodes=[10, 20]' \
        --set training.window=2 --set training.positions=2048 --set training.batch=64 \
        --set training.validations=4 --set search.games=16 --set search.nodes=40 --set search.r=2 \
        --set sprt.games=8 --set sprt.nodes=40 --set anchors.every=3 --set anchors.games=2 \
        --set anchors.nodes=20
}
search() {
    if [ -e "$1/run/config.toml" ]; then
        exec "$finch" tune --resume "$1/run"
    fi
    exec "$finch" tune search --out "$1/run" --set run.generations=10 --set method.pairs=2 \
        --set method.r=2 --set fitness.nodes=100 --set run.closing_games=4 --set run.closing_nodes=100
}
train() {
    exec "$finch" train "$work/labels.bin" --out "$1/run" --generations 10 --steps 20 --batch 256 \
        --set genome.width=64 --set run.closing_games=4 --set run.closing_nodes=100
}
tune() {
    exec "$finch" tune vazquez-2013 --out "$1/run" --set run.generations=60 --set data.positions=600 \
        --set data.validation=200 --set run.closing_games=4 --set run.closing_nodes=100
}
label() {
    exec "$finch" label "$work/positions.epd" --engine "cmd=$finch option.Hash=1 depth=8" --processes 1 \
        --fresh --out "$1/labels.epd"
}
selfplay() {
    [ -e "$1/labels.bin" ] || exec "$finch" selfplay --depth 2 --positions 8000 --out "$1/labels.bin"
}
match() {
    exec "$finch" match default hand-set --games 40 --nodes 1500 --concurrency 2 --quiet \
        --pgn "$1/games.pgn" --resume
}
book() {
    [ -e "$1/book.bin" ] || exec "$finch" book build "$home/tuning/games/stockfish.pgn.zst" --min-games 1 --out "$1/book.bin"
}
annotate() {
    [ -e "$1/games.html" ] && [ ! -e "$1/games.pgn.draft" ] || exec "$finch" annotate "$work/games.pgn" \
        --nodes 4000 --out "$1/games.pgn" --page "$1/games.html"
}

prepare() {
    case $1 in
        train) "$finch" selfplay --depth 1 --positions 4000 --out "$work/labels.bin" ;;
        label) head -n 300 "$home/books/openings.epd" >"$work/positions.epd" ;;
        annotate)
            "$finch" match default hand-set --games 6 --nodes 100 --quiet --pgn "$work/games.pgn"
            ;;
    esac >"$work/log" 2>&1
}

# What must not depend on interruptions: the results, and the journal and the games without their times.
result() {
    local name
    for name in run/{champion,best}.{toml,net} labels.epd labels.bin book.bin games.html; do
        [ ! -e "$1/$name" ] || sha256sum <"$1/$name"
    done
    [ ! -e "$1/games.pgn" ] || paste -sd ' ' "$1/games.pgn" |
        sed -E 's/\[(Date|GameDuration|UTC[A-Za-z]*|%emt) [^]]*\]//g; s/ [0-9.]+s\>//g; s/ +/ /g; s/\[Event /\n&/g'
    [ ! -e "$1/run/journal.csv" ] || awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) timed[i] = $i ~ /second|hours/ }
        { for (i = 1; i <= NF; i++) if (!timed[i]) printf "%s,", $i; print "" }' "$1/run/journal.csv"
}

compare() {
    if ! diff <(result "$work/$1-whole") <(result "$2") >"$work/difference"; then
        head -n 20 "$work/difference" | cut -c 1-300 >&2
        echo "kills: $1 differs after kills (lines with < are of the undisturbed call)" >&2
        exit 1
    fi
    if find "$2" -name '*.finch-tmp' -o -name '*.draft' | grep .; then
        echo "kills: $1 leaves temporary files" >&2
        exit 1
    fi
}

# One call that may end; what it prints is shown when it fails.
whole() { ("$1" "$2") >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

kill_often() {
    local kind=$1 done=0 round=1 start took run delay
    prepare "$kind" || { cat "$work/log" >&2; exit 1; }
    mkdir "$work/$kind-whole" "$work/$kind-1"
    start=$(date +%s%N)
    whole "$kind" "$work/$kind-whole"
    # Milliseconds of the undisturbed call; a kill comes at any moment of as much.
    took=$((($(date +%s%N) - start) / 1000000))
    while [ "$done" -lt "$kills" ]; do
        ("$kind" "$work/$kind-$round") >"$work/log" 2>&1 &
        run=$!
        delay=$((RANDOM * took / 32768 + 20))
        sleep "$(awk "BEGIN { print $delay / 1000 }")"
        if kill -9 "$run" 2>/dev/null; then
            done=$((done + 1))
            wait "$run" 2>/dev/null || true
        else
            # It was quicker: it is compared, and the next one begins from nothing.
            wait "$run" || { cat "$work/log" >&2; exit 1; }
            compare "$kind" "$work/$kind-$round"
            round=$((round + 1))
            mkdir "$work/$kind-$round"
        fi
    done
    whole "$kind" "$work/$kind-$round"
    compare "$kind" "$work/$kind-$round"
    echo "$kind: $done kills in $round runs, same result as undisturbed (a run takes $((took / 1000)) s)"
}

wanted=${1:-all}
[ "$wanted" != all ] && kinds=("$wanted")
for kind in "${kinds[@]}"; do
    case $kind in
        evolve | search | train | tune | label | selfplay | match | book | annotate) kill_often "$kind" ;;
        *)
            "$0" --help >&2
            exit 1
            ;;
    esac
done
