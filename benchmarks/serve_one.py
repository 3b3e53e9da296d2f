"""Serve one contestant in the foreground: ``serve_one.py KIND ENV PORT SESSIONS``.

Runs under the interpreter of the package it serves; everything is imported late, so that a
contestant pays for its own imports only.
"""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

HOST = "127.0.0.1"


def environment(name: str) -> tuple[Any, Any, Any]:
    """The classes of an environment, its actions and its observations."""
    if name == "blackjack":
        from blackjack_env import BlackJackAction, BlackJackObservation
        from blackjack_env.server.blackjack_environment import BlackJackEnvironment

        return BlackJackEnvironment, BlackJackAction, BlackJackObservation
    if name == "frame":
        from bench_frame import FrameAction, FrameEnv, FrameObservation

        return FrameEnv, FrameAction, FrameObservation
    if name == "openspiel":
        from bench_openspiel import naive

        return naive()
    from bench_env import BenchAction, BenchEnv, BenchObservation

    return BenchEnv, BenchAction, BenchObservation


def serve_ours(host_kind: str, env: str, port: int, sessions: int) -> None:
    """This package's own `serve`, with the host that is being measured."""
    from openenv import serve

    kind = cast("Literal['inline', 'thread', 'process', 'sandbox']", host_kind)
    serve(environment(env)[0], host=HOST, port=port, host_kind=kind, max_sessions=sessions)


def serve_peer(env: str, port: int, sessions: int) -> None:
    """The peer's `create_app` under uvicorn, which is how its packages are served."""
    import uvicorn

    if env == "blackjack":
        lend_names()
    made, action, observation = environment(env)
    from openenv.core.env_server import create_app

    app = create_app(made, action, observation, env_name=env, max_concurrent_envs=sessions)
    uvicorn.run(app, host=HOST, port=port, log_level="warning")


def lend_names() -> None:
    """Let the peer run the BlackJack package as it is: it has these names, but elsewhere."""
    import openenv
    from openenv.core import EnvClient
    from openenv.core.env_server import Action, Environment, Observation, State

    for one in (Action, EnvClient, Environment, Observation, State):
        setattr(openenv, one.__name__, one)
    openenv.errors = SimpleNamespace(ResetRequired=RuntimeError)  # type: ignore[assignment]
    ours = Path(__file__).parents[1] / "src/openenv/env/seeds.py"  # which imports nothing of ours
    openenv.Seeds = runpy.run_path(str(ours))["Seeds"]


def main(kind: str, env: str, port: int, sessions: int) -> None:
    """Serve `kind` until the process is told to stop."""
    if kind == "peer":
        serve_peer(env, port, sessions)
    elif kind in ("inline", "thread", "process", "sandbox"):
        serve_ours(kind, env, port, sessions)
    else:
        from floors import FLOORS

        FLOORS[kind](port)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
