#!/bin/sh
# Rebuilds weights/default.toml: positions from masters' games, as they were played and after one
# and two random moves, and from Finch's own quick games, scored by Stockfish. All weights are
# fitted to those scores, starting from the hand-set ones. The result plays the games for a second
# set of own positions, and all weights are fitted again.
#
#   scripts/default_weights.sh FOLDER GAMES.pgn
#
# The folder keeps everything; called again after an interruption, the script resumes. It takes about
# half an hour on two cores. FINCH and STOCKFISH may be set.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac

if [ $# -ne 2 ]; then
    "$0" --help >&2
    exit 1
fi
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
stockfish=${STOCKFISH:-$(PATH=$PATH:/usr/games command -v stockfish)}
games=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
hand_set=$home/weights/hand-set.toml
mkdir -p "$1"
cd "$1"

label() {
    "$finch" label --engine "$stockfish" --quiet-move "$@"
}

fit() {
    out=$1
    shift
    if [ -e "$out/config.toml" ]; then
        "$finch" tune --resume "$out"
    else
        "$finch" tune "$home/tuning/default.toml" --set genome.base="$hand_set" --out "$out" --games "$@"
    fi
}

[ -e wild.epd ] || "$finch" selfplay --weights "$hand_set" --positions 320000 --out wild.epd
label wild.epd --depth 5 --out wild-labels.epd
for plies in 0 1 2; do
    label "$games" --per-game 8 --random-plies $plies --seed 1$plies --depth 5 --out games-$plies.epd
done
fit first games-0.epd games-1.epd games-2.epd wild-labels.epd

[ -e sound.epd ] || "$finch" selfplay --weights first/best.toml --depth 4 --blunders 0.05 \
    --positions 200000 --seed 77 --out sound.epd
label sound.epd --depth 6 --out sound-labels.epd
fit second games-0.epd games-1.epd games-2.epd sound-labels.epd wild-labels.epd
echo "weights: $PWD/second/best.toml"
