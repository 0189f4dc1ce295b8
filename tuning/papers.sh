#!/usr/bin/env bash
# Repeats the experiments on the papers and prints their tables.
#
#   tuning/papers.sh [OPTIONS] [PART...]
#
#   --finch FILE     the engine (target/release/finch)
#   --games FILE     masters' games (PGN) instead of the built-in ones
#   --linares FILE   the games of the 2011 paper instead of the built-in ones
#   --suite FILE     a test suite that the players of `mentor` solve; may be repeated
#   --seeds N        runs of each experiment, at least 2 (5)
#   --seconds N      processor time of each run that compares methods (30)
#   --plies N        plies in full width of `strength` (6, as in the paper; one less takes a quarter of the time)
#   --out DIR        folder of the runs (runs/papers); what is finished there is not run again
#
# Parts, all of them if none is named: about eight hours of processor time, four hours on two cores. By part,
# processor time of five seeds:
#   readings     vazquez-2013: ways to read the paper that could lift its figure    (15 min)
#   history      vazquez-2013: the history where training games change              (15 min)
#   linares      vazquez-2011: 30 runs, run 31, mutation by child                   (5 min)
#   chance       kendall-2001 without selection                                     (1 min)
#   kendall      kendall-2001: bounds, seed, fifty moves                            (75 min)
#   nasreddine   nasreddine-2006: tie rules, unforced mutation, captures            (90 min)
#   mentor       david-tabibi-2011 with a mentor that shares its features           (10 min)
#   strength     vazquez-2013, experiment C: generation 0, P_r 0 and P_r 10, rated  (80 min)
#   strength-24  the same with 24 weights                                           (80 min)
#   second       vazquez-2013, second stage: mutation begun anew and continued, from the median run (35 min)
#   methods      seven methods in the same time on masters' moves and on a mentor's scores (50 min)
#   tournaments  five methods that select by the same number of games               (25 min)
#   ladder       evolved players from a random mover to Stockfish at UCI_Elo 1800: those of
#                kendall, nasreddine, linares, mentor and second if they were run before (10 min)
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { sed -n '2,/^set -e/p' "$0" | sed '$d; s/^# \{0,1\}//'; }

finch=target/release/finch
games=()
linares=()
suites=()
seeds=5
seconds=30
plies=6
out=runs/papers
while [ $# -gt 0 ]; do
    case "$1" in
        --finch) finch=$2; shift 2 ;;
        --games) games=(--games "$2"); shift 2 ;;
        --linares) linares=(--games "$2"); shift 2 ;;
        --suite) suites+=("$2"); shift 2 ;;
        --seeds) seeds=$2; shift 2 ;;
        --seconds) seconds=$2; shift 2 ;;
        --plies) plies=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "papers.sh: no option $1; see --help" >&2; exit 1 ;;
        *) break ;;
    esac
done
[ -x "$finch" ] || { echo "papers.sh: no engine $finch; cargo build --release" >&2; exit 1; }
mkdir -p "$out"

# tables FOLDER: the table of its runs, or one for each value of a sweep; a single run's last generation.
tables() {
    local table
    if [ -e "$1/table.txt" ]; then
        cat "$1/table.txt"
        return
    fi
    if [ -e "$1/journal.csv" ]; then  # a single run
        grep '^generation' "$1.log" | tail -n 1
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
    # The match of the paper is between the averages of generations 50 and 0.
    local run
    run=$(median "$out/linares")
    averages "$run" 0 >"$out/linares-first.toml"
    averages "$run" 50 >"$out/linares-last.toml"
    encounter linares-averages "weights=$out/linares-last.toml name=last" \
        "weights=$out/linares-first.toml name=first" --games 100 --plain 4
}

# averages FOLDER GENERATION: weights that are the means of the population.
averages() {
    awk -F, -v wanted="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ / mean$/) { name[i] = $i; sub(/ mean$/, "", name[i]) } }
        $1 == wanted {
            print "name = \"averages of generation " wanted "\"\n\n[material]\npawn = 100"
            for (i in name) if (name[i] != "legal_moves") print name[i] " = " $i
            for (i in name) if (name[i] == "legal_moves") print "\n[papers]\n" name[i] " = " $i
        }' "$1/journal.csv"
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

# both FIRST SECOND: two commands at the same time, for runs that use one processor each.
both() {
    $1 &
    local first=$!
    $2
    wait "$first"
}

# The matches of five players follow each other, so a run keeps one processor busy.
nasreddine() {
    both nasreddine-ties nasreddine-readings
    local variant players=(weights=shannon-1950 weights=nasreddine-2006
        "weights=$out/nasreddine-first/seed-1/start.toml name=start")
    for variant in keep first second random unforced captures; do
        mapfile -t -O ${#players[@]} players < <(everyone "$variant" "$out/nasreddine-$variant")
    done
    encounter nasreddine-games "${players[@]}" --games 4 --plain 3+3
    "$finch" rate "$out/nasreddine-games.pgn"
}

nasreddine-ties() {
    local tie
    for tie in keep first second; do
        experiment "nasreddine-$tie" nasreddine-2006 --runs "$seeds" --threads 1 --set "method.tie=$tie"
    done
}

nasreddine-readings() {
    experiment nasreddine-random nasreddine-2006 --runs "$seeds" --threads 1 --set method.tie=random
    experiment nasreddine-unforced nasreddine-2006 --runs "$seeds" --threads 1 --set method.forced=false
    # "3 ply further" for each piece captured, so captures go on to their end.
    sed '/^captures = /d' tuning/nasreddine-2006.toml >"$out/nasreddine-2006-captures.toml"
    experiment nasreddine-captures "$out/nasreddine-2006-captures.toml" --runs "$seeds" --threads 1
}

# encounter NAME ARGUMENTS...: a match in its own PGN file, unless it is there already.
encounter() {
    local name=$1
    shift
    printf '\n== %s: finch match %s\n' "$name" "$*"
    "$finch" match "$@" --pgn "$out/$name.pgn" --resume --quiet
}

# everyone LABEL FOLDER: the results of all its runs as players of a match.
everyone() {
    local run
    for run in "$2"/seed-*; do printf 'weights=%s/best.toml name=%s-%s\n' "$run" "$1" "${run##*-}"; done
}

# The mentor is Finch with its terms only, so mentor and organisms share their features; one position a
# game. The paper stores the mentor's evaluation after a search of two plies: of any position, as it is
# printed; of quiet ones; and, another reading, the mentor's own static evaluation.
mentor() {
    local source=${games[1]:-tuning/games/stockfish.pgn.zst}
    local label=("$finch" label "$source" --per-game 1 --depth 2 --fresh
        --engine "cmd=$finch option.Network=false option.Hash=1")
    "${label[@]}" --positions 10400 --out "$out/mentor.epd"
    "${label[@]}" --positions 20000 --quiet --quiet-move --out "$out/mentor-quiet.epd"
    static_scores "$out/mentor.epd" >"$out/mentor-static.epd"
    imitated mentor
    imitated mentor-quiet
    imitated mentor-static
}

# imitated NAME: organisms that learn from the labels of this name, against their mentor and chance.
imitated() {
    local sizes=(--set data.positions=1200 --set data.validation=1200) run
    [ ${#games[@]} -eq 0 ] || sizes=()
    # A hundred centipawns of the mentor are 199 of the organism, by the win model of the terms.
    experiment "$1" david-tabibi-2011 --runs "$seeds" --games "$out/$1.epd" "${sizes[@]}" \
        --set fitness.mentor_scale=100 --set fitness.own_scale=199
    run=$(median "$out/$1")
    encounter "$1-games" "weights=$run/best.toml name=evolved" terms --games 1000 --nodes 2000
    encounter "$1-random" "weights=$run/best.toml name=evolved" "weights=$run/start.toml name=random" --games 300 --nodes 2000
    [ ${#suites[@]} -eq 0 ] || "$finch" solve "${suites[@]}" --weights "$run/best.toml" --nodes 100000 --quiet \
        --engine david-tabibi-2011 --engine terms --engine "weights=$run/start.toml name=random"
}

# static_scores LABELS: the same positions with the static evaluation of Finch's terms.
static_scores() {
    awk 'BEGIN { print "setoption name Network value false" }
        !/^#/ { print "position fen " $1, $2, $3, $4, "0 1"; print "eval" }' "$1" | "$finch" |
        sed -n 's/^Score .*(\([-+][0-9.]*\) for .*/\1/p' |
        awk 'NR == FNR { score[NR] = sprintf("%.0f", 100 * $1); next }
            !/^#/ { sub(/ce -?[0-9]+; acd [0-9]+;/, "ce " score[++line] ";"); print }' - "$1"
}

# Games end when both sides agree who wins, or that nobody does: the paper does not say how its games ended.
judged=(--resign movecount=4 score=800 twosided=true --draw movenumber=40 movecount=8 score=15)

# Each pair of players 200 games, so many plies in full width, quiescence with captures and checks, both
# from Finch's book. Then the evolved ones against an engine of 2400 at a quick clock.
rated() {
    local preset=$1 history run name players=() evolved=() scores=()
    for history in 0 10; do
        experiment "$preset-$history" "$preset" --runs "$seeds" "${games[@]}" --set "method.history=$history"
        run=$(median "$out/$preset-$history")
        players+=("weights=$run/best.toml name=P_r-$history")
        evolved+=("weights=$run/best.toml name=P_r-$history plain=$plies+c1")
    done
    players+=("weights=$(median "$out/$preset-0")/start.toml name=generation-0")
    encounter "$preset-strength-$plies" "${players[@]}" --games 200 --plain "$plies+c1" --openings books/finch.bin "${judged[@]}"
    "$finch" rate "$out/$preset-strength-$plies.pgn"
    for run in "${evolved[@]}"; do
        name=$preset-2400-$plies-${#scores[@]}
        scores+=("$out/$name.pgn")
        encounter "$name" \
            "cmd=stockfish option.Hash=1 option.UCI_LimitStrength=true option.UCI_Elo=2400 movetime=50 name=SF2400" \
            "$run" --games 100 --openings books/finch.bin "${judged[@]}"
    done
    "$finch" rate "${scores[@]}" --anchor SF2400=2400
}

strength() {
    rated vazquez-2013
}

strength-24() {
    rated vazquez-2013-24
}

# median FOLDER: the folder of the run that the table calls the median.
median() {
    local seed
    seed=$(awk '/<- median/ { print $1 }' "$1/table.txt")
    printf '%s/seed-%s\n' "$1" "${seed:-1}"
}

# The paper continues with the population of its first stage and does not say where the schedule of
# mutation stands then. A last round robin chooses the champion: a single tournament does so by luck.
second() {
    local before stage
    experiment second-first vazquez-2013 --runs "$seeds" "${games[@]}"
    for before in 0 200; do
        stage=second-$before
        experiment "$stage" vazquez-2013-coevolution --from "$(median "$out/second-first")" \
            --set "method.mutation.generations_before=$before"
        encounter "$stage-games" "weights=$out/$stage/best.toml name=second" \
            "weights=$out/$stage/start.toml name=first" --games 400 --depth 6
    done
    # The same in full width, with fewer plies: six take six seconds a game.
    experiment second-plain vazquez-2013-coevolution --from "$(median "$out/second-first")" \
        --set fitness.search=plain --set fitness.plies=3
    encounter second-plain-games "weights=$out/second-plain/best.toml name=second" \
        "weights=$out/second-plain/start.toml name=first" --games 400 --plain 3
}

# with_method PRESET METHOD: the preset with another method and none of its figures.
with_method() {
    sed '/^\[method\]/,$d' "tuning/$1.toml"
    printf '[method]\n%b\n\n[run]\ngenerations = %s\n' "$2" "$3"
}

measured=(ep ga de cma-es memetic adam spsa)

# compared PRESET METHOD: runs of a preset by another method, as many generations as fit the seconds.
# All settings of the methods are their defaults: none was chosen on these data.
compared() {
    local folder=$out/methods-$1-$2 generations=5 data=() share
    [ "$1" = david-tabibi-2011 ] || data=("${games[@]}")
    if [ ! -e "$folder.toml" ]; then
        # Two trials, of five generations and of a fifth of the time, tell how long a generation takes.
        for share in 0.2 1; do
            with_method "$1" "name = \"$2\"" "$generations" >"$folder.pilot.toml"
            rm -rf "$folder.pilot"
            "$finch" tune "$folder.pilot.toml" "${data[@]}" --threads 1 --set run.closing_games=0 --out "$folder.pilot" \
                --quiet >"$folder.log"
            generations=$(awk -F, -v seconds="$seconds" -v share="$share" 'NR == 2 { first = $2 }
                { taken = $2 - first; number = $1 }
                END { print int(share * seconds * number / (taken > 0.001 ? taken : 0.001)) + 5 }' "$folder.pilot/journal.csv")
        done
        with_method "$1" "name = \"$2\"" "$generations" >"$folder.toml"
        rm -rf "$folder.pilot" "$folder.pilot.toml"
    fi
    experiment "$(basename "$folder")" "$folder.toml" --runs "$seeds" --threads 1 "${data[@]}"
}

# all_compared PRESET: runs of a preset by each method.
all_compared() {
    local method
    for method in "${measured[@]}"; do compared "$1" "$method"; done
}

methods() {
    local preset method players
    both "all_compared vazquez-2013" "all_compared david-tabibi-2011"
    for preset in vazquez-2013 david-tabibi-2011; do
        players=()
        for method in "${measured[@]}"; do
            mapfile -t -O ${#players[@]} players < <(everyone "$method" "$out/methods-$preset-$method")
        done
        encounter "methods-$preset-games" "${players[@]}" --games 2 --nodes 2000
        "$finch" rate "$out/methods-$preset-games.pgn"
    done
}

# About 1,100 games each, a quarter of those of kendall-2001: by population dynamics, and by others with the
# same genome and the same plies.
tournaments() {
    local name players=()
    local -A methods=(
        [population-dynamics]='11 name = "population-dynamics"\npopulation = 50\nreverse = true'
        [dynamic-boundary]='135 name = "dynamic-boundary"\npopulation = 5\nhighest = "queen"\nabove = ["rook", "bishop", "knight"]\ntie = "first"'
        [coevolution]='22 name = "coevolution"\npopulation = 10'
        [spsa]='69 name = "spsa"'
        [cma-es]='11 name = "cma-es"\npopulation = 10'
    )
    for name in population-dynamics dynamic-boundary coevolution spsa cma-es; do
        local preset=$out/by-games-$name.toml opponent=
        # The others choose by games between their individuals; this one needs an opponent.
        [ "$name" != cma-es ] || opponent='opponent = "shannon-1950"\ngames = 10'
        with_method kendall-2001 "${methods[$name]#* }" "${methods[$name]%% *}" |
            sed "s/^openings = .*/openings = \"book\"\n$opponent/" >"$preset"
        experiment "by-games-$name" "$preset" --runs "$seeds"
        mapfile -t -O ${#players[@]} players < <(everyone "$name" "$out/by-games-$name")
    done
    encounter by-games "${players[@]}" weights=shannon-1950 weights=kendall-2001 --games 6 --plain 3
    "$finch" rate "$out/by-games.pgn"
}

# Kendall and Whitwell estimate that evolution lifts their player from 650 to 1750. Here the evolved
# players stand on a scale of their own: Stockfish's two lowest levels have their nominal ratings.
ladder() {
    python3 -c 'import chess' || { echo "papers.sh: the random mover needs a package: pip install chess" >&2; exit 1; }
    local nodes elo run players=("cmd=python3 args=scripts/random_mover.py name=random")
    for nodes in 1 10 100; do
        players+=("cmd=stockfish option.Hash=1 nodes=$nodes name=Stockfish-$nodes-nodes")
    done
    for elo in 1350 1800; do
        players+=("cmd=stockfish option.Hash=1 option.UCI_LimitStrength=true option.UCI_Elo=$elo movetime=50 name=SF$elo")
    done
    for run in kendall kendall-unseeded nasreddine-random linares mentor-static second-first; do
        [ -e "$out/$run/seed-1/best.toml" ] || continue
        players+=("weights=$out/$run/seed-1/start.toml name=$run-start plain=3"
            "weights=$out/$run/seed-1/best.toml name=$run plain=3")
    done
    for run in shannon-1950 kendall-2001 nasreddine-2006 vazquez-2011 vazquez-2013 david-tabibi-2011; do
        players+=("weights=$run name=$run-printed plain=3")
    done
    encounter ladder "${players[@]}" --plain 3 --games 6
    "$finch" rate "$out/ladder.pgn" --anchor SF1350=1350 --anchor SF1800=1800
}

parts=("$@")
[ $# -gt 0 ] || parts=(readings history linares chance kendall nasreddine mentor strength strength-24 second methods tournaments ladder)
for part in "${parts[@]}"; do
    case "$part" in
        readings | history | linares | chance | kendall | nasreddine | mentor | strength | strength-24 | second | methods | tournaments | ladder)
            "$part" ;;
        *) echo "papers.sh: no part $part; see --help" >&2; exit 1 ;;
    esac
done
"$finch" report --papers "$out" || true  # methods and tournaments alone repeat no paper
