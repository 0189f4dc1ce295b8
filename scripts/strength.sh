#!/bin/sh
# Calibrates UCI_Elo: from 1350 on each level of Finch plays Stockfish at the same UCI_Elo; and all levels of
# Finch play the next lower one. Prints one line a pair; the games are kept.
#
#   scripts/strength.sh FOLDER [GAMES] [TIME CONTROL]
#
# FINCH, STOCKFISH and CONCURRENCY may be set. 300 games at 1+0.01 against Stockfish take about five minutes on two cores, against Finch less.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

if [ $# -lt 1 ]; then
    "$0" --help >&2
    exit 1
fi
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
stockfish=${STOCKFISH:-stockfish}
games=${2:-300}
control=${3:-1+0.01}
concurrency=${CONCURRENCY:-2}
mkdir -p "$1"

# limited NAME COMMAND ELO: a player with limited strength.
limited() {
    printf "cmd='%s' name=%s option.UCI_LimitStrength=true option.UCI_Elo=%s" "$2" "$1-$3" "$3"
}

# encounter A B FILE: plays a match and prints its last line.
encounter() {
    "$finch" match "$1" "$2" --games "$games" --tc "$control" --concurrency "$concurrency" --pgn "$3" |
        grep -E 'Elo|Score' | tail -n 1
}

for elo in 1350 1650 1950 2250 2550 2850; do
    printf 'Finch %s against Stockfish %s: ' "$elo" "$elo"
    encounter "$(limited finch "$finch" "$elo")" "$(limited stockfish "$stockfish" "$elo")" "$1/stockfish-$elo.pgn"
done
lower=400
for elo in 600 800 1000 1200 1350 1650 1950 2250 2550 2850; do
    printf 'Finch %s against Finch %s: ' "$elo" "$lower"
    encounter "$(limited finch "$finch" "$elo")" "$(limited finch "$finch" "$lower")" "$1/finch-$elo.pgn"
    lower=$elo
done
