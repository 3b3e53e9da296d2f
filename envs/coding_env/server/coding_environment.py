"""The Python session that a server holds for each client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from coding_env.models import CodeAction, CodeObservation, CodeState
from coding_env.options import CodingOptions, check_seconds
from coding_env.server import view
from coding_env.server.clock import Clock
from coding_env.server.grading import Grade, Grader
from coding_env.server.interpreters import Interpreter, interpreter
from coding_env.server.observing import observed
from coding_env.server.transforms import create_safe_coding_transform
from coding_env.server.workshop import NO_TOOLS, Tools
from openenv import Environment, Seeds, Transform, errors
from openenv.env.tool_functions import tool_functions

SHOWN_CODE = 10_000
"""Characters of the code that `metadata["last_code"]` shows."""
OVER = "the episode is over and stays as it is; reset() begins the next one"


@dataclass
class Episode:
    """One episode's interpreter, and what it was told.

    Attributes:
        options: its options.
        seed: its seed.
        interpreter: what runs its code.
        grader: what grades its code, if it has hidden tests.
        seen: its latest observation.
        last: what a step after its end is answered with.
    """

    options: CodingOptions
    seed: int
    interpreter: Interpreter
    grader: Grader | None = None
    seen: CodeObservation = field(default_factory=CodeObservation)
    last: CodeObservation | None = None


class PythonCodeActEnv(Environment[CodeAction, CodeObservation, CodeState]):
    """Runs an agent's Python code, step by step, in a sandbox that lasts for an episode.

    A step is paid by how its code is written (`transform`), or by the share of hidden tests that
    it passes where there are any. An exception, an endless loop or a crash in the code is an
    observation like any other.

    Args:
        options: what holds for all episodes, by default what the variables `CODING_…` say.
        tools: functions that the code may call by these names, besides those that a subclass
            offers by `@tool`. They run in the server's process; `Inside(function)` in the sandbox.
        transform: what pays a step that has no hidden tests, by default
            `create_safe_coding_transform`.
        **changes: options by name, which win over `options`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True
    REQUIRES_RESET = False  # a step after the end is answered here, with the final observation
    OPTIONS = CodingOptions

    def __init__(
        self,
        options: CodingOptions | None = None,
        *,
        tools: Tools = NO_TOOLS,
        transform: Transform[CodeObservation] | None = None,
        **changes: Any,
    ) -> None:
        super().__init__(transform=transform)
        given = CodingOptions.from_variables() if options is None else options
        self._options = given.updated(changes)
        self._tools = dict(tools)
        self._seeds = Seeds()
        self._episode: Episode | None = None
        self._state = CodeState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        code_timeout_s: float | None = None,
        **options: Any,
    ) -> CodeObservation:
        """Begins an episode with an interpreter that knows nothing.

        Args:
            seed: of the random numbers that the code draws from Python's `random`. Without one
                the sequence goes on that the last seeded reset began.
            episode_id: the episode's name.
            code_timeout_s: the option `timeout_s`, by a name that clients leave alone: theirs is
                how long they wait for the reset.
            **options: options for this episode.

        Raises:
            InvalidRequest: an option is unknown, wrong, contradicts another, or would weaken the
                sandbox. The running episode goes on.
        """
        check_seconds("code_timeout_s", code_timeout_s)
        told = self._options.for_episode({"timeout_s": code_timeout_s, **options})
        self._episode = fresh = self._begin(told, self._seeds.next(seed))
        self._state = CodeState(episode_id=episode_id or str(uuid4()))
        return CodeObservation(reward=0.0, metadata=_explained(fresh), text=self._greeting())

    def step(
        self, action: CodeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Runs a piece of code.

        Args:
            action: the code.
            timeout_s: seconds in which an answer is wanted: the code is stopped a little before.
            **kwargs: nothing else is known.

        Raises:
            ResetRequired: no episode has begun.
        """
        episode = self._running()
        if episode.last is not None:
            return episode.last
        clock = Clock(episode.options.timeout_s, timeout_s)
        seen = observed(episode.interpreter.run(action.code, timeout_s=clock.allowed()))
        self._state.step_count += 1
        self._state.last_exit_code = seen.exit_code
        seen.metadata = {"last_code": action.code, **_explained(episode)}
        seen = self._pay(episode, seen, clock)
        seen.metadata["last_code"] = _shortened(action.code)
        self._end_if_due(episode, seen)
        episode.seen = seen
        return seen

    @property
    def state(self) -> CodeState:
        """Where the episode stands."""
        return self._state

    def render_web(self, observation: dict[str, Any]) -> str:
        """The last step's code and what came of it, as HTML."""
        return view.draw(observation, self._running().seen.metadata)

    def close(self) -> None:
        """Ends the episode's interpreter."""
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.interpreter.close()

    def _running(self) -> Episode:
        if self._episode is None:
            raise errors.ResetRequired("no episode has begun yet; call reset() first")
        return self._episode

    def _begin(self, options: CodingOptions, seed: int) -> Episode:
        """An episode in place of the running one."""
        told = options, seed, self._callables()
        grader = None if options.tests is None else Grader(options.tests, *told)
        if self._episode is not None and self._episode.interpreter.renew(options, seed):
            return Episode(options, seed, self._episode.interpreter, grader)
        fresh = Episode(options, seed, interpreter(*told), grader)
        self.close()
        return fresh

    def _callables(self) -> Tools:
        """What code may call: the tools of this environment, then those that it was given."""
        return {**tool_functions(self, getattr(self, "_mode", "simulation")), **self._tools}

    def _greeting(self) -> str:
        """What code can call, for a language model."""
        names = ", ".join(f"{name}()" for name in self._callables())
        return f"[ready; call {names} in your code; help(name) tells more]" if names else "[ready]"

    def _pay(self, episode: Episode, seen: CodeObservation, clock: Clock) -> CodeObservation:
        """The observation with its reward."""
        grader = episode.grader
        if grader is None:
            pays = self.transform or create_safe_coding_transform(episode.options.safety)
            return pays(seen)
        code = seen.metadata["last_code"]
        grade = Grade(0) if seen.restarted else grader.grade(code, clock.allowed())
        seen.reward = grade.passed / grader.total
        seen.done = grade.passed == grader.total
        seen.metadata |= {"tests_passed": grade.passed, "tests_total": grader.total}
        seen.text += f"\n[{grade.passed} of {grader.total} tests pass]"
        seen.text += "\n[the time was over before all tests were]" * grade.is_cut
        return seen

    def _end_if_due(self, episode: Episode, seen: CodeObservation) -> None:
        most = episode.options.max_steps
        seen.truncated = not seen.done and most is not None and self._state.step_count >= most
        if seen.done or seen.truncated:
            told = {**seen.metadata, "error": OVER}
            text = f"Refused: {OVER}\n{seen.text}"
            changes = {"reward": 0.0, "metadata": told, "text": text}
            episode.last = seen.model_copy(update=changes)


def _explained(episode: Episode) -> dict[str, Any]:
    """What every observation's metadata say."""
    return {"seed": episode.seed, "sandbox": episode.interpreter.sandbox["level"]}


def _shortened(code: str) -> str:
    return code if len(code) <= SHOWN_CODE else f"{code[:SHOWN_CODE]}…"
