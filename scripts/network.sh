#!/bin/sh
# Makes weights/default.net anew. Finch plays quick games by the hand-set terms, Stockfish judges
# positions in and around them and around masters' games, and a network learns its judgement. The
# result plays more games and a second network learns from all; so do a third and a fourth.
#
#   scripts/network.sh FOLDER GAMES.pgn
#
# The folder keeps everything; called again after a break, the script goes on where it stopped. Takes
# about three hours on two cores, and 6 GB. FINCH and STOCKFISH may be set. The result is
# FOLDER/fourth/best.toml with its network beside it.
set -eu

if [ $# -ne 2 ]; then
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 1
fi
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
stockfish=${STOCKFISH:-$(PATH=$PATH:/usr/games command -v stockfish)}
games=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$1"
cd "$1"

# Complete files are left as they are; interrupted ones are resumed. The scale is Stockfish 15.1's.
labels() {
    "$finch" selfplay --engine "$stockfish" --scale 105 --packed "$@"
}

labels --weights "$home/weights/hand-set.toml" --depth 1 --share 0.4 --blunders 0.03 --opening 3 9 \
    --decided 900 --positions 13900000 --out own.bin
labels --games "$games" --opening 6 12 --share 1 --away 6 --positions 100000000 --out masters.bin
"$finch" train own.bin masters.bin --generations 22 --out first
labels --weights first/best.toml --depth 3 --share 0.5 --away 4 --blunders 0.05 --opening 4 10 \
    --decided 800 --positions 23600000 --out second.bin
"$finch" train own.bin masters.bin second.bin --generations 25 --out second
labels --games "$games" --opening 6 12 --share 1 --away 6 --seed 2 --positions 100000000 \
    --out masters-again.bin
labels --weights second/best.toml --depth 3 --share 1 --away 6 --blunders 0.05 --opening 4 10 \
    --decided 800 --seed 2 --positions 33700000 --out third.bin
"$finch" train own.bin masters.bin second.bin masters-again.bin third.bin --generations 26 --out third
labels --weights third/best.toml --depth 3 --share 1 --away 6 --blunders 0.05 --opening 4 10 \
    --decided 800 --seed 3 --positions 43300000 --out fourth.bin
labels --games "$games" --opening 6 12 --share 1 --away 6 --seed 3 --positions 100000000 \
    --out masters-thrice.bin
"$finch" train own.bin masters.bin second.bin masters-again.bin third.bin fourth.bin masters-thrice.bin \
    --generations 30 --out fourth
