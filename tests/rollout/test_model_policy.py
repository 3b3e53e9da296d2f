"""A language model as a policy: what it is told, what it may get wrong, and policies by name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openenv import ConfigurationError
from openenv.llm import OpenAIClient
from openenv.rollout import ModelPolicy, RandomPolicy, ScriptedPolicy, collect, policy_named, replay
from openenv.testing import Call, Failure, ModelServer, Reply
from tests.rollout.halls import halls
from tests.serving import serving
from tests.tools.tools_only import Shop


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with halls() as (_, address):
        yield address


def player(model: ModelServer) -> ModelPolicy:
    return ModelPolicy(OpenAIClient(model.url, None, "tiny", None), "Walk.", temperature=0.5)


def says(*words: str) -> Reply:
    """A turn with a call for each word."""
    return Reply(calls=[Call("act", {"word": word}) for word in words])


def test_a_model_plays_and_what_was_said_is_kept(url: str) -> None:
    with ModelServer([says("left"), says("right", "end")]) as model:
        [episode] = collect(url, player(model), episodes=1)
        sent = [request.body for request in model.requests]
    assert (episode.policy, episode.end, len(episode)) == ("tiny", "terminated", 3)
    assert episode.messages is not None
    roles = [message["role"] for message in episode.messages]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "tool"]
    assert json.loads(episode.messages[-1]["content"])["walked"] == ["left", "right", "end"]
    assert sent[0]["messages"][0] == {"role": "system", "content": "Walk."}
    assert sent[0]["temperature"] == 0.5
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == ["act"]
    assert replay(episode, url) is None


def test_a_model_is_told_of_what_it_got_wrong(url: str) -> None:
    turns = [
        Reply(calls=[Call("fly", {})]),
        Reply(calls=[Call("act", {"word": "sideways"})]),
        says("end"),
    ]
    with ModelServer(turns) as model:
        [episode] = collect(url, player(model), episodes=1)
    assert (episode.end, len(episode)) == ("terminated", 1)
    told = [message for message in episode.messages or () if message["role"] == "tool"]
    assert "there is no tool 'fly', only act" in told[0]["content"]
    assert "word" in json.loads(told[1]["content"])["error"]
    assert replay(episode, url) is None


@pytest.mark.parametrize(
    ("turn", "end", "kind"),
    [
        (Reply("I am done."), "limit", None),
        (Reply(calls=[Call("fly", {})]), "error", "PolicyFailed"),
        (Reply(calls=[Call("act", {"word": "sideways"})]), "limit", None),
        (Failure(401, "no such key"), "error", "ModelRejected"),
    ],
    ids=["stops", "no such tool", "refused", "no key"],
)
def test_a_model_that_does_not_play_ends_its_episode(
    url: str, turn: Any, end: str, kind: str | None
) -> None:
    with ModelServer(turn) as model:
        [episode] = collect(url, player(model), episodes=1, max_steps=4)
    assert (episode.end, len(episode.steps)) == (end, 0)
    assert (episode.error or {}).get("type") == kind


def test_a_model_calls_the_tools_there_are() -> None:
    turns = [
        Reply(calls=[Call("price", {"item": "tea"}), Call("buy", {"item": "moon"})]),
        Reply(calls=[Call("buy", {"item": "tea"})]),
        "That is all.",
    ]
    with ModelServer(turns) as model, serving(Shop) as served:
        [episode] = collect(f"http://127.0.0.1:{served.port}", player(model), episodes=1)
    assert [step.action["tool_name"] for step in episode.steps] == ["price", "buy", "buy"]
    told = [m["content"] for m in episode.messages or () if m["role"] == "tool"]
    assert told[0] == "3.0"
    assert "error" in told[1]


def test_policies_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_players.py").write_text(
        "def go(seen):\n    return {'word': 'end'}\n\n"
        "from openenv.rollout import RandomPolicy\n\npolicy = RandomPolicy()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere"])
    assert isinstance(policy_named("random"), RandomPolicy)
    assert policy_named("scripted:my_players:go").name == "scripted:my_players:go"
    assert isinstance(policy_named("scripted:my_players"), RandomPolicy)
    assert isinstance(policy_named("scripted:my_players:RandomPolicy"), RandomPolicy)
    assert isinstance(policy_named("scripted:my_players:go"), ScriptedPolicy)
    served = policy_named("openai:org/tiny@http://127.0.0.1:9/v1")
    assert served.name == "openai:org/tiny"
    assert isinstance(served, ModelPolicy)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "there is no policy ''"),
        ("best", "random, scripted:MODULE:NAME"),
        ("random:3", "there is no policy"),
        ("openai:", "there is no policy"),
        ("openai:m", "OPENAI_API_KEY"),
        ("openai:m@http://me:secret@h", "credentials"),
        ("scripted:no_such_module:go", "no_such_module"),
        ("scripted:json:no_such", "no_such"),
        ("scripted:json:__version__", "function of an observation"),
    ],
)
def test_what_names_no_policy_is_told(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("OPENAI_API_KEY", "OPENENV_LLM_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(ConfigurationError, match=told) as caught:
        policy_named(name)
    assert "secret" not in str(caught.value)
