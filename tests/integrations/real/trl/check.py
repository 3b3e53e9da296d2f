"""TRL on this machine's processor: GRPO over sessions of our servers, in every way there is.

python tests/integrations/real/trl/check.py [PART ...], where TRL is installed; minutes, not more.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module, reload
from typing import Any

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import add_response_schema

from openenv.integrations.trl import env_reward, environment_factory, rollout_func
from openenv.testing import serving
from tests.integrations.real.trl import loops, patterns
from tests.integrations.trl.lessons import ECHO
from tests.integrations.trl.tiny import Lesson, taught

PROMPT = [{"role": "user", "content": "Go on."}]


def word(rng: random.Random, most: int = 6, least: int = 1) -> str:
    """A few letters."""
    return "".join(rng.choices("abcde", k=rng.randint(least, most)))


def lesson(tool: Any, arguments: Callable[[random.Random], dict[str, Any]], said: str) -> Lesson:
    """How a tool is called; what it says is not what is to be learned."""
    return Lesson("Go on.", [tool], tool.__name__, arguments, lambda _: said, calls=3)


@contextmanager
def served(name: str, app: Any) -> Iterator[str]:
    """Serves an environment under the name by which examples know it."""
    with serving(app) as url:
        os.environ[f"{name}_URL"] = url
        yield url


def app_of(package: str) -> Any:
    """An environment's application, a new one for each server."""
    return reload(import_module(f"{package}.server.app")).app


def active(url: str) -> int:
    """Sessions that a server holds."""
    with urllib.request.urlopen(f"{url}/health") as answer:
        return int(json.load(answer)["active_sessions"])


def trainer(tiny: Any, steps: int, rows: Any = None, **options: Any) -> Any:
    """A trainer on the processor, with rewards that are the environments' own."""
    args: dict[str, Any] = {
        "output_dir": "/tmp/openenv-trl-check",
        "use_cpu": True,
        "bf16": False,
        "per_device_train_batch_size": 8,
        "num_generations": 8,
        "max_completion_length": 160,
        "max_steps": steps,
        "learning_rate": 1e-3,
        "lr_scheduler_type": "constant",
        "report_to": "none",
        "save_strategy": "no",
        "logging_steps": 1,
        "disable_tqdm": True,
        "log_level": "error",
        "seed": 1,
        **options.pop("args", {}),
    }
    rows = rows or {"prompt": [PROMPT] * 64, "seed": list(range(64))}
    return GRPOTrainer(
        tiny.copy(),
        args=GRPOConfig(**args),
        train_dataset=Dataset.from_dict(rows),
        processing_class=tiny.tokenizer,
        **options,
    )


def own_reward(environments: Sequence[Any], **_: Any) -> list[float]:
    """As TRL's examples have it."""
    return [environment.reward for environment in environments]


def column(made: Any, name: str) -> list[float]:
    """A metric of each step."""
    return [entry[name] for entry in made.state.log_history if name in entry]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def figures(made: Any, *, failures: bool = False) -> str:
    """Asserts that a run was one, and says what it was like."""
    rewards, deviations = column(made, "reward"), column(made, "reward_std")
    gradients = column(made, "grad_norm")
    calls, failed = column(made, "tools/call_frequency"), column(made, "tools/failure_frequency")
    assert max(deviations) > 0, deviations
    assert max(gradients) > 0, gradients
    assert not calls or mean(calls) > 0.5, calls
    assert failures or not failed or max(failed) == 0, failed
    frequency = f"call frequency {mean(calls):.2f}, " if calls else ""
    return (
        f"{len(rewards)} steps, {frequency}reward {rewards[0]:.2f} to {rewards[-1]:.2f}, "
        f"std {mean(deviations):.2f}, gradient {mean(gradients):.2f}"
    )


def echo_pattern() -> str:
    """§ the echo example: 4 steps, then 60 that must learn."""
    tool = patterns.Echo.echo
    taught_it = lambda rng: {"message": word(rng, 10)}  # noqa: E731
    tiny = taught([lesson(tool, taught_it, "abc")])
    with served("ECHO", app_of("echo_env")) as url:
        short = trainer(tiny, 4, environment_factory=patterns.Echo, reward_funcs=own_reward)
        short.train()
        first, sessions = figures(short), active(url)
        assert sessions == 8, sessions
        began = time.monotonic()
        long = trainer(tiny, 60, environment_factory=patterns.Echo, reward_funcs=own_reward)
        long.train()
        seconds = time.monotonic() - began
    rewards = column(long, "reward")
    before, after = mean(rewards[:10]), mean(rewards[-10:])
    assert after >= 3 * before, (before, after)
    return f"{first}, {sessions} sessions; 60 steps in {seconds:.0f} s: {before:.2f} to {after:.2f}"


def catch_pattern() -> str:
    """The catch example: 32 sessions; a server that holds 8 says so."""
    from openenv import create_app
    from openspiel_env.models import OpenSpielAction, OpenSpielObservation
    from openspiel_env.server import OpenSpielEnvironment

    tiny = taught(
        [lesson(patterns.Catch.move, lambda rng: {"action_id": rng.randrange(3)}, "2 47")]
    )
    args = {"per_device_train_batch_size": 16, "gradient_accumulation_steps": 2}
    options = {"environment_factory": patterns.Catch, "reward_funcs": own_reward, "args": args}
    small = create_app(
        OpenSpielEnvironment, OpenSpielAction, OpenSpielObservation, max_concurrent_envs=8
    )
    with served("CATCH", small):
        try:
            trainer(tiny, 1, **dict(options)).train()
            raise AssertionError("32 sessions fitted into 8")
        except RuntimeError as error:
            refusal = str(error)
            assert "8" in refusal and getattr(error, "code", "") == "CAPACITY_REACHED", refusal
    args["max_completion_length"] = 400
    with served("CATCH", app_of("openspiel_env")) as url:
        made = trainer(tiny, 1, **options)
        made.train()
        sessions = active(url)
        assert sessions == 32, sessions
    assert min(column(made, "tools/call_frequency")) > 0.5
    return f"with 8 slots: {refusal[:60]!r}; by default {sessions} sessions"


def wordle_pattern() -> str:
    """The wordle example."""
    tiny = taught([lesson(patterns.Wordle.guess, lambda rng: {"guess": word(rng, 5, 5)}, "X X Y")])
    with served("WORDLE", app_of("textarena_env")) as url:
        made = trainer(tiny, 1, environment_factory=patterns.Wordle, reward_funcs=own_reward)
        made.train()
        assert active(url) == 8
    assert min(column(made, "tools/call_frequency")) > 0.5
    return f"1 step, call frequency {column(made, 'tools/call_frequency')[0]:.2f}"


def several_pattern() -> str:
    """The example of several environments in one run."""
    kinds = {"echo": patterns.SomeEcho, "wordle": patterns.SomeWordle}
    tiny = taught(
        [
            lesson(patterns.SomeEcho.echo, lambda rng: {"message": word(rng)}, "abc"),
            lesson(patterns.SomeWordle.guess, lambda rng: {"guess": word(rng, 5, 5)}, "so"),
        ]
    )
    rows = {"prompt": [PROMPT] * 8, "environment": ["echo", "wordle"] * 4}
    with served("ECHO", app_of("echo_env")), served("WORDLE", app_of("textarena_env")):
        made = trainer(
            tiny,
            2,
            rows,
            environment_factory=kinds,
            reward_funcs=own_reward,
            args={"per_device_train_batch_size": 16},
        )
        made.train()
    return figures(made, failures=True)


def games() -> str:
    """The factory and the rollout function on our own games, by the text that they show."""
    said = []
    for package, field, values in (
        ("blackjack_env", "move", ["hit", "stand"]),
        ("openspiel_env", "action_id", [0, 1, 2]),
        ("game_2048_env", "move", ["up", "down", "left", "right"]),
    ):
        with serving(app_of(package)) as url:
            kind = environment_factory(url, reward="sum", idle_reward=-1.0)

            def made_up(rng: random.Random, field: str = field, values: Any = values) -> Any:
                return {field: rng.choice(values)}

            tiny = taught([lesson(kind.act, made_up, "abc")], steps=200)  # type: ignore[attr-defined]
            args = {"max_completion_length": 640, "per_device_train_batch_size": 16}
            played = trainer(tiny, 2, environment_factory=kind, args=args)
            played.train()
            assert active(url) == 16
            kind.close_all()
            alone = trainer(
                tiny,
                2,
                rollout_func=rollout_func(url, reward="sum", idle_reward=-1.0),
                reward_funcs=env_reward,
                args=args,
            )
            alone.train()
            assert active(url) == 0
        said.append(f"{package}: {figures(played, failures=True)} | {figures(alone)}")
    return "; ".join(said)


def asynchronous() -> str:
    """The session loop of the asynchronous trainer."""
    with serving(app_of("echo_env")) as url:
        sessions = loops.sessions_of(url)
        tiny = taught([replace(ECHO, tools=loops.described(sessions))])
        add_response_schema(tiny.tokenizer)
        return loops.check(tiny, sessions, [{"role": "user", "content": ECHO.prompt}])


PARTS = {
    part.__name__: part
    for part in (echo_pattern, catch_pattern, wordle_pattern, several_pattern, games, asynchronous)
}


def main() -> None:
    """Runs the parts that are named, all by default."""
    for name in sys.argv[1:] or PARTS:
        began, cpu = time.monotonic(), time.process_time()
        told = PARTS[name]()
        spent = f"{time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} s CPU"
        print(f"trl {name}: {told} ({spent})", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"trl peak memory: {peak} MB")


if __name__ == "__main__":
    main()
