"""LLMJudge, against a model behind a real server."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from openenv import Action, EnvClient, Environment, Observation
from openenv.core.llm_client import LLMClient, OpenAIClient
from openenv.core.rubrics import LLMJudge, WeightedSum
from openenv.llm import AnswerCache, RetryPolicy
from openenv.testing import Failure, Garbage, HangUp, ModelServer, Received, Reply
from tests.serving import serving

SESSIONS = 16
ONCE = RetryPolicy(attempts=1)


class Say(Action):
    text: str = "hello"


class Heard(Observation):
    text: str = ""


class SayClient(EnvClient[Say, Heard]):
    """Typed."""


class Told(LLMClient):
    """A client of one's own, that knows one answer."""

    def __init__(self, answer: str) -> None:
        super().__init__("http://nowhere", 1)
        self.answer = answer
        self.prompts: list[str] = []

    async def complete(self, prompt: str, **options: Any) -> str:
        self.prompts.append(prompt)
        return self.answer


def judge(server: ModelServer, template: str = "Judge {action.text}.", **options: Any) -> LLMJudge:
    settings = {key: options.pop(key) for key in ("timeout_s", "temperature") if key in options}
    client = OpenAIClient(server.url, None, "m", retries=ONCE, **settings)
    return LLMJudge(template, client, **options)


# ── prompts


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("{action} then {observation}", f"{Say(text='hi')} then A"),
        ("{action.text} {observation!r:>5}", "hi   'A'"),
        ('Answer {"score": x} for {action.text}.', 'Answer {"score": x} for hi.'),
        ('{"a": {"b": 1}} {observation}', '{"a": {"b": 1}} A'),
        ('{{"score": x}} {observation}', '{"score": x} A'),
        ("{ {observation} } {} {other} {0}", "{ A } {} {other} {0}"),
        ("def f() { return {actions} }", "def f() { return {actions} }"),
        ("nothing", "nothing"),
    ],
)
async def test_a_prompt(template: str, prompt: str) -> None:
    client = Told("1")
    await LLMJudge(template, client)(Say(text="hi"), "A")
    assert client.prompts == [prompt]


async def test_what_is_filled_in_is_not_looked_into() -> None:
    client = Told("1")
    await LLMJudge("{action.text} {observation}", client)(Say(text="{observation} {0}"), "secret")
    assert client.prompts == ["{observation} {0} secret"]


async def test_a_place_that_is_not_there_is_told() -> None:
    score = await LLMJudge("{action.title}", Told("1"))(Say(), Heard())
    assert not score.valid
    assert "title" in score.failure.message


# ── scores


@pytest.mark.parametrize(
    ("answer", "options", "score"),
    [
        ("Score (0-1): 0.8", {}, 0.8),
        ("-0.5", {}, 0.0),
        ("Score: 8", {}, 1.0),
        ("Score: 8", {"normalize": False}, 8.0),
        ("good=3 bad=7", {"score_pattern": r"bad=(\d)", "normalize": False}, 7.0),
        ("12", {"score_pattern": r"\d", "normalize": False}, 1.0),
        ("a fine answer", {"default_score": 0.25}, 0.25),
        ("good", {"score_pattern": r"\w+", "default_score": 0.25}, 0.25),
    ],
)
async def test_a_score(answer: str, options: dict[str, Any], score: float) -> None:
    given = await LLMJudge("x", Told(answer), **options)(Say(), Heard())
    assert given.valid
    assert given == score


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        ("a fine answer", {}),
        ("", {}),
        ("good", {"score_pattern": r"bad=(\d)"}),
        ("good", {"score_pattern": r"\w+"}),
        ("good", {"score_pattern": r"(\d)?"}),
    ],
)
async def test_an_answer_without_a_score_is_no_score(answer: str, options: dict[str, Any]) -> None:
    rubric = LLMJudge("x", Told(answer), **options)
    score = await rubric(Say(), Heard())
    assert not score.valid
    assert (score.failure.error, repr(answer) in score.failure.message) == ("NoScore", True)
    assert rubric.last_score is score
    total = await WeightedSum([rubric], [1.0])(Say(), Heard())
    assert total.failure.path == ("rubric_0",)


@pytest.mark.parametrize("ending", ["length", "content_filter"])
async def test_an_answer_that_did_not_end_is_no_score(ending: str) -> None:
    with ModelServer(Reply("Score: 0.9 would be", finish_reason=ending)) as server:
        score = await judge(server, default_score=0.0)(Say(), Heard())
    assert score.failure is not None
    assert "Score: 0.9" in score.failure.message


async def test_a_judge_that_does_not_answer_is_no_score() -> None:
    outcomes = [
        Failure(429, retry_after=0),
        Failure(500),
        Failure(401),
        Garbage(),
        HangUp(),
        Reply(""),
    ]
    with ModelServer([*outcomes, "0.5"]) as server:
        rubric = judge(server, default_score=None)
        errors = [(await rubric(Say(), Heard())).failure.error for _ in outcomes]
        assert await rubric(Say(), Heard()) == 0.5
    with ModelServer(Reply(delay_s=600)) as server:
        late = await judge(server, timeout_s=0.2)(Say(), Heard())
    unavailable = "ModelUnavailable"
    assert errors == [
        *(unavailable, unavailable, "ModelRejected", "ModelFailed", unavailable, "NoScore"),
    ]
    assert late.failure.error == "ModelTimeout"


async def test_a_client_that_gives_no_text_is_no_score() -> None:
    client = Told("")
    client.answer = None  # type: ignore[assignment]
    score = await LLMJudge("x", client)(Say(), Heard())
    assert score.failure is not None
    assert "None" in score.failure.message


async def test_what_it_said_explains_its_score() -> None:
    client = Told("It is fine. Score: 0.5" + " " * 3000)
    rubric = LLMJudge("x", client)
    explained = (await rubric(Say(), Heard())).explained()
    assert explained["last_answer"].startswith("It is fine. Score: 0.5")
    assert len(explained["last_answer"]) == 2000
    client.answer = "I cannot tell."
    assert (await rubric(Say(), Heard())).explained()["last_answer"] == "I cannot tell."


async def test_a_subclass_asks_and_reads_in_its_own_way() -> None:
    class Own(LLMJudge):
        def _render_prompt(self, action: Any, observation: Any) -> str:
            return f"own {super()._render_prompt(action, observation)}"

        def _parse_score(self, response: str) -> float:
            return len(response) / 10

    client = Told("abc")
    assert await Own("{action.text}", client)(Say(), Heard()) == 0.3
    assert client.prompts == ["own hello"]


def test_its_state() -> None:
    rubric = LLMJudge("x", Told(""), score_pattern="a", default_score=0.5, normalize=False)
    state = {
        "prompt_template": "x",
        "score_pattern": "a",
        "default_score": 0.5,
        "normalize": False,
    }
    assert rubric.state_dict() == state
    other = LLMJudge("y", Told(""))
    assert other.state_dict()["score_pattern"] is other.state_dict()["default_score"] is None
    other.load_state_dict({"prompt_template": "z"})
    assert other.state_dict() == {**LLMJudge("z", Told("")).state_dict()}
    other.load_state_dict(state)
    assert other.state_dict() == state


@pytest.mark.parametrize("pattern", ["(", 5])
def test_a_pattern_that_is_none(pattern: Any) -> None:
    with pytest.raises(ValueError, match="no regular expression"):
        LLMJudge("x", Told(""), score_pattern=pattern)


# ── answers are kept


async def test_the_same_is_asked_once() -> None:
    with ModelServer(lambda received: "0.5" if "a" in received.text else "0.7") as server:
        rubric = judge(server)
        for text, score in (("a", 0.5), ("b", 0.7), ("a", 0.5)):
            assert await rubric(Say(text=text), Heard()) == score
        assert len(server.requests) == 2
        await judge(server, cache=False)(Say(text="a"), Heard())
        await judge(server, temperature=0.7)(Say(text="a"), Heard())
        assert len(server.requests) == 4


async def test_the_same_at_one_time_is_asked_once() -> None:
    together = Together(2)
    with ModelServer(together) as server:
        rubric = judge(server)
        asked = [rubric(Say(text="a" if n % 2 else "b"), Heard()) for n in range(SESSIONS)]
        assert await asyncio.gather(*asked) == [0.5] * SESSIONS
    assert len(server.requests) == 2


async def test_no_failure_is_kept() -> None:
    with ModelServer([Failure(500), "no idea", "0.5"]) as server:
        rubric = judge(server)
        scores = [await rubric(Say(), Heard()) for _ in range(4)]
    assert [score.valid for score in scores] == [False, False, True, True]


async def test_a_judge_that_shares_a_cache_asks_its_own_model() -> None:
    cache = AnswerCache(2)
    with ModelServer(lambda received: received.body["model"]) as server:
        clients = [OpenAIClient(server.url, None, model) for model in ("0.1", "0.2")]
        for client in (*clients, *clients):
            score = await LLMJudge("x", client, cache=cache)(Say(), Heard())
            assert score == float(client.model)
        assert (len(server.requests), cache.hits, cache.misses) == (2, 2, 2)
        await LLMJudge("y", clients[0], cache=cache)(Say(), Heard())
        assert len(cache) == 2
        await LLMJudge("x", clients[1], cache=cache)(Say(), Heard())
        assert len(server.requests) == 3
    told = [Told("0.3"), Told("0.4")]
    assert [await LLMJudge("x", each, cache=cache)(Say(), Heard()) for each in told] == [0.3, 0.4]


async def test_one_who_waits_takes_over_from_one_who_was_cancelled() -> None:
    cache, started = AnswerCache(), asyncio.Event()

    async def never() -> str:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def answer() -> str:
        return "yes"

    first = asyncio.ensure_future(cache.get("key", never))
    await started.wait()
    second = asyncio.ensure_future(cache.get("key", answer))
    third = asyncio.ensure_future(cache.get("key", answer))
    while cache.hits < 2:
        await asyncio.sleep(0)
    third.cancel()
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "yes"
    with pytest.raises(asyncio.CancelledError):
        await first


def test_loops_share_a_cache() -> None:
    cache = AnswerCache()
    with ModelServer("0.5") as server, ThreadPoolExecutor(SESSIONS) as threads:

        def score(_: int) -> float:
            async def ask() -> float:
                return float(await judge(server, cache=cache)(Say(), Heard()))

            return asyncio.run(ask())

        assert list(threads.map(score, range(SESSIONS))) == [0.5] * SESSIONS
    assert (len(server.requests), cache.misses) == (1, 1)


def test_a_cache_holds_something() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        AnswerCache(0)


def test_copies_judge() -> None:
    with ModelServer("0.5") as server:
        rubric = judge(server)
        for copied in (copy.deepcopy(rubric), pickle.loads(pickle.dumps(rubric))):
            assert asyncio.run(copied(Say(), Heard())) == 0.5


# ── in sessions


class Together:
    """Answers none before that many have asked."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.all_here = asyncio.Event()
        self.here = 0

    async def __call__(self, received: Received) -> str:
        self.here += 1
        if self.here >= self.count:
            self.all_here.set()
        await self.all_here.wait()
        return "0.5"


class Judged(Environment[Say, Heard]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, **options: Any) -> Heard:
        return Heard()

    def step(self, action: Say) -> Heard:
        return self.rewarded(action, Heard(text=action.text))


class JudgedAwaiting(Environment[Say, Heard]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    async def reset_async(self, **options: Any) -> Heard:
        return Heard()

    async def step_async(self, action: Say) -> Heard:
        return await self.rewarded_async(action, Heard(text=action.text))


def factory(kind: Any, make: Callable[[], LLMJudge]) -> Callable[[], Any]:
    def built() -> Any:
        return kind(rubric=make())

    return built


@pytest.mark.parametrize("kind", [Judged, JudgedAwaiting])
def test_sessions_are_judged_at_one_time(kind: Any) -> None:
    """None is answered before all have asked: one after the other, they would wait for ever."""
    with ModelServer(Together(SESSIONS)) as model:
        client = OpenAIClient(model.url, None, "m", retries=ONCE, timeout_s=50)
        rubric = factory(kind, lambda: LLMJudge("{action.text}", client, cache=False))
        with serving(rubric) as served, ThreadPoolExecutor(SESSIONS) as threads:

            def episode(number: int) -> float | None:
                with SayClient(base_url=f"http://127.0.0.1:{served.port}") as env:
                    env.reset()
                    return env.step(Say(text=str(number))).reward

            assert list(threads.map(episode, range(SESSIONS))) == [0.5] * SESSIONS
        assert model.most_at_once == SESSIONS


@pytest.mark.parametrize("kind", [Judged, JudgedAwaiting])
def test_a_session_outlives_its_judges_failures(kind: Any) -> None:
    script = [Failure(429), Failure(500), "", "I cannot say.", "Score (0-1): 0.8"]
    with (
        ModelServer(script) as model,
        serving(factory(kind, lambda: judge(model))) as served,
        SayClient(base_url=f"http://127.0.0.1:{served.port}") as env,
    ):
        env.reset()
        failed = [env.step(Say()) for _ in script[:-1]]
        assert env.step(Say()).reward == 0.8
    assert [result.reward for result in failed] == [None] * 4
    told = [result.observation.metadata["reward_error"]["error"] for result in failed]
    assert told == ["ModelUnavailable", "ModelUnavailable", "NoScore", "NoScore"]
