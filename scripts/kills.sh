#!/usr/bin/env bash
# Kills a tiny run at random moments and resumes it each time: it must come to the files of a run
# that nothing disturbed, byte for byte.
#
#   scripts/kills.sh evolve|search|train [KILLS]
#
# KILLS is 20 unless given. FINCH names the program, SEED chooses the moments.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
home=$(cd "$(dirname "$0")/.." && pwd)
finch=${FINCH:-$home/target/release/finch}
kind=${1:-}
kills=${2:-20}
RANDOM=${SEED:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One call of the run in a folder; it resumes what is there.
evolve() {
    exec "$finch" evolve --from zero --out "$1" --generations 3 --set search.every=2 \
        --set start.width=64 --set 'selfplay.positions=[400, 600]' --set 'selfplay.nodes=[10, 20]' \
        --set training.window=2 --set training.positions=2048 --set training.batch=64 \
        --set training.validations=4 --set search.games=16 --set search.nodes=40 --set search.r=2 \
        --set sprt.games=8 --set sprt.nodes=40 --set anchors.every=3 --set anchors.games=2 \
        --set anchors.nodes=20
}
search() {
    if [ -e "$1/config.toml" ]; then
        exec "$finch" tune --resume "$1"
    fi
    exec "$finch" tune search --out "$1" --set run.generations=10 --set method.pairs=2 \
        --set method.r=2 --set fitness.nodes=100 --set run.closing_games=4 --set run.closing_nodes=100
}
train() {
    exec "$finch" train "$work/labels.bin" --out "$1" --generations 10 --steps 20 --batch 256 \
        --set genome.width=64 --set run.closing_games=4 --set run.closing_nodes=100
}

# What must not depend on interruptions: the results, and the journal without its times.
result() {
    local name
    for name in champion.toml champion.net best.toml best.net; do
        [ ! -e "$1/$name" ] || sha256sum <"$1/$name"
    done
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) timed[i] = $i ~ /second|hours/ }
        { for (i = 1; i <= NF; i++) if (!timed[i]) printf "%s,", $i; print "" }' "$1/journal.csv"
}

compare() {
    if ! diff <(result "$work/whole") <(result "$1"); then
        echo "kills: $kind differs after kills (left: undisturbed)" >&2
        exit 1
    fi
    if find "$1" -name '*.finch-tmp' -o -name '*.draft' | grep .; then
        echo "kills: $kind leaves temporary files" >&2
        exit 1
    fi
}

case $kind in
    evolve | search | train) ;;
    *)
        "$0" --help >&2
        exit 1
        ;;
esac
if [ "$kind" = train ]; then
    "$finch" selfplay --depth 1 --positions 4000 --out "$work/labels.bin" >"$work/log" 2>&1
fi
start=$(date +%s%N)
("$kind" "$work/whole") >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
# Milliseconds of the undisturbed run; the kills are spread over about one of them.
took=$((($(date +%s%N) - start) / 1000000))
done=0
round=1
while [ "$done" -lt "$kills" ]; do
    ("$kind" "$work/killed-$round") >"$work/log" 2>&1 &
    run=$!
    delay=$((RANDOM * 2 * took / kills / 32768 + 20))
    sleep "$(awk "BEGIN { print $delay / 1000 }")"
    if kill -9 "$run" 2>/dev/null; then
        done=$((done + 1))
        wait "$run" 2>/dev/null || true
    else
        # It was quicker: it is compared, and the next one begins from nothing.
        wait "$run" || { cat "$work/log" >&2; exit 1; }
        compare "$work/killed-$round"
        round=$((round + 1))
    fi
done
("$kind" "$work/killed-$round") >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
compare "$work/killed-$round"
echo "$kind: $done kills, same result as undisturbed (a run takes $((took / 1000)) s)"
