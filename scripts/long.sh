#!/usr/bin/env bash
# What takes too long for the gate: run it before a release, on a machine with nothing else to do.
#
#   scripts/long.sh                 everything
#   scripts/long.sh clone builds    only these parts
#
# Parts:
#   clone     both commands of the README in a fresh clone, timed
#   release   all tests again as release code
#   games     games of a build with assertions and overflow checks
#   endings   with Syzygy tables (FINCH_SYZYGY names their folder): wins won, draws held, mates without
#             tables, all of king and pawn against king; the probes beside fathom's
#   kills     25 kills each of evolve, tune, train, label, selfplay, match, book and annotate at random moments: same
#             results
#   builds    the same bench from builds for several processors, and their speed beside the native one
#   address   unit tests, UCI sessions, searches and readers of files under AddressSanitizer
#   fuzz      every reader for five minutes (scripts/fuzz.sh; needs cargo-fuzz)
#   deny      licences, sources and duplicates of the crates (deny.toml; needs cargo-deny)
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
home=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '\n== %s\n' "$*"; }

clone() {
    step "README commands in a fresh clone"
    git clone -q . "$work/clone"
    (
        cd "$work/clone"
        cargo fetch -q
        SECONDS=0
        printf 'position startpos\ngo depth 10\nquit\n' | cargo run -q --release | grep -m 1 '^bestmove'
        echo "cargo run --release, from nothing to the first bestmove: $SECONDS s"
        SECONDS=0
        cargo test -q >"$work/test.log" 2>&1 || { tail -n 40 "$work/test.log"; exit 1; }
        echo "cargo test: $SECONDS s"
    )
}

release() {
    step "tests as release code"
    cargo test --release
}

games() {
    step "games with assertions and overflow checks"
    cargo build
    cargo build --release
    cp target/debug/finch "$work/checked"
    target/release/finch match "cmd=$work/checked" default \
        --games 200 --nodes 5000 --concurrency "$(nproc)" --pgn "$work/checked.pgn"
    if grep -E 'disconnect|illegal|stalled|crash' "$work/checked.pgn"; then
        echo "games: an engine failed" >&2
        exit 1
    fi
}

endings() {
    step "endings"
    local tables=${FINCH_SYZYGY:?the folder of the Syzygy tables}
    cargo test --release tablebase:: -- --include-ignored --nocapture
    cargo build --release
    scripts/fathom.py target/release/finch "$tables"
}

kills() {
    step "kills at random moments"
    cargo build --release
    scripts/kills.sh all 25
}

# The bench of a build: nodes, then nodes per second.
bench() { "$1" bench | awk 'END { print $1, $3 }'; }

builds() {
    step "builds for several processors"
    local cpu pair native other
    for cpu in native x86-64-v3 x86-64-v2 x86-64; do
        RUSTFLAGS="-C target-cpu=$cpu" cargo build -q --release --target-dir "target/long/$cpu"
    done
    for cpu in x86-64-v3 x86-64-v2 x86-64; do
        for pair in 1 2 3 4 5; do
            native=$(bench target/long/native/release/finch)
            other=$(bench "target/long/$cpu/release/finch")
            if [ "${native% *}" != "${other% *}" ]; then
                echo "builds: $cpu searches ${other% *} nodes, native ${native% *}" >&2
                exit 1
            fi
            echo "$cpu, pair $pair: $(awk "BEGIN { printf \"%.3f\", ${other#* } / ${native#* } }") of native"
        done
    done
}

address() {
    step "AddressSanitizer"
    local host
    host=$(rustc -vV | sed -n 's/^host: //p')
    # The sanitizers are behind a switch of the compiler that the stable one has, too. `ulimit -v`, which
    # some tests set, leaves no room for the sanitizer's shadow memory.
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" cargo test --target "$host" --target-dir target/address \
        -- search:: eval:: position:: data:: play:: uci:: engine:: perft:: book:: tablebase:: network:: \
        --skip memory --skip survives_100_000
}

fuzz() {
    step "fuzzing"
    scripts/fuzz.sh 300
}

deny() {
    step "licences and sources of the crates"
    cargo deny check licenses bans sources
}

for part in "${@:-clone release games endings kills builds address fuzz deny}"; do
    for name in $part; do
        case $name in
            clone | release | games | endings | kills | builds | address | fuzz | deny) "$name" ;;
            *)
                "$home/scripts/long.sh" --help >&2
                exit 1
                ;;
        esac
    done
done
