"""Traces to train on: what fits together is taken, anything else is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from openenv.core.harness.capture.upstream import training_sampling
from openenv.harness import TrainingTrace, TrainingTurn
from openenv.protocol.errors import ConfigurationError

NEUTRAL = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "repetition_penalty": 1.0,
}


def turn(**changes: Any) -> TrainingTurn:
    fields: dict[str, Any] = {
        "node_id": "a",
        "prompt_token_ids": [1, 2],
        "completion_token_ids": [3, 4],
        "per_token_logps": [-0.1, -0.2],
        "loss_mask": [0, 0, 1, 1],
    }
    return TrainingTurn(**{**fields, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"loss_mask": [0, 0, 0, 1]},
        {"loss_mask": [0, 0, 0, 0]},
        {"per_token_logps": [0.0, -9.0]},
        {"completion_token_ids": [], "per_token_logps": [], "loss_mask": [0, 0]},
    ],
)
def test_a_turn_that_fits_together(changes: dict[str, Any]) -> None:
    assert turn(**changes).prompt_token_ids == [1, 2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"per_token_logps": [-0.1]}, "one is needed for each"),
        ({"loss_mask": [0, 0, 1]}, "one is needed for each"),
        ({"loss_mask": [1, 0, 1, 1]}, "nobody sampled"),
        ({"loss_mask": [0, 0, 2, 1]}, "less than or equal to 1"),
        ({"loss_mask": [False, False, True, True]}, "valid integer"),
        ({"per_token_logps": [float("nan"), 0.0]}, "finite"),
        ({"per_token_logps": [float("-inf"), 0.0]}, "finite"),
        ({"per_token_logps": [0.5, 0.0]}, "less than or equal to 0"),
        ({"prompt_token_ids": [], "loss_mask": [1, 1]}, "at least 1 item"),
        ({"prompt_token_ids": [-1, 2]}, "greater than or equal to 0"),
        ({"completion_token_ids": ["3", 4]}, "valid integer"),
        ({"node_id": ""}, "at least 1 character"),
        ({"tokens": []}, "Extra inputs"),
    ],
)
def test_a_turn_that_does_not(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        turn(**changes)


def test_a_trace_goes_there_and_back() -> None:
    trace = TrainingTrace(turns=[turn(request={"n": 1}, metadata={"k": 2}), turn(node_id="b")])
    entries = trace.to_trace_entries()
    assert entries[0]["request"] == {"n": 1}
    assert entries[0]["metadata"] == {"k": 2, "node_id": "a"}
    again = TrainingTrace.from_entries(entries)
    assert [t.loss_mask for t in again.turns] == [t.loss_mask for t in trace.turns]
    assert [t.node_id for t in again.turns] == ["a", "b"]
    assert TrainingTrace(turns=[]).to_trace_entries() == []


def test_a_trace_names_each_turn_once() -> None:
    with pytest.raises(ValidationError, match="several are called"):
        TrainingTrace(turns=[turn(), turn()])
    with pytest.raises(ValidationError, match="Input should be 1"):
        TrainingTrace(schema_version=2, turns=[])  # type: ignore[arg-type]
    unmasked = {key: value for key, value in entry().items() if key != "loss_mask"}
    with pytest.raises(KeyError, match="loss_mask"):
        TrainingTrace.from_entries([unmasked])


def entry() -> dict[str, Any]:
    """A turn as it was recorded."""
    return dict(TrainingTrace(turns=[turn()]).to_trace_entries()[0])


@pytest.mark.parametrize(
    "sampling",
    [
        {"temperature": 0.7},
        {"temperature": 0.7, **NEUTRAL},
        {"temperature": 0.7, "top_p": 1, "top_k": 0},
    ],
)
def test_sampling_for_training_is_the_policys_own(sampling: dict[str, Any]) -> None:
    assert training_sampling(sampling) == {"temperature": 0.7, **NEUTRAL}


def test_no_sampling_leaves_it_to_the_agent() -> None:
    assert training_sampling(None) == {}


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        ({}, "temperature must be a finite number"),
        ({"temperature": 0}, "above 0"),
        ({"temperature": float("inf")}, "finite"),
        ({"temperature": True}, "finite number, got True"),
        ({"temperature": "1"}, "finite number"),
        ({"temperature": 1, "top_p": 0.9}, "top_p=0.9 bends"),
        ({"temperature": 1, "top_k": 5}, "top_k=5 bends"),
        ({"temperature": 1, "repetition_penalty": 1.1}, "bends"),
        ({"temperature": 1, "top_p": None}, "top_p must be a finite number"),
        ({"temperature": 1, "max_tokens": 5}, "max_tokens"),
        ([("temperature", 1)], "must be a mapping"),
    ],
)
def test_sampling_that_bends_the_distribution_is_refused(sampling: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        training_sampling(sampling)
