#!/bin/sh
# Makes weights/default.net from nothing. Finch plays quick games with the hand-set terms, Stockfish
# scores positions from these and from masters' games, and a network is trained on the scores. It
# plays more games, and a second network is trained on all labels; then a third and a fourth.
#
#   scripts/network.sh FOLDER GAMES.pgn
#
# Everything is kept in FOLDER; after an interruption the same command resumes. Takes about three
# hours on two cores, and 6 GB. FINCH and STOCKFISH may be set. The result is
# FOLDER/fourth/best.toml with its network beside it, and a report with its closing match.
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
mkdir -p "$1"
cd "$1"

# labels FILE OPTIONS...: makes a file of labels, or resumes it; a complete file is left as it is.
# The scale is that of Stockfish 15.1.
labels() {
    out=$1
    shift
    [ -e "$out" ] || "$finch" selfplay --engine "$stockfish" --scale 105 --packed "$@" --out "$out"
}

# train FOLDER LABELS...: trains a network without a closing match, or resumes.
train() {
    out=$1
    shift
    "$finch" train "$@" --set run.closing_games=0 --out "$out"
}

labels own.bin --weights "$home/weights/hand-set.toml" --depth 1 --share 0.4 --blunders 0.03 \
    --opening 3 9 --decided 900 --positions 13900000
labels masters.bin --games "$games" --opening 6 12 --share 1 --away 6 --positions 100000000
train first own.bin masters.bin --generations 22
labels second.bin --weights first/best.toml --depth 3 --share 0.5 --away 4 --blunders 0.05 \
    --opening 4 10 --decided 800 --positions 23600000
train second own.bin masters.bin second.bin --generations 25
labels masters-again.bin --games "$games" --opening 6 12 --share 1 --away 6 --seed 2 \
    --positions 100000000
labels third.bin --weights second/best.toml --depth 3 --share 1 --away 6 --blunders 0.05 \
    --opening 4 10 --decided 800 --seed 2 --positions 33700000
train third own.bin masters.bin second.bin masters-again.bin third.bin --generations 26
labels fourth.bin --weights third/best.toml --depth 3 --share 1 --away 6 --blunders 0.05 \
    --opening 4 10 --decided 800 --seed 3 --positions 43300000
labels masters-thrice.bin --games "$games" --opening 6 12 --share 1 --away 6 --seed 3 \
    --positions 100000000
"$finch" train own.bin masters.bin second.bin masters-again.bin third.bin fourth.bin \
    masters-thrice.bin --generations 30 --out fourth
