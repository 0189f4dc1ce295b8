#!/usr/bin/env bash
# Repeats the experiments on the papers and prints their tables.
#
#   tuning/papers.sh [OPTIONS] [PART...]
#
#   --finch FILE     the engine (target/release/finch)
#   --games FILE     masters' games (PGN) instead of the built-in ones
#   --linares FILE   the games of the 2011 paper instead of the built-in ones
#   --seeds N        runs of each experiment, at least 2 (5)
#   --out DIR        folder of the runs (runs/papers); what is finished there is not run again
#
# Parts, all of them if none is named; processor time of five seeds on the built-in games:
#   readings   vazquez-2013: ways to read the paper that could lift its figure    (15 min)
#   history    vazquez-2013: the history where training games change              (15 min)
#   linares    vazquez-2011: 30 runs, run 31, mutation by child                   (5 min)
#   chance     kendall-2001 without selection                                     (1 min)
#   kendall    kendall-2001: bounds, seed, fifty moves                            (3 h)
#   nasreddine nasreddine-2006: tie rules, unforced mutation                      (3 h)
#   mentor     david-tabibi-2011 with a mentor that shares its features           (10 min)
#   strength   vazquez-2013, experiment C: generation 0, P_r 0 and P_r 10 at six plies, rated (2 h)
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set -e/p' "$0" | sed '$d; s/^# \{0,1\}//'; }

finch=target/release/finch
games=()
linares=()
seeds=5
out=runs/papers
while [ $# -gt 0 ]; do
    case "$1" in
        --finch) finch=$2; shift 2 ;;
        --games) games=(--games "$2"); shift 2 ;;
        --linares) linares=(--games "$2"); shift 2 ;;
        --seeds) seeds=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "papers.sh: no option $1; see --help" >&2; exit 1 ;;
        *) break ;;
    esac
done
[ -x "$finch" ] || { echo "papers.sh: no engine $finch; cargo build --release" >&2; exit 1; }
mkdir -p "$out"

# tables FOLDER: the table of its runs, or one for each value of a sweep.
tables() {
    local table
    if [ -e "$1/table.txt" ]; then
        cat "$1/table.txt"
        return
    fi
    for table in "$1"/*/table.txt; do
        printf '%s\n' "$(basename "$(dirname "$table")")"
        cat "$table"
    done
}

# experiment NAME ARGUMENTS...: a run of finch tune in its own folder, unless it is there already.
experiment() {
    local name=$1
    shift
    if [ ! -e "$out/$name.txt" ]; then
        rm -rf "${out:?}/$name"  # a run that was broken off
        "$finch" tune "$@" --set run.closing_games=0 --out "$out/$name" >"$out/$name.log" 2>&1 ||
            { tail -n 3 "$out/$name.log" >&2; exit 1; }
        tables "$out/$name" >"$out/$name.txt.draft"
        mv "$out/$name.txt.draft" "$out/$name.txt"
    fi
    printf '\n== %s: finch tune %s\n' "$name" "$*"
    cat "$out/$name.txt"
}

readings() {
    local runs=(vazquez-2013 --runs "$seeds" "${games[@]}")
    experiment as-read "${runs[@]}"
    experiment few-positions "${runs[@]}" --sweep data.positions=50,59,121,740
    experiment one-a-game "${runs[@]}" --set data.per_game=1
    experiment winners "${runs[@]}" --set data.side=winner
    experiment forced-kept "${runs[@]}" --set data.forced=true
    experiment ties-count "${runs[@]}" --set fitness.ties=hit
    # A tenth of the unit of the king's material, and mobility as a share of its maximum, are the
    # same as narrower bounds.
    experiment king-unit "${runs[@]}" \
        --set 'genome.weights.king_attacking_material={low=-10,high=0}' \
        --set 'genome.weights.king_defending_material={low=0,high=10}'
    experiment mobility-share "${runs[@]}" \
        --set 'genome.weights.knight_moves={low=0,high=12.5}' \
        --set 'genome.weights.bishop_moves={low=0,high=7.7}' \
        --set 'genome.weights.rook_moves={low=0,high=7.1}' \
        --set 'genome.weights.queen_moves={low=0,high=3.7}' \
        --set 'genome.weights.king_moves={low=0,high=12.5}'
    printf '\n== positions found by any of the runs: finch fitness moves --weights …\n'
    "$finch" fitness moves "${games[@]}" --checks 1 --weights "$out"/as-read/seed-*/best.toml | tail -n 1
}

history() {
    local drawn
    for drawn in 1 6 12; do
        experiment "history-$drawn" vazquez-2013 --runs "$seeds" "${games[@]}" \
            --set data.positions=0 --set data.max_games=600 --set data.distinct=false \
            --set "fitness.games_per_generation=$drawn" --sweep method.history=0,10,20
    done
}

linares() {
    experiment linares vazquez-2011 --runs 30 "${linares[@]}"
    experiment linares-level vazquez-2011-level --runs "$seeds" "${linares[@]}"
    experiment linares-by-child vazquez-2011 --runs 30 "${linares[@]}" --set method.mutation.per=child
}

chance() {
    experiment chance-unbounded kendall-2001-unbounded --runs "$seeds" --set method.results=chance
    experiment chance kendall-2001 --runs "$seeds" --set method.results=chance
}

kendall() {
    experiment kendall kendall-2001 --runs "$seeds"
    experiment kendall-unseeded kendall-2001-unseeded --runs "$seeds"
    experiment kendall-fifty kendall-2001 --runs "$seeds" --set fitness.max_moves=50
}

nasreddine() {
    experiment nasreddine-ties nasreddine-2006 --runs "$seeds" --sweep method.tie=keep,first,second,random
    experiment nasreddine-unforced nasreddine-2006 --runs "$seeds" --set method.forced=false
}

# encounter NAME ARGUMENTS...: a match in its own PGN file, unless it is there already.
encounter() {
    local name=$1
    shift
    printf '\n== %s: finch match %s\n' "$name" "$*"
    "$finch" match "$@" --pgn "$out/$name.pgn" --resume --quiet
}

# The mentor is Finch with its terms only, so mentor and organisms share their features; two plies, one
# position a game, no filter; both count in the same centipawns.
mentor() {
    local labels=$out/mentor.epd source=${games[1]:-tuning/games/stockfish.pgn.zst}
    local sizes=(--set data.positions=2000 --set data.validation=2000)
    [ ${#games[@]} -eq 0 ] || sizes=()
    "$finch" label "$source" --per-game 1 --positions 10400 --depth 2 --fresh \
        --engine "cmd=$finch option.Network=false option.Hash=1" --out "$labels"
    experiment mentor david-tabibi-2011 --runs "$seeds" --games "$labels" "${sizes[@]}" \
        --set fitness.mentor_scale=100 --set fitness.own_scale=100
    encounter mentor-games "weights=$out/mentor/seed-1/best.toml name=evolved" terms --games 1000 --nodes 2000
    encounter mentor-random "weights=$out/mentor/seed-1/best.toml name=evolved" \
        "weights=$out/mentor/seed-1/start.toml name=random" --games 300 --nodes 2000
}

# Each pair of players 200 games, six plies in full width, quiescence with captures and checks.
strength() {
    local preset history players
    for preset in vazquez-2013-24 vazquez-2013; do
        players=()
        for history in 0 10; do
            experiment "$preset-$history" "$preset" --runs "$seeds" "${games[@]}" --set "method.history=$history"
            players+=("weights=$out/$preset-$history/seed-1/best.toml name=P_r-$history")
        done
        players+=("weights=$out/$preset-0/seed-1/start.toml name=generation-0")
        encounter "$preset-strength" "${players[@]}" --games 200 --plain 6+c1
        "$finch" rate "$out/$preset-strength.pgn"
    done
}

parts=("$@")
[ $# -gt 0 ] || parts=(readings history linares chance kendall nasreddine mentor strength)
for part in "${parts[@]}"; do
    case "$part" in
        readings | history | linares | chance | kendall | nasreddine | mentor | strength) "$part" ;;
        *) echo "papers.sh: no part $part; see --help" >&2; exit 1 ;;
    esac
done
"$finch" report --papers "$out"
