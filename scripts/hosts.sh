#!/usr/bin/env bash
# Ranks of one MPI job on two hosts. The hosts are network namespaces of this machine, each with its
# own address and host name, joined by a line of their own and by nothing else. OpenMPI's launcher
# starts the ranks; its agent enters a namespace where it would use ssh. The results must be those of
# one process. Needs root and OpenMPI, and a build with --features cluster.
#
#   scripts/hosts.sh [FINCH]      (77: namespaces are not permitted here)
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
finch=$(realpath "${1:-target/release/finch}")
work=$(mktemp -d)
one=finch-$$-one two=finch-$$-two

remove() {
    ip netns del "$one" 2>/dev/null || true
    ip netns del "$two" 2>/dev/null || true
    rm -rf "$work"
}
trap remove EXIT

if ! { ip netns add "$one" && ip netns add "$two" && ip netns exec "$one" unshare --uts true; } 2>/dev/null; then
    echo "hosts.sh: skipped, network namespaces are not permitted here"
    exit 77
fi
ip -n "$one" link add line type veth peer name line netns "$two"
for host in "$one 10.77.0.1" "$two 10.77.0.2"; do
    read -r name address <<<"$host"
    ip -n "$name" addr add "$address/24" dev line
    ip -n "$name" link set lo up
    ip -n "$name" link set line up
done

# What the launcher calls instead of ssh: address, then the command.
cat >"$work/agent" <<AGENT
#!/bin/sh
[ "\$1" = 10.77.0.2 ] || exit 1
shift
exec ip netns exec $two unshare --uts sh -c "hostname $two && \$*"
AGENT
chmod +x "$work/agent"
printf '10.77.0.1 slots=2\n10.77.0.2 slots=2\n' >"$work/hosts"
cd "$work"

on_hosts() {
    ip netns exec "$one" unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh "$one" \
        mpirun --allow-run-as-root --oversubscribe --hostfile hosts -n 4 --map-by node \
        --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include line --mca btl_tcp_if_include line "$@"
}
sent() { ip netns exec "$1" cat "/sys/class/net/line/statistics/${2}_$3"; }
# Times and dates differ from run to run.
plain() { grep -vE '^\[(Date|Time|UTC|Game[DSE])' "$1" | tr '\n' ' ' | sed -E 's/\{[^}]*\}//g' | tr -s ' '; }

on_hosts hostname | sort | uniq -c
rates=()
measure() { # NAME COMMAND...
    local name=$1 before after start end
    shift
    before=$(($(sent "$one" tx bytes) + $(sent "$one" rx bytes)))
    start=$(date +%s%N)
    on_hosts "$finch" "$@" >"$name.log" 2>&1 || { cat "$name.log" >&2; exit 1; }
    end=$(date +%s%N)
    after=$(($(sent "$one" tx bytes) + $(sent "$one" rx bytes)))
    rates+=("$name: $(((after - before) / 1000)) kB over the line in $(((end - start) / 1000000)) ms; $(grep -h ' ranks, ' "$name.log")")
}

settings=(--nodes 200 --games 16 --concurrency 1 --maxmoves 40 --quiet)
"$finch" match default hand-set "${settings[@]}" --pgn games.one.pgn >/dev/null
measure match match default hand-set "${settings[@]}" --pgn games.two.pgn
cmp <(plain games.one.pgn) <(plain games.two.pgn)

"$finch" selfplay --positions 400 --depth 2 --out labels.one.bin --format packed 2>/dev/null
measure selfplay selfplay --positions 400 --depth 2 --out labels.two.bin --format packed
cmp labels.one.bin labels.two.bin

run=(--games games.one.pgn --threads 1 --set run.generations=3 --set data.positions=60 --set data.validation=20 --set run.closing_games=0)
"$finch" tune vazquez-2013 "${run[@]}" --out run.one >/dev/null 2>&1
measure tune tune vazquez-2013 "${run[@]}" --out run.two
cmp run.one/best.toml run.two/best.toml

printf '%s\n' "${rates[@]}"
# No way leads anywhere else: the line is the only route of both.
for host in "$one" "$two"; do
    routes=$(ip -n "$host" route | wc -l)
    [ "$routes" -eq 1 ] || { echo "$host has $routes routes" >&2; exit 1; }
done
echo "hosts.sh: two hosts give the results of one process"
