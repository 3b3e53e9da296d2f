"""Spaces of every kind: what their values are after the wire, and what is no value of theirs."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import Space, spaces
from pydantic import ValidationError

from openenv import ConfigurationError, EnvironmentFailed, InvalidRequest, local
from openenv.env.models import pack
from openenv.gym import GymEnv, served
from openenv.gym.codecs import codec_of, described, restored
from openenv.gym.models import action_model
from tests.gym.space_list import SPACES
from tests.gym.worlds import Mirror, same
from tests.serving import serving

of_every_kind = pytest.mark.parametrize("make", SPACES.values(), ids=SPACES)
MakeSpace = Callable[[], Space[Any]]


@of_every_kind
def test_a_space_is_restored_from_strict_json(make: MakeSpace) -> None:
    space = make()
    description = json.dumps(described(codec_of(space, "it")), allow_nan=False)
    back = restored(json.loads(description))
    assert back == space
    assert back.dtype == space.dtype
    space.seed(5)
    back.seed(5)
    assert all(same(back.sample(), space.sample()) for _ in range(5))


@of_every_kind
def test_a_served_space_looks_the_same_from_afar(make: MakeSpace) -> None:
    with serving(served(partial(Mirror, make(), make()))) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}")
        assert env.observation_space == make()
        assert env.action_space == make()
        shown, chosen = make(), make()
        shown.seed(3)
        chosen.seed(3)
        obs, _ = env.reset(seed=3)
        assert same(obs, shown.sample())
        for _ in range(5):
            obs, reward, *_ = env.step(chosen.sample())
            assert same(obs, shown.sample())
            assert reward == 1.0
        assert env.observation_space.contains(obs)
        env.close()


@of_every_kind
def test_an_action_of_a_space_is_valid_as_json_says_it(make: MakeSpace) -> None:
    codec = codec_of(make(), "it")
    model = action_model("Any", codec)
    for _ in range(5):
        value = codec.space.sample()
        action = model(**model.codec.write(value))
        data = json.loads(action.model_dump_json(exclude={"metadata"}))
        assert same(model.codec.read(model.model_validate(data)), value)


@pytest.mark.parametrize(
    ("space", "wrong"),
    [
        (spaces.Discrete(3), 3),
        (spaces.Discrete(3, start=-1), 2),
        (spaces.Discrete(3), 1.5),
        (spaces.Box(0.0, 1.0, (2,), np.float32), [0.5]),
        (spaces.Box(0.0, 1.0, (2,), np.float32), [[0.5, 0.5]]),
        (spaces.Box(0, 255, (2,), np.uint8), [0, 256]),
        (spaces.Box(0, 255, (2,), np.uint8), [0, 0.5]),
        (spaces.MultiBinary(2), [0, 2]),
        (spaces.MultiDiscrete([3, 2]), [2, 2]),
        (spaces.Text(3), "four"),
        (spaces.Text(3, charset="ab"), "abc"),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]), [0]),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)]), [0, 2]),
        (spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)})}), {"a": {}}),
        (spaces.Dict({"a": spaces.Dict({"b": spaces.Discrete(2)})}), {"a": {"b": 0, "c": 0}}),
        (spaces.OneOf([spaces.Discrete(2), spaces.Discrete(5)]), [0, 4]),
        (spaces.OneOf([spaces.Discrete(2)]), [1, 0]),
        (spaces.Sequence(spaces.Discrete(2)), [0, 2]),
        (
            spaces.Graph(spaces.Discrete(2), None),
            {"nodes": [0, 2], "edges": None, "edge_links": None},
        ),
    ],
    ids=str,
)
def test_an_action_outside_of_its_space_is_refused(space: Space[Any], wrong: Any) -> None:
    model = action_model("Any", codec_of(space, "it"))
    data = wrong if isinstance(space, spaces.Dict) else {"action": wrong}
    with pytest.raises(ValidationError):
        model.model_validate(data)


def test_a_box_is_left_to_the_environment_to_clip() -> None:
    model = action_model("Any", codec_of(spaces.Box(0.0, 1.0, (2,), np.float32), "it"))
    assert model.model_validate({"action": [7.0, -7.0]}).codec is model.codec


def test_the_server_names_the_field_of_a_wrong_action() -> None:
    both = spaces.Dict({"move": spaces.MultiDiscrete([2, 2]), "say": spaces.Text(3)})
    with local(served(partial(Mirror, spaces.Discrete(2), both))) as env:
        env.reset()
        with pytest.raises(InvalidRequest, match=r"move.*not in MultiDiscrete\(\[2 2\]\)"):
            env.step({"move": [1, 2], "say": "hi"})


class Odd(spaces.Space[int]):
    """A space of somebody's own."""


@pytest.mark.parametrize("space", [Odd(), spaces.Tuple([spaces.Discrete(2), Odd()])])
def test_a_space_of_another_kind_is_named(space: Space[Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"observation space of Mirror.*Odd"):
        served(named(space, spaces.Discrete(2)))


def named(observation_space: Space[Any], action_space: Space[Any]) -> Any:
    """What makes a mirror, under its own name."""

    def make() -> gymnasium.Env[Any, Any]:
        return Mirror(observation_space, action_space)

    make.__name__ = "Mirror"
    return make


def test_values_that_make_no_array_are_not_stacked() -> None:
    space = spaces.Sequence(spaces.Text(3), stack=True)
    with pytest.raises(ConfigurationError, match="do not stack to one array"):
        served(named(spaces.Discrete(2), space))


class Loose(Mirror):
    """Shows what its author took for values of the space."""

    def __init__(self, shown: Any) -> None:
        super().__init__(spaces.Box(-1.0, 1.0, (2,), np.float32), spaces.Discrete(2))
        self._shown = shown

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        return self._shown, {}


@pytest.mark.parametrize("shown", [[1, 2], np.array([1.0, 2.0]), (0.5, np.float64(2.0))], ids=str)
def test_an_observation_of_another_dtype_becomes_one_of_the_spaces(shown: Any) -> None:
    env = GymEnv(local(served(partial(Loose, shown))))
    obs, _ = env.reset()
    assert obs.dtype == np.float32
    assert np.array_equal(obs, np.asarray(shown, np.float32))


def test_bools_are_zeros_and_ones() -> None:
    codec = codec_of(spaces.MultiBinary(2), "it")
    assert codec.write(np.array([True, False])).tolist() == [1, 0]


@pytest.mark.parametrize("shown", [np.zeros(3), "nothing", None], ids=str)
def test_an_observation_of_another_shape_is_the_environments_failure(shown: Any) -> None:
    with local(served(partial(Loose, shown))) as env, pytest.raises(EnvironmentFailed):
        env.reset()


def test_an_observation_holds_what_json_has_no_numbers_for() -> None:
    with local(served(partial(Loose, np.array([np.nan, np.inf], np.float32)))) as client:
        observation = client.reset().observation
        assert np.array_equal(observation.obs, [np.nan, np.inf], equal_nan=True)
        assert b'["NaN","Infinity"]' in pack(observation)
