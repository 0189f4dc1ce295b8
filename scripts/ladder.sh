#!/bin/sh
# Estimates Finch's rating: a gauntlet against Stockfish at limited strength, one opponent for
# each step of UCI_Elo. The steps keep their nominal ratings; Finch's is computed from the results.
#
#   scripts/ladder.sh                        the built-in weights
#   scripts/ladder.sh new.toml               other weights
#   STEPS="2000 2200 2400" GAMES=100 TC=10+0.1 scripts/ladder.sh
#
# FINCH, STOCKFISH, STEPS, GAMES (for each step), TC, CONCURRENCY and PGN may be set. An
# interrupted ladder resumes when called again. Stockfish's scale was calibrated at 120 s + 1 s
# against CCRL; at other time controls the result is a comparison, not a CCRL rating.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

weights=${1:-default}
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
stockfish=${STOCKFISH:-stockfish}
steps=${STEPS:-1400 1700 2000 2300 2600 2800}
games=${GAMES:-50}
tc=${TC:-8+0.08}
pgn=${PGN:-ladder.pgn}

command -v "$stockfish" >/dev/null || { echo "$0: $stockfish not found; set STOCKFISH" >&2; exit 1; }
set --
anchors=
for step in $steps; do
    set -- "$@" "cmd=$stockfish option.UCI_LimitStrength=true option.UCI_Elo=$step name=SF$step"
    anchors="$anchors --anchor SF$step=$step"
done
"$finch" match "weights=$weights name=Finch" "$@" --gauntlet --tc "$tc" --games "$games" \
    ${CONCURRENCY:+--concurrency "$CONCURRENCY"} --pgn "$pgn" --resume
# shellcheck disable=SC2086 # the anchors are several words by intention
ratings=$("$finch" rate "$pgn" $anchors)
printf '%s\n' "$ratings"
printf '%s\n' "$ratings" | awk '$2 == "Finch" { print "Finch: " $3 " +/- " $4 " Elo on this ladder" }'
