#!/usr/bin/env python3
"""Compares Finch's probes of Syzygy tables with those of fathom, an independent program.

    scripts/fathom.py target/release/finch /path/to/syzygy [POSITIONS] [SEED]

Draws random legal positions (10,000 unless told otherwise) from all endings whose tables are in
the folder, and compares WDL and DTZ. DTZ tables may round by one ply, and fathom does not resolve
this alike in all cases: such differences are counted apart. Needs fathom (Debian's package) and
the PyPI package `chess`.
"""

import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess

FATHOM = shutil.which("fathom") or shutil.which("fathom", path="/usr/games")


def random_position(material, generator):
    """A legal position with a legal move, with these men on random squares."""
    while True:
        board = chess.Board(None)
        for color, men in zip((chess.WHITE, chess.BLACK), material.split("v")):
            for letter in men:
                piece = chess.Piece(chess.PIECE_SYMBOLS.index(letter.lower()), color)
                free = [s for s in chess.SQUARES if board.piece_at(s) is None
                        and not (letter == "P" and chess.square_rank(s) in (0, 7))]
                board.set_piece_at(generator.choice(free), piece)
        board.turn = generator.random() < 0.5
        if board.is_valid() and any(board.legal_moves):
            return board.fen()


def asked_of_fathom(folder, fen):
    text = subprocess.run([FATHOM, f"--path={folder}", fen], capture_output=True, text=True).stdout
    tag = {name: re.search(rf'\[{name} "(-?\w+)"\]', text).group(1) for name in ("WDL", "DTZ")}
    return tag["WDL"], abs(int(tag["DTZ"]))


def asked_of_finch(finch, folder, positions):
    lines = [f"setoption name SyzygyPath value {folder}"]
    lines += [line for fen in positions for line in (f"position fen {fen}", "d")]
    text = subprocess.run([finch], input="\n".join([*lines, "quit", ""]), capture_output=True,
                          text=True).stdout
    found = re.findall(r"^Tablebases WDL: (\w+)\nTablebases DTZ: (-?\d+)$", text, re.MULTILINE)
    return [(wdl, abs(int(dtz))) for wdl, dtz in found]


def main():
    if len(sys.argv) < 3 or FATHOM is None:
        raise SystemExit(__doc__ if FATHOM else "fathom.py: fathom is not installed")
    finch, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    generator = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    endings = sorted(path.stem for path in Path(folder).glob("*.rtbz"))
    positions = [random_position(generator.choice(endings), generator) for _ in range(count)]
    finch_says = asked_of_finch(finch, folder, positions)
    if len(finch_says) != count:
        raise SystemExit(f"fathom.py: Finch answered {len(finch_says)} of {count} positions")
    with ThreadPoolExecutor(2) as pool:
        fathom_says = list(pool.map(lambda fen: asked_of_fathom(folder, fen), positions))
    wrong_wdl, wrong_dtz, rounded = 0, 0, 0
    for fen, ours, theirs in zip(positions, finch_says, fathom_says):
        difference = abs(ours[1] - theirs[1])
        rounded += ours[0] == theirs[0] and difference == 1
        if ours[0] != theirs[0] or difference > 1:
            wrong_wdl += ours[0] != theirs[0]
            wrong_dtz += difference > 1
            print(f"{fen}: Finch {ours}, fathom {theirs}")
    print(f"{count} positions of {len(endings)} endings: WDL differs in {wrong_wdl}, "
          f"DTZ in {wrong_dtz}, by rounding in {rounded}")
    raise SystemExit(wrong_wdl + wrong_dtz > 0)


if __name__ == "__main__":
    main()
