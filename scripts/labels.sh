#!/bin/sh
# Makes the labels of tuning/labels/: positions of the built-in games, scored by a mentor.
#
#   scripts/labels.sh [FINCH]
#
# The same games, mentor and settings give the same file: the mentor clears its memory before each
# position. POSITIONS are drawn in all, at most PER_GAME from a game; about two thirds of them are quiet and
# undecided, and get a label. Half of the games train, half validate, so somewhat more than the preset's
# 10,000 are needed.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

ENGINE=${ENGINE:-stockfish}
OPTION=${OPTION:-Use NNUE=false}
DEPTH=${DEPTH:-2}
POSITIONS=${POSITIONS:-18000}
PER_GAME=${PER_GAME:-20}
# The labels use the first games of the file; later games were appended.
MAX_GAMES=${MAX_GAMES:-1033}
here=$(cd "$(dirname "$0")/.." && pwd)
FINCH=${1:-$here/target/release/finch}
GAMES=${GAMES:-$here/tuning/games/stockfish.pgn.zst}
# Centipawns of the mentor that multiply the odds of winning by e, measured for Stockfish 15.1.
SCALE=${SCALE:-105}
OUT=${OUT:-$here/tuning/labels/stockfish.epd.zst}

# Debian installs chess engines outside of most PATHs.
PATH=$PATH:/usr/games
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$FINCH" label "$GAMES" --max-games "$MAX_GAMES" --positions "$POSITIONS" --per-game "$PER_GAME" \
    --quiet --max-score 500 --engine "$ENGINE" --option "$OPTION" --option Hash=1 --depth "$DEPTH" \
    --fresh --scale "$SCALE" --out "$work/labels.epd"
# Several processes answer in any order; the file is sorted.
{ grep "^#" "$work/labels.epd"; grep -v "^#" "$work/labels.epd" | LC_ALL=C sort; } > "$work/sorted.epd"
zstd -q -19 -f "$work/sorted.epd" -o "$work/labels.epd.zst"
mv "$work/labels.epd.zst" "$OUT"
