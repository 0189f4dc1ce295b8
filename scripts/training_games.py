#!/usr/bin/env python3
"""Makes the training games of tuning/games/: an engine against itself at a fixed node count.

Each game starts after a random opening that the engine scores as balanced, so no two games are
alike. It ends by the rules, or by adjudication when both sides agree about the result for several plies.
Game N depends on the seed and N alone: the same call makes the same games, on any number of processes, and
an interrupted run resumes.

    scripts/training_games.py --engine stockfish --nodes 10000 --games 5000 --out games.pgn
    zstd -19 --rm games.pgn

Needs python-chess (the PyPI package `chess`) and the engine.
"""

import argparse
import concurrent.futures
import os
import random
import re
import shutil

import chess
import chess.engine
import chess.pgn

BALANCED = 90  # largest score of an opening, in centipawns
WON = 700  # a score beyond this for SURE plies ends the game
DRAWN = 8
SURE = 6
FIRST_DRAW_PLY = 80


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="stockfish", help="UCI engine (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=10_000, help="nodes a move")
    parser.add_argument("--games", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", required=True, help="PGN file, appended to")
    options = parser.parse_args()
    options.engine = find_engine(options.engine)

    done = numbers_in(options.out)
    todo = [number for number in range(options.games) if number not in done]
    print(f"{len(done)} games exist, {len(todo)} to play", flush=True)
    with concurrent.futures.ProcessPoolExecutor(options.processes) as pool:
        tasks = [(options, todo[part :: options.processes]) for part in range(options.processes)]
        for _ in pool.map(play_games, tasks):
            pass


def find_engine(name):
    """Debian installs chess engines outside of most PATHs."""
    found = shutil.which(name) or shutil.which(name, path="/usr/games")
    if found is None:
        raise SystemExit(f"engine not found: {name}")
    return found


def numbers_in(path):
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        return {int(number) for number in re.findall(r'^\[Round "(\d+)"\]', file.read(), re.M)}


def play_games(task):
    options, numbers = task
    with chess.engine.SimpleEngine.popen_uci(options.engine) as engine:
        engine.configure({"Threads": 1, "Hash": 16})
        for number in numbers:
            text = str(play_game(engine, options, number))
            # One write per game: processes do not interleave, and a kill leaves no incomplete game.
            with open(options.out, "a") as file:
                file.write(text + "\n\n")


def play_game(engine, options, number):
    generator = random.Random(options.seed * 1_000_003 + number)
    board = opening(engine, generator)
    name = engine.id.get("name", "engine")
    # The random opening is not part of the game.
    game = chess.pgn.Game()
    game.setup(board.copy(stack=False))
    game.headers.update(
        Event=f"{name} against itself, {options.nodes} nodes a move",
        Site="?",
        Date="?",
        Round=str(number),
        White=name,
        Black=name,
    )
    node = game.end()
    limit = chess.engine.Limit(nodes=options.nodes)
    scores = []
    token = object()  # a new token makes python-chess send ucinewgame
    while not board.is_game_over(claim_draw=True):
        played = engine.play(board, limit, game=token, info=chess.engine.INFO_SCORE)
        scores.append(played.info["score"].white().score(mate_score=30_000))
        board.push(played.move)
        node = node.add_variation(played.move)
        result = agreed_result(board, scores[-SURE:])
        if result:
            game.headers["Termination"] = "adjudication"
            break
    else:
        result = board.result(claim_draw=True)
    game.headers["Result"] = result
    return game


def opening(engine, generator):
    """A balanced position after 6 to 10 random plies."""
    while True:
        board = chess.Board()
        for _ in range(generator.randint(6, 10)):
            if board.is_game_over():
                break
            board.push(generator.choice(sorted(board.legal_moves, key=str)))
        if board.is_game_over():
            continue
        info = engine.analyse(board, chess.engine.Limit(nodes=20_000), game=object())
        if abs(info["score"].white().score(mate_score=30_000)) <= BALANCED:
            return board


def agreed_result(board, scores):
    if len(scores) < SURE:
        return None
    if min(scores) >= WON:
        return "1-0"
    if max(scores) <= -WON:
        return "0-1"
    if board.ply() >= FIRST_DRAW_PLY and max(map(abs, scores)) <= DRAWN:
        return "1/2-1/2"
    return None


if __name__ == "__main__":
    main()
