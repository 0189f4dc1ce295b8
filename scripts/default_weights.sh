#!/bin/sh
# Makes weights/default.toml anew: positions from Finch's own quick games and from the built-in games,
# as they were played and after one and two random moves, scored by Stockfish; then all weights are
# fitted to those scores, beginning with the hand-set ones.
#
#   scripts/default_weights.sh FOLDER
#
# The folder keeps everything; called again after a break, the script goes on where it stopped. Takes
# about half an hour on two cores. FINCH and STOCKFISH may be set.
set -eu

if [ $# -ne 1 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 1
fi
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
stockfish=${STOCKFISH:-$(PATH=$PATH:/usr/games command -v stockfish)}
mkdir -p "$1"
cd "$1"

label() {
    "$finch" label --engine "$stockfish" --depth 5 --quiet-move --skip-moves 0 "$@"
}

hand_set=$home/weights/hand-set.toml
[ -e wild.epd ] || "$finch" selfplay --weights "$hand_set" --seed 1 --depth 3 --blunders 0.11 \
    --positions 150000 --out wild.epd
[ -e sound.epd ] || "$finch" selfplay --weights "$hand_set" --seed 2 --depth 4 --blunders 0.05 \
    --positions 120000 --out sound.epd
label wild.epd --out wild-labels.epd
label sound.epd --out sound-labels.epd
for plies in 0 1 2; do
    label "$home/tuning/games/stockfish.pgn.zst" --per-game 60 --random-plies $plies --seed 1$plies \
        --out games-$plies.epd
done
"$finch" tune "$home/tuning/default.toml" --set genome.base="$hand_set" --out run \
    --games wild-labels.epd sound-labels.epd games-0.epd games-1.epd games-2.epd
