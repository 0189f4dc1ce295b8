#!/usr/bin/env python3
"""A UCI engine that plays random legal moves: the lowest step of a ladder.

It never loses on time and ignores every option. Needs the PyPI package chess.

    finch match "cmd=python3 args=scripts/random_mover.py name=random" default --games 10
"""

import random
import sys

import chess


def position(words: list[str]) -> chess.Board:
    """The board that a line `position ...` describes."""
    moves = words[words.index("moves") + 1 :] if "moves" in words else []
    if words[1] == "fen":
        board = chess.Board(" ".join(words[2:8]))
    else:
        board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


def main() -> None:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__.strip())
        return
    # The same games give the same moves.
    chance = random.Random(1)
    board = chess.Board()
    for line in sys.stdin:
        words = line.split()
        match words[:1]:
            case ["uci"]:
                print("id name Random mover\nid author Finch\nuciok")
            case ["isready"]:
                print("readyok")
            case ["position"]:
                board = position(words)
            case ["go"]:
                moves = list(board.legal_moves)
                print("info depth 1 score cp 0")
                print("bestmove", chance.choice(moves).uci() if moves else "0000")
            case ["quit"]:
                return
        sys.stdout.flush()


if __name__ == "__main__":
    main()
