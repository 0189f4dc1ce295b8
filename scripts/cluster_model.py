#!/usr/bin/env python3
"""The speed-up of MPI jobs that are larger than any machine at hand, by simulation.

  scripts/cluster_model.py [FIGURES.json]

Prints a table for docs/cluster.md: vazquez-2013, kendall-2001, `tune search` and `evolve` on 16, 64,
256 and 1,024 cores. The figures are measured on one core and are in this file; FIGURES.json has others
under the same names. Lengths of games are drawn from those that were measured. What is simulated is what src/work
does: rank 0 hands out one task to each thread and one more with each result, handles one message at
a time, and waits at the end of a round for the last result.
"""
import heapq
import json
import random
import sys

# Seconds and bytes, on a core that does nothing else; see docs/cluster.md for the machine.
FIGURES = {
    # One of ten individuals of vazquez-2013 on 4,000 positions, making their weights, and what rank 0
    # does between generations.
    "evaluation": 5.1e-3,
    "individuals": 0.5e-3,
    "selection": 1e-3,
    # Mean lengths of games: three plies in full width; 10,000, 1,000 and 2,000 nodes a move.
    "kendall_game": 0.11,
    "search_game": 0.98,
    "selfplay_game": 0.08,
    "sprt_game": 0.165,
    # A generation of evolve: training on rank 0 with one thread, and games of its stages.
    "training": 10.0,
    "selfplay_count": 25_000,
    "sprt_count": 300,
    # Rank 0's work for a task and its result, a message's way there and back, the speed of the line.
    "handling": 30e-6,
    "latency": 100e-6,
    "pause": 1e-3,
    "line": 117e6,
    "weights": 210_000,
}
# Deciles of the lengths of 294 games of Finch against itself, as parts of their mean.
SPREAD = [0.54, 0.72, 0.80, 0.83, 0.88, 0.93, 1.01, 1.12, 1.33, 1.80]
CORES = [16, 64, 256, 1024]
# Cores of a host: one rank with as many threads.
HOST = 16


def lengths(figures, name, count, rng):
    """Lengths of some games, drawn from the spread that was measured."""
    return [figures[name] * rng.choice(SPREAD) for _ in range(count)]


def round_of_tasks(figures, tasks, workers, announced=0.0):
    """The time until the last of the tasks is done by so many workers, who ask one at a time."""
    free = [announced] * workers
    heapq.heapify(free)
    rank_0 = announced
    end = announced
    for task in tasks:
        ready = heapq.heappop(free)
        # Rank 0 handles one message after the other; it looks every now and then.
        start = max(ready + figures["pause"] / 2, rank_0) if workers > 1 else ready
        if workers > 1:
            rank_0 = start + figures["handling"]
            start = rank_0 + figures["latency"]
        done = start + task
        end = max(end, done)
        heapq.heappush(free, done)
    return end


def vazquez(figures, cores, _rng, positions=4_000):
    """Ten children a generation on all positions, a fixed part for each rank."""
    whole = 10 * figures["evaluation"] * positions / 4_000
    if cores == 1:
        return whole + figures["selection"]
    ranks, threads = max(1, cores // HOST), min(cores, HOST)
    if ranks == 1:
        return whole / threads + figures["selection"]
    # Parts of equal size take times that differ by a few percent.
    slowest = 1.05
    parts = [whole / cores * slowest] * ranks
    return round_of_tasks(figures, parts, ranks, figures["individuals"]) + figures["selection"]


def kendall(figures, cores, rng):
    """49 pairs in a chain: each shares a member with the one before, so two games at a time."""
    games = lengths(figures, "kendall_game", 98, rng)
    pairs = zip(games[::2], games[1::2])
    if cores == 1:
        return sum(games)
    overhead = figures["latency"] + figures["handling"] + figures["pause"]
    return sum(max(pair) + overhead for pair in pairs)


def search(figures, cores, rng, pairs=16):
    """A generation of SPSA: 32 games, then a step."""
    return round_of_tasks(figures, lengths(figures, "search_game", 2 * pairs, rng), cores)


def evolve(figures, cores, rng):
    """Self-play in one piece, training on rank 0, then games until the SPRT decides."""
    ranks = max(1, cores // HOST)
    threads = min(cores, HOST)
    announce = figures["weights"] / figures["line"] * (ranks - 1)
    selfplay = lengths(figures, "selfplay_game", figures["selfplay_count"], rng)
    sprt = lengths(figures, "sprt_game", figures["sprt_count"], rng)
    return (
        round_of_tasks(figures, selfplay, cores, announce)
        + figures["training"] / threads
        + round_of_tasks(figures, sprt, cores, 2 * announce)
    )


MODELS = [
    ("vazquez-2013", vazquez),
    ("vazquez-2013, 400,000 positions", lambda figures, cores, rng: vazquez(figures, cores, rng, 400_000)),
    ("kendall-2001", kendall),
    ("tune search", search),
    ("tune search, method.pairs=512", lambda figures, cores, rng: search(figures, cores, rng, 512)),
    ("evolve", evolve),
]


def mean(figures, model, cores, rounds=20):
    """The mean time over some rounds; the same games for each number of cores."""
    return sum(model(figures, cores, random.Random(seed)) for seed in range(rounds)) / rounds


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    figures = dict(FIGURES)
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            figures.update(json.load(file))
    print("| | " + " | ".join(f"{cores:,}" for cores in CORES) + " |")
    print("|---|" + "---|" * len(CORES))
    for name, model in MODELS:
        alone = mean(figures, model, 1)
        row = [f"{alone / mean(figures, model, cores):.1f}" for cores in CORES]
        print(f"| {name} | " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
