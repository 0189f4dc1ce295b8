#!/usr/bin/env python3
"""Makes Finch's opening book from its own games.

    scripts/book.py target/release/finch FOLDER

Finch chooses the first moves itself: from the initial position on, every move within 15
centipawns of its best is followed, for four plies. From each of these lines Finch plays itself
twice, at 8,000 and 10,000 nodes a move, with either side. `finch book build` makes FOLDER/finch.bin
from the games. Needs the PyPI package `chess`.
"""

import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import chess.pgn

PLIES = 4
MARGIN = 15
NODES = 300_000
PLAYERS = ("weights=default name=quick nodes=8000", "weights=default name=slow nodes=10000")


def candidates(engine, board):
    """The moves that are nearly as good as the best."""
    lines = engine.analyse(board, chess.engine.Limit(nodes=NODES), multipv=5, game=board.fen())
    scores = [line["score"].relative.score(mate_score=10_000) for line in lines]
    return [line["pv"][0] for line, score in zip(lines, scores) if score >= scores[0] - MARGIN]


def opening_lines(engine):
    boards = {chess.Board().epd(): chess.Board()}
    for _ in range(PLIES):
        longer = {}
        for board in boards.values():
            for move in candidates(engine, board):
                child = board.copy()
                child.push(move)
                longer.setdefault(child.epd(), child)
        boards = longer
        print(f"{len(boards)} lines of {next(iter(boards.values())).ply()} plies", flush=True)
    return list(boards.values())


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    finch, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with chess.engine.SimpleEngine.popen_uci(finch) as engine:
        lines = opening_lines(engine)
    openings, games = folder / "lines.pgn", folder / "games.pgn"
    with openings.open("w") as file:
        for board in lines:
            print(chess.pgn.Game.from_board(board), end="\n\n", file=file)
    subprocess.run([finch, "match", *PLAYERS, "--games", str(2 * len(lines)), "--openings",
                    openings, "--plies", str(PLIES), "--pgn", games, "--quiet"], check=True)
    subprocess.run([finch, "book", "build", games, "--plies", "16", "--min-games", "2", "--out",
                    folder / "finch.bin"], check=True)


if __name__ == "__main__":
    main()
