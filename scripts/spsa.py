#!/usr/bin/env python3
"""Tunes the search constants by simultaneous perturbation stochastic approximation (SPSA).

    cargo build --release
    scripts/spsa.py target/release/finch --minutes 30 --out constants.json

Each pair of games is played between two engines whose constants are perturbed by one step in
opposite, random directions from the current estimate; the estimate moves towards the winner.
Ranges and steps come from `finch params`.
Needs python-chess. --begin continues from an earlier file. Pairs are played concurrently and end in
any order, so the same seed does not reproduce the same numbers.
"""

import argparse
import json
import os
import random
import re
import subprocess
import threading
import time
from pathlib import Path

import chess
import chess.engine

BOOK = Path(__file__).resolve().parent.parent / "books" / "openings.epd"
# Decay of perturbation and learning rate, as usual for SPSA (Spall 1998).
STEP_DECAY, RATE_DECAY = 0.101, 0.602
# Adjudication: a win above WON, or a draw within EVEN, for so many plies.
WON, WON_PLIES = 600, 6
EVEN, EVEN_PLIES, EVEN_FROM = 8, 10, 70
LONGEST = 300
# Fixed nodes say nothing about time management, and a step of a whole ply is too large.
SKIP = r"^time_|_depth$|^null_move_(base|depth)|^late_move_base$|double_limit$"


class Constant:
    def __init__(self, line, widen):
        name, _, value, low, high, step, _ = [field.strip() for field in line.split(",")]
        self.name = name
        self.value, self.low, self.high = float(value), float(low), float(high)
        self.step = widen * float(step)

    def bounded(self, value):
        return min(max(value, self.low), self.high)


class Player:
    def __init__(self, path, nodes):
        self.engine = chess.engine.SimpleEngine.popen_uci(path)
        # No contempt between equals.
        self.engine.configure({"Hash": 8, "Contempt": 0})
        self.limit = chess.engine.Limit(nodes=nodes)

    def choose(self, board, game):
        """The move and the score in centipawns for White."""
        result = self.engine.play(board, self.limit, game=game, info=chess.engine.INFO_SCORE)
        score = result.info.get("score")
        return result.move, score.white().score(mate_score=10_000) if score else 0


def play(white, black, fen):
    """White's points."""
    board, game = chess.Board(fen), object()
    ahead, plies_ahead, plies_even = 0, 0, 0
    while not board.is_game_over() and not board.can_claim_draw() and len(board.move_stack) < LONGEST:
        move, score = (white if board.turn else black).choose(board, game)
        side = (score >= WON) - (score <= -WON)
        plies_ahead = plies_ahead + 1 if side and side == ahead else int(side != 0)
        ahead = side
        even = abs(score) <= EVEN and len(board.move_stack) > EVEN_FROM
        plies_even = plies_even + 1 if even else 0
        if plies_ahead >= WON_PLIES:
            return (1 + ahead) / 2
        if plies_even >= EVEN_PLIES:
            return 0.5
        board.push(move)
    if board.is_checkmate():
        return 0.0 if board.turn else 1.0
    return 0.5


class Spsa:
    """The current estimate, shared by all workers."""

    def __init__(self, constants, arguments):
        self.constants = constants
        self.estimate = {constant.name: constant.value for constant in constants}
        self.rate = arguments.rate
        self.expected = arguments.pairs
        self.random = random.Random(arguments.seed)
        self.openings = BOOK.read_text().split("\n")[:-1]
        self.lock = threading.Lock()
        self.begun = self.played = 0

    def step(self, constant, pair):
        return constant.step * (self.expected / (pair + 1)) ** STEP_DECAY

    def draw(self):
        """Number and directions of the next pair, both engines' constants, an opening."""
        with self.lock:
            pair, self.begun = self.begun, self.begun + 1
            sides = {constant.name: self.random.choice((-1, 1)) for constant in self.constants}
            opening = " ".join(self.random.choice(self.openings).split()[:4]) + " 0 1"
            options = [
                {
                    constant.name: round(
                        constant.bounded(
                            self.estimate[constant.name]
                            + sign * sides[constant.name] * self.step(constant, pair)
                        )
                    )
                    for constant in self.constants
                }
                for sign in (1, -1)
            ]
        return pair, sides, options, opening

    def learn(self, pair, sides, lead):
        """`lead`: points of the first engine minus those of the second."""
        with self.lock:
            settled = 0.1 * self.expected
            slow = ((settled + self.expected) / (settled + pair + 1)) ** RATE_DECAY
            for constant in self.constants:
                size = self.rate * slow * constant.step**2 / self.step(constant, pair)
                moved = self.estimate[constant.name] + size * 2 * lead * sides[constant.name]
                self.estimate[constant.name] = constant.bounded(moved)
            self.played += 1
            return self.played


def work(spsa, arguments, until):
    first, second = (Player(arguments.engine, arguments.nodes) for _ in range(2))
    while time.monotonic() < until:
        pair, sides, options, opening = spsa.draw()
        first.engine.configure(options[0])
        second.engine.configure(options[1])
        lead = play(first, second, opening) - play(second, first, opening)
        if spsa.learn(pair, sides, lead) % 50 == 0:
            save(spsa, arguments.out)
    for player in (first, second):
        player.engine.quit()


def save(spsa, out):
    with spsa.lock:
        text = json.dumps({name: round(value, 2) for name, value in spsa.estimate.items()}, indent=0)
        out.write_text(text + "\n")
        print(f"{2 * spsa.played} games", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engine", help="the Finch to tune")
    parser.add_argument("--nodes", type=int, default=10_000, help="nodes a move")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pairs", type=int, default=2400, help="expected in that time")
    parser.add_argument("--rate", type=float, default=0.02, help="learning rate at the end")
    parser.add_argument("--widen", type=float, default=1.8, help="factor on the listed steps")
    parser.add_argument("--skip", type=re.compile, default=SKIP, help="regular expression of constants that are not tuned")
    parser.add_argument("--begin", type=Path, help="a file of an earlier run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    # Without it the engine does not list its constants, and python-chess refuses to set them.
    os.environ["FINCH_LIST_PARAMS"] = "1"
    constants = read_constants(arguments)
    spsa = Spsa(constants, arguments)
    until = time.monotonic() + 60 * arguments.minutes
    workers = [
        threading.Thread(target=work, args=(spsa, arguments, until))
        for _ in range(arguments.concurrency)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    save(spsa, arguments.out)


def read_constants(arguments):
    listed = subprocess.run([arguments.engine, "params"], capture_output=True, text=True, check=True)
    constants = [Constant(line, arguments.widen) for line in listed.stdout.splitlines()]
    earlier = json.loads(arguments.begin.read_text()) if arguments.begin else {}
    for constant in constants:
        constant.value = earlier.get(constant.name, constant.value)
    return [constant for constant in constants if not re.search(arguments.skip, constant.name)]


if __name__ == "__main__":
    main()
