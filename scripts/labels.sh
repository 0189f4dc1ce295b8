#!/bin/sh
# Makes the labels of tuning/labels/: positions of the built-in games, scored by a mentor.
#
#   scripts/labels.sh [FINCH]
#
# The same games, mentor and settings give the same file: the mentor forgets everything before each
# position. POSITIONS are drawn in all, no more than PER_GAME from a game; about two thirds of them are
# quiet and not yet decided, and have a label. Half of the games train, half validate, so somewhat more than
# the preset's 10,000 are wanted.
set -eu

ENGINE=${ENGINE:-stockfish}
OPTION=${OPTION:-Use NNUE=false}
DEPTH=${DEPTH:-2}
POSITIONS=${POSITIONS:-18000}
PER_GAME=${PER_GAME:-20}
# The labels were made when there were so many games; the others came later, behind these.
MAX_GAMES=${MAX_GAMES:-1033}
here=$(cd "$(dirname "$0")/.." && pwd)
FINCH=${1:-$here/target/release/finch}
GAMES=${GAMES:-$here/tuning/games/stockfish.pgn.zst}
OUT=${OUT:-$here/tuning/labels/stockfish.epd.zst}

# Debian puts chess engines where not every PATH looks.
PATH=$PATH:/usr/games
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Which positions are quiet, weights tell; the hand-set ones do not change.
"$FINCH" --weights "$here/weights/hand-set.toml" label "$GAMES" --max-games "$MAX_GAMES" --positions "$POSITIONS" --per-game "$PER_GAME" \
    --quiet --max-score 500 --engine "$ENGINE" --option "$OPTION" --option Hash=1 --depth "$DEPTH" \
    --fresh --out "$work/labels.epd"
# Several processes finish in any order; the file has one.
{ grep "^#" "$work/labels.epd"; grep -v "^#" "$work/labels.epd" | LC_ALL=C sort; } > "$work/sorted.epd"
zstd -q -19 -f "$work/sorted.epd" -o "$work/labels.epd.zst"
mv "$work/labels.epd.zst" "$OUT"
