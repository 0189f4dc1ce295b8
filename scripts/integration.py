#!/usr/bin/env python3
"""Drives Finch with python-chess, a real UCI client, against Stockfish, a real opponent.

    scripts/integration.py target/release/finch

python-chess checks every move for legality and every line for form; this script plays whole
games by clock and by node count, pondering, in orthodox chess and Chess960, analyses with several
lines, and changes options between games. Needs the PyPI package `chess` and Stockfish.
"""

import random
import shutil
import sys
import time

import chess
import chess.engine

FINCH = sys.argv[1] if len(sys.argv) > 1 else "target/release/finch"
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
passed = 0


def check(condition, what):
    global passed
    if not condition:
        raise SystemExit(f"integration: FAILED: {what}")
    passed += 1
    print(f"ok: {what}", flush=True)


def finch():
    return chess.engine.SimpleEngine.popen_uci(FINCH, timeout=30)


def play(white, black, board, limit, most=300, **arguments):
    """One game; python-chess raises on an illegal move or a dead engine."""
    token = object()
    while not board.is_game_over(claim_draw=True) and board.ply() < most:
        mover = white if board.turn == chess.WHITE else black
        result = mover.play(board, limit, game=token, **arguments)
        board.push(result.move)
    return board


def whole_games():
    with finch() as engine, chess.engine.SimpleEngine.popen_uci(STOCKFISH) as stockfish:
        stockfish.configure({"Skill Level": 0})
        limit = chess.engine.Limit(time=0.02)
        points = 0.0
        for finch_is_white in (True, False):
            sides = (engine, stockfish) if finch_is_white else (stockfish, engine)
            board = play(*sides, chess.Board(), limit)
            check(board.is_valid(), f"a game against Stockfish, {board.result(claim_draw=True)}")
            outcome = board.outcome(claim_draw=True)
            winner = outcome.winner if outcome else None
            points += 0.5 if winner is None else float(winner == finch_is_white)
        check(points >= 1.0, f"Finch holds its own against the weakest Stockfish: {points} of 2")


def clocks():
    with finch() as engine:
        clock = {chess.WHITE: 1.0, chess.BLACK: 1.0}
        board, token = chess.Board(), object()
        while not board.is_game_over(claim_draw=True) and board.ply() < 200:
            limit = chess.engine.Limit(
                white_clock=clock[chess.WHITE], black_clock=clock[chess.BLACK],
                white_inc=0.01, black_inc=0.01)
            mover, started = board.turn, time.monotonic()
            board.push(engine.play(board, limit, game=token).move)
            clock[mover] += 0.01 - (time.monotonic() - started)
        check(min(clock.values()) > 0, f"{board.ply()} plies at 1+0.01 without running out of time")


def analysis():
    board = chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    with finch() as engine:
        lines = engine.analyse(board, chess.engine.Limit(depth=10), multipv=3)
        check(len({line["pv"][0] for line in lines}) == 3, "three different lines with MultiPV")
        scores = [line["score"].relative.score(mate_score=100_000) for line in lines]
        check(scores == sorted(scores, reverse=True), "the best line comes first")
        with engine.analysis(board) as running:
            for info in running:
                if info.get("depth", 0) >= 9:
                    break
        check(engine.ping() is None, "an infinite analysis ends at stop")
        only = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("b2b3")]
        found = engine.play(board, chess.engine.Limit(depth=5), root_moves=only)
        check(found.move in only, "only the moves asked for are searched")
        mate = engine.analyse(chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"),
                              chess.engine.Limit(depth=5))
        check(mate["score"].white() == chess.engine.Mate(1), "mate in one is mate in one")


def pondering():
    with finch() as engine, chess.engine.SimpleEngine.popen_uci(STOCKFISH) as stockfish:
        board, token = chess.Board(), object()
        limit = chess.engine.Limit(white_clock=2.0, black_clock=2.0, white_inc=0.02, black_inc=0.02)
        for _ in range(12):
            board.push(engine.play(board, limit, game=token, ponder=True).move)
            if board.is_game_over():
                break
            board.push(stockfish.play(board, chess.engine.Limit(nodes=5_000)).move)
            if board.is_game_over():
                break
        check(board.ply() >= 20, f"{board.ply()} plies with pondering")


def chess960():
    generator = random.Random(960)
    with finch() as white, finch() as black:
        castled = 0
        for _ in range(6):
            board = chess.Board.from_chess960_pos(generator.randrange(960))
            play(white, black, board, chess.engine.Limit(nodes=3_000), most=160)
            castled += sum(1 for move in replay(board) if move)
        check(castled > 0, f"six games of Chess960, castling {castled} times")


def replay(board):
    """Whether each move of the game was castling."""
    again = board.root()
    for move in board.move_stack:
        yield again.is_castling(move)
        again.push(move)


def options():
    with finch() as engine:
        names = engine.options
        for name in ("Hash", "Threads", "MultiPV", "Move Overhead", "UCI_ShowWDL", "WeightsFile"):
            check(name in names, f"option {name} is declared")
        engine.configure({"Hash": 64, "Threads": 2, "UCI_ShowWDL": True, "Move Overhead": 30})
        info = engine.analyse(chess.Board(), chess.engine.Limit(time=0.3))
        check(sum(info["wdl"]) == 1000, "wins, draws and losses add up to 1000")
        engine.configure({"WeightsFile": "weights/papers/shannon-1950.toml", "Threads": 1})
        shannon = engine.analyse(chess.Board(), chess.engine.Limit(depth=8), game=1)
        engine.configure({"WeightsFile": ""})
        own = engine.analyse(chess.Board(), chess.engine.Limit(depth=8), game=2)
        check(shannon["nodes"] != own["nodes"], "a weights file changes how Finch plays")


def lichess():
    """The options of lichess-bot's default configuration, and a game with its clock."""
    with finch() as engine:
        engine.configure({"Move Overhead": 100, "Threads": 2, "Hash": 128,
                          "SyzygyPath": "./syzygy/", "UCI_ShowWDL": True})
        check(engine.ping() is None, "lichess-bot's options are all taken")
        engine.configure({"OwnBook": True, "BookDepth": 8, "BookBest": True})
        clock, board = {chess.WHITE: 4.0, chess.BLACK: 4.0}, chess.Board()
        token, last = object(), {}
        while not board.is_game_over(claim_draw=True) and board.ply() < 60:
            limit = chess.engine.Limit(white_clock=clock[chess.WHITE], white_inc=0.1,
                                       black_clock=clock[chess.BLACK], black_inc=0.1)
            mover, started = board.turn, time.monotonic()
            found = engine.play(board, limit, game=token, info=chess.engine.INFO_ALL)
            clock[mover] += 0.1 - (time.monotonic() - started)
            board.push(found.move)
            last = found.info or last
        check(min(clock.values()) > 0 and "wdl" in last, f"{board.ply()} plies as lichess-bot plays")


def main():
    if STOCKFISH is None:
        raise SystemExit("integration: Stockfish is not installed")
    for part in (whole_games, clocks, analysis, pondering, chess960, options, lichess):
        part()
    print(f"integration: {passed} passed, 0 failed")


if __name__ == "__main__":
    main()
