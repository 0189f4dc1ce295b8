#!/usr/bin/env python3
"""Fits the win model of src/uci/wdl.rs to games that Finch played against its equal.

    scripts/fit_wdl.py games.pgn --middle 199

The games are in PGN with the score of each move in a comment, as fastchess, cutechess-cli and
`finch match` write them ("+0.35/14 0.21s"). Scores are turned back into internal units with the
`MIDDLE` that was built in when the games were played; the new `MIDDLE` and `SLOPE` are printed.
Needs python-chess.
"""

import argparse
import math
import re

import chess.pgn

SCORE = re.compile(r"([+-]?\d+\.\d+)/\d+")
FIRST_PLY, LAST_PLY = 16, 240
LARGEST = 1500  # internal units; beyond it the curve is flat


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="+")
    parser.add_argument("--middle", type=float, required=True, help="MIDDLE of the binary that played")
    options = parser.parse_args()
    points = [point for path in options.games for point in read(path, options.middle)]
    if not points:
        raise SystemExit("no scored moves found")
    middle, slope = fit(points)
    print(f"{len(points)} positions: MIDDLE = {middle:.0f}, SLOPE = {slope:.0f}")


def read(path, middle):
    """(internal score of the side that moved, whether that side won) for each scored move."""
    with open(path) as file:
        while game := chess.pgn.read_game(file):
            result = game.headers.get("Result")
            if result not in ("1-0", "0-1", "1/2-1/2"):
                continue
            for node in game.mainline():
                match = SCORE.match(node.comment)
                if not match or not FIRST_PLY <= node.ply() <= LAST_PLY:
                    continue
                score = float(match.group(1)) * middle
                white_moved = not node.turn()
                won = result == ("1-0" if white_moved else "0-1")
                if abs(score) <= LARGEST:
                    yield score, won


def fit(points):
    """Maximum likelihood of 1 / (1 + exp((middle - score) / slope)) by Newton's method on the
    equivalent line: log odds = offset + factor * score."""
    offset, factor = -2.0, 0.01
    for _ in range(50):
        gradient = [0.0, 0.0]
        hessian = [0.0, 0.0, 0.0]
        for score, won in points:
            chance = 1 / (1 + math.exp(-max(-40.0, min(40.0, offset + factor * score))))
            error, weight = won - chance, chance * (1 - chance)
            gradient[0] += error
            gradient[1] += error * score
            hessian[0] += weight
            hessian[1] += weight * score
            hessian[2] += weight * score * score
        determinant = hessian[0] * hessian[2] - hessian[1] ** 2
        step = (
            (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant,
            (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant,
        )
        offset, factor = offset + step[0], factor + step[1]
        if abs(step[0]) < 1e-9:
            break
    return -offset / factor, 1 / factor


if __name__ == "__main__":
    main()
