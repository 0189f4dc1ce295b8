#!/bin/sh
# Plays a match of two weights files through fastchess or cutechess-cli, as `finch match` would.
#
#   scripts/match.sh fastchess weights/default.toml new.toml
#   TC=10+0.1 ROUNDS=500 SPRT="elo0=0 elo1=5 alpha=0.05 beta=0.05" \
#       scripts/match.sh cutechess-cli weights/default.toml new.toml
#
# FINCH, TC, ROUNDS (two games each), CONCURRENCY, OPENINGS, PGN and SPRT may be set. The runner
# `finch` is `finch match` itself, with the same openings and time control.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

if [ $# -ne 3 ]; then
    "$0" --help >&2
    exit 1
fi
runner=$1 one=$2 other=$3
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
tc=${TC:-3+0.03}
rounds=${ROUNDS:-100}
concurrency=${CONCURRENCY:-2}
openings=${OPENINGS:-$home/books/openings.epd}
pgn=${PGN:-match.pgn}

for file in "$one" "$other" "$openings"; do
    [ -r "$file" ] || { echo "$0: cannot read $file" >&2; exit 1; }
done
command -v "$runner" >/dev/null || [ "$runner" = finch ] \
    || { echo "$0: $runner not found" >&2; exit 1; }
absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
name() { basename "$1" .toml; }

# shellcheck disable=SC2086 # SPRT is several words on purpose
case $(basename "$runner") in
    finch)
        exec "$finch" match "$one" "$other" --tc "$tc" --games $((2 * rounds)) \
            --concurrency "$concurrency" --openings "$openings" --pgn "$pgn" ${SPRT:+--sprt $SPRT}
        ;;
    fastchess*)
        exec "$runner" \
            -engine cmd="$finch" name="$(name "$one")-a" option.WeightsFile="$(absolute "$one")" \
            -engine cmd="$finch" name="$(name "$other")-b" option.WeightsFile="$(absolute "$other")" \
            -each tc="$tc" option.Hash=16 -rounds "$rounds" -repeat -recover \
            -concurrency "$concurrency" -openings file="$openings" format=epd order=random \
            -pgnout file="$pgn" ${SPRT:+-sprt $SPRT}
        ;;
    cutechess-cli*)
        exec "$runner" \
            -engine cmd="$finch" name="$(name "$one")-a" option.WeightsFile="$(absolute "$one")" \
            -engine cmd="$finch" name="$(name "$other")-b" option.WeightsFile="$(absolute "$other")" \
            -each proto=uci tc="$tc" option.Hash=16 -rounds "$rounds" -games 2 -repeat -recover \
            -concurrency "$concurrency" -openings file="$openings" format=epd order=random \
            -pgnout "$pgn" ${SPRT:+-sprt $SPRT}
        ;;
    *)
        echo "$0: the runner is fastchess, cutechess-cli or finch, not $runner" >&2
        exit 1
        ;;
esac
