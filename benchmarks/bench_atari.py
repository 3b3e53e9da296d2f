"""Atari frames in colour: ``bench_atari.py serve PORT`` and ``bench_atari.py play PORT SECONDS``.

Runs under the interpreter of the package that is measured. `serve` is for the peer alone: an
environment as it is written for it, with the pixels in a list of numbers. `play` has `atari_env`'s
client where that is installed, and one of the peer's otherwise; it prints how many steps it took.
"""

import random
import sys
import time
from importlib.util import find_spec
from typing import Any

from ale_py import ALEInterface, LoggerMode, roms

GAME = "breakout"
FRAMESKIP = 4
WARM_UP = 10
SESSIONS = 16
HOST = "127.0.0.1"


def naive() -> tuple[Any, Any, Any]:
    """The environment, its action and its observation, in the form of the peer's packages."""
    from openenv.core.env_server import Action, Environment, Observation, State

    class AtariAction(Action):
        action_id: int

    class AtariObservation(Observation):
        screen: list[int]
        screen_shape: list[int]
        legal_actions: list[int]
        lives: int = 0
        episode_frame_number: int = 0
        frame_number: int = 0

    class Atari(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            ALEInterface.setLoggerMode(LoggerMode.Error)
            self.ale = ALEInterface()
            self.ale.setFloat("repeat_action_probability", 0.0)
            self.ale.loadROM(str(roms.get_rom_path(GAME)))
            self.moves = self.ale.getMinimalActionSet()

        def reset(self, **options: Any) -> AtariObservation:
            self.ale.reset_game()
            return self.seen(0)

        def step(self, action: AtariAction, **options: Any) -> AtariObservation:
            reward = 0
            for _ in range(FRAMESKIP):
                reward += self.ale.act(self.moves[action.action_id])
                if self.ale.game_over():
                    break
            return self.seen(reward)

        @property
        def state(self) -> State:
            return State()

        def seen(self, reward: int) -> AtariObservation:
            screen = self.ale.getScreenRGB()
            return AtariObservation(
                screen=screen.flatten().tolist(),
                screen_shape=list(screen.shape),
                legal_actions=list(range(len(self.moves))),
                lives=self.ale.lives(),
                episode_frame_number=self.ale.getEpisodeFrameNumber(),
                frame_number=self.ale.getFrameNumber(),
                reward=float(reward),
                done=self.ale.game_over(),
                metadata={"action_meanings": [str(move) for move in self.moves]},
            )

    return Atari, AtariAction, AtariObservation


def serve(port: int) -> None:
    """The peer's server of it, until the process is told to stop."""
    import uvicorn

    from openenv.core.env_server import create_app

    app = create_app(*naive(), env_name="atari", max_concurrent_envs=SESSIONS)
    uvicorn.run(app, host=HOST, port=port, log_level="warning")


def client(url: str) -> tuple[Any, Any]:
    """A client, and the class of its actions."""
    if find_spec("atari_env") is not None:
        from atari_env import AtariAction, AtariEnv

        return AtariEnv(base_url=url).sync(), AtariAction
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server import State

    _, action_class, observation_class = naive()

    class Client(EnvClient[action_class, observation_class, State]):
        def _step_payload(self, action: Any) -> dict[str, Any]:
            return {"action_id": action.action_id}

        def _parse_result(self, payload: dict[str, Any]) -> StepResult[Any]:
            ended = {"reward": payload["reward"], "done": payload["done"]}
            return StepResult(observation_class(**payload["observation"], **ended), **ended)

        def _parse_state(self, payload: dict[str, Any]) -> State:
            return State(**payload)

    return Client(base_url=url).sync(), action_class


def play(port: int, seconds: float) -> int:
    """How many steps a session takes in that time, beginning anew where a game ends."""
    opened, action_class = client(f"http://{HOST}:{port}")
    chance = random.Random(1)
    with opened as env:
        moves = len(env.reset().observation.legal_actions)
        for _ in range(WARM_UP):
            env.step(action_class(action_id=0))
        steps, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            if env.step(action_class(action_id=chance.randrange(moves))).done:
                env.reset()
            steps += 1
    return steps


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        print(play(int(sys.argv[2]), float(sys.argv[3])))
