"""Typed values on their way: what is sent is what is read, in every way to use a client."""

import json
import math
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from openenv import (
    Action,
    EnvClient,
    Environment,
    GenericAction,
    GenericEnvClient,
    Observation,
    State,
    StepResult,
)
from openenv.env.equality import same
from openenv.env.ndarray import NDArray
from openenv.protocol.errors import (
    ConfigurationError,
    EnvironmentFailed,
    InvalidRequest,
    ProtocolError,
)
from tests.client.peers import replying, scripted
from tests.client.ways import Ask, Way, talking
from tests.client.worlds import Heard, Parrot, ParrotClient, Say, Tally
from tests.serving import serving


class Hue(str, Enum):
    RED = "red"
    BLUE = "blue"


class Level(Enum):
    LOW = 1
    HIGH = 2


class Inner(BaseModel):
    blob: bytes
    numbers: tuple[int, ...]


Halved = Annotated[
    timedelta, PlainSerializer(lambda d: d.total_seconds() / 2, return_type=float, when_used="json")
]


class Everything(BaseModel):
    blob: bytes = b"\x00\xff\xfe"
    when: datetime = datetime(2020, 2, 29, 12, 30, 1, 5, tzinfo=timezone.utc)
    hue: Hue = Hue.BLUE
    level: Level = Level.HIGH
    name: UUID = UUID(int=7)
    nan: float = math.nan
    huge: float = -math.inf
    inner: Inner = Field(default_factory=lambda: Inner(blob="é".encode(), numbers=(1, 2)))
    words: set[str] = {"only"}
    table: dict[int, float] = {1: 0.1, 2: math.inf}
    text: str = "ü\u2028\x00€🙂"
    maybe: int | None = None
    whole: int = 2**63
    halved: Halved = timedelta(seconds=8)


class Carry(Everything, Action):
    """An action with everything in it."""


class Carried(Everything, Observation):
    """An observation with everything in it."""


class Kept(Everything, State):
    """A state with everything in it."""


class Carrier(Environment[Carry, Carried, Kept]):
    """Gives back what it gets."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(self, **kwargs: Any) -> Carried:
        self._state = Kept()
        return Carried()

    def step(self, action: Carry) -> Carried:
        fields = {name: getattr(action, name) for name in Everything.model_fields}
        self._state = Kept(**fields, step_count=1)
        return Carried(**fields)

    @property
    def state(self) -> Kept:
        return self._state


class CarrierClient(EnvClient[Carry, Carried, Kept]):
    """Its client."""


@pytest.fixture(params=["v1", "v2+json", "v2+msgpack", "local"])
def road(request: pytest.FixtureRequest, colour: str) -> Any:
    """Gives the ways to an environment, each with a server of its own where there is one."""

    def ways_to(env: Any, talk: Any, client_class: Any, **options: Any) -> None:
        if request.param == "local":
            way = Way(colour, None)
            way.run(talk, way.client(client_class, env))
            return
        with serving(env, **options) as served:
            way = Way(colour, f"http://127.0.0.1:{served.port}")
            way.run(talk, way.client(client_class, protocol=request.param))

    return ways_to


def _same(one: Everything, other: Everything) -> None:
    assert math.isnan(one.nan)
    assert math.isnan(other.nan)
    for name in Everything.model_fields.keys() - {"nan", "halved"}:
        assert getattr(one, name) == getattr(other, name), name


def test_every_kind_of_value_comes_through(road: Any) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        _same((await ask(client.reset())).observation, Carried())
        sent = Carry(
            blob=bytes(range(256)),
            hue=Hue.RED,
            level=Level.LOW,
            huge=math.inf,
            table={-3: 1e300},
            inner=Inner(blob=b"plain", numbers=()),
            words=set(),
            maybe=0,
            text="\ud7ff\uffff",
        )
        result = await ask(client.step(sent))
        _same(result.observation, sent)
        _same(await ask(client.state()), sent)
        assert result.observation.halved == timedelta(seconds=2)  # halved on each way

    road(Carrier, talk, CarrierClient)


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)

    when: datetime = datetime(2020, 2, 29, tzinfo=timezone.utc)
    level: Level = Level.HIGH
    pair: tuple[int, int] = (1, 2)
    blob: bytes = b"\xff"
    real: float = 1.0


class StrictAction(Strict, Action):
    """Takes nothing for anything else."""


class StrictObservation(Strict, Observation):
    """Takes nothing for anything else."""


class StrictEnv(Environment[StrictAction, StrictObservation]):
    def reset(self, **kwargs: Any) -> StrictObservation:
        return StrictObservation()

    def step(self, action: StrictAction) -> StrictObservation:
        assert isinstance(action.level, Level)
        return StrictObservation(pair=action.pair, blob=action.blob, reward=1.0)


class StrictClient(EnvClient[StrictAction, StrictObservation, State]):
    """Its client."""


def test_strict_models(road: Any) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        result = await ask(client.step(StrictAction(pair=(8, 9), blob=b"\x80")))
        assert (result.observation.pair, result.observation.blob) == ((8, 9), b"\x80")
        assert result.observation.level is Level.HIGH

    road(StrictEnv, talk, StrictClient)


class Go(Action):
    kind: Literal["go"] = "go"
    steps: int


class Speak(Action):
    kind: Literal["speak"] = "speak"
    words: str


Either = Annotated[Go | Speak, Field(discriminator="kind")]


class Told(Observation):
    told: str = ""


class Robot(Environment[Any, Told]):
    """Takes actions of two kinds."""

    def reset(self, **kwargs: Any) -> Told:
        return Told()

    def step(self, action: Go | Speak) -> Told:
        return Told(told=repr(action))


class RobotClient(EnvClient[Go | Speak, Told, State]):
    """Its client."""


def test_a_union_of_actions(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        for action in (Go(steps=2), Speak(words="hi")):
            assert (await ask(client.step(action))).observation.told == repr(action)

    with serving(Robot, action_cls=Either, observation_cls=Told) as served:
        Way(colour, f"http://127.0.0.1:{served.port}").run(
            talk, RobotClient(base_url=f"http://127.0.0.1:{served.port}")
        )


class Pixels(Observation):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    image: Any = None
    scalar: Any = None
    flag: Any = None


class Poke(Action):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    where: Any = None
    typed: npt.NDArray[Any] | None = None


class Screen(Environment[Poke, Pixels]):
    """Shows arrays."""

    def reset(self, **kwargs: Any) -> Pixels:
        return Pixels(
            image=np.zeros((2, 3), np.uint8),
            scalar=np.float32(0.5),
            flag=np.bool_(True),
            reward=np.float64(1.5),
        )

    def step(self, action: Poke) -> Pixels:
        return Pixels(image=np.array(action.where) * 2, scalar=np.int64(3), reward=np.nan)


class ScreenClient(EnvClient[Poke, Pixels, State]):
    """Its client."""


def test_numpy(road: Any) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        first = await ask(client.reset())
        assert np.array_equal(first.observation.image, [[0, 0, 0], [0, 0, 0]])
        assert (first.observation.scalar, first.observation.flag, first.reward) == (0.5, True, 1.5)
        result = await ask(client.step(Poke(where=np.arange(3))))
        assert np.array_equal(result.observation.image, [0, 2, 4])
        assert result.observation.scalar == 3
        assert math.isnan(result.reward)
        assert math.isnan(result.observation.reward)
        await ask(client.step({"where": np.arange(2)}))

    road(Screen, talk, ScreenClient)


class Looks(BaseModel):
    """Written with pydantic alone."""

    picture: NDArray[np.uint8, (2, None)]
    blob: bytes = b""


class Shift(Action):
    by: NDArray[np.float32, (3,)]
    looks: list[Looks] = []
    blob: bytes = b""
    anything: Any = None


class Shifted(Observation):
    place: NDArray[np.float32, (3,)]
    looks: list[Looks] = []
    blob: bytes = b""
    anything: Any = None


class Place(State):
    place: NDArray[np.float32, (3,)] | None = None


class Shifter(Environment[Shift, Shifted, Place]):
    """Moves in space, by tensors."""

    def reset(self, **kwargs: Any) -> Shifted:
        self._state = Place(place=np.zeros(3))
        return Shifted(place=self._state.place)

    def step(self, action: Shift) -> Shifted:
        assert action.by.dtype == np.float32
        self._state.place = self._state.place + action.by
        return Shifted(
            place=self._state.place,
            looks=action.looks,
            blob=action.blob[::-1],
            anything=action.anything,
            reward=np.inf,
        )

    @property
    def state(self) -> Place:
        return self._state


class ShifterClient(EnvClient[Shift, Shifted, Place]):
    """Its client."""


def test_tensors(road: Any) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset())).observation == Shifted(place=np.zeros(3))
        looks = [Looks(picture=np.arange(6)[::-1].reshape(2, 3), blob=b"ascii")]
        by = np.array([0.1, np.nan, -np.inf], np.float32)
        for action in (
            Shift(by=by, looks=looks, blob=b"\x00\xff"),
            {"by": ["0.1", "NaN", "-Infinity"][1:] + [0], "looks": [], "blob": "AP8="},
        ):
            result = await ask(client.step(action))
            assert result.observation.blob == b"\xff\x00"
            assert result.reward == math.inf
            expected = looks if isinstance(action, Shift) else []
            assert same(result.observation.looks, expected)
        state = await ask(client.state())
        np.testing.assert_array_equal(state.place, np.array([np.nan, np.nan, -np.inf], "f4"))
        with pytest.raises(
            InvalidRequest, match=r"by: expected an array of shape \(3\), got \(2\)"
        ):
            await ask(client.step({"by": np.zeros(2)}))
        with pytest.raises(InvalidRequest, match="blob: "):
            await ask(client.step({"by": np.zeros(3), "blob": [b"\xff"]}))
        assert (await ask(client.step(Shift(by=np.zeros(3))))).observation.blob == b""

    road(Shifter, talk, ShifterClient)


def test_a_client_with_a_parser_of_its_own_reads_what_json_holds(colour: str) -> None:
    class Reader(ShifterClient):
        def _parse_result(self, payload: Any) -> Any:
            return StepResult(payload["observation"])

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        result = await ask(client.step(Shift(by=np.zeros(3), blob=b"\xff\x00")))
        assert client.protocol == "v2+json"
        assert result.observation["blob"] == "AP8="

    with serving(Shifter) as served:
        way = Way(colour, f"http://127.0.0.1:{served.port}")
        way.run(talk, way.client(Reader))


def test_what_cannot_be_sent_is_refused_and_harms_nothing(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await ask(client.step(Say(text="a")))
        with pytest.raises(EnvironmentFailed, match="object has no wire form"):
            await ask(client.step({"text": object()}))
        with pytest.raises(EnvironmentFailed, match="object has no wire form"):
            await ask(client.reset(seed=object()))
        for nonsense in ("text", 3, None):
            with pytest.raises(ConfigurationError, match=r"step\(\) of .* takes an action"):
                await ask(client.step(nonsense))
        assert (await ask(client.step(Say(text="b")))).observation.step == 2

    way.run(talk)


@pytest.mark.parametrize(
    ("nested", "beside"),
    [({"a": 1}, {"a": 1}), ({"a": 1}, None), (None, {"a": 1}), (None, None), ({}, {})],
    ids=["both", "nested", "beside", "neither", "empty"],
)
@pytest.mark.parametrize("client_class", [ParrotClient, GenericEnvClient])
def test_metadata_is_found_where_servers_put_it(
    colour: str, nested: Any, beside: Any, client_class: Any
) -> None:
    data: dict[str, Any] = {"observation": {"text": "hi"}, "reward": 0.5, "done": False}
    if nested is not None:
        data["observation"]["metadata"] = nested
    if beside is not None:
        data["metadata"] = beside

    async def talk(client: Any, ask: Ask) -> None:
        result = await ask(client.reset())
        assert result.metadata == (nested or beside or None)
        if client_class is ParrotClient:
            assert result.observation.metadata == (nested or beside or {})
            assert result.observation.reward == 0.5

    with scripted(replying(json.dumps({"type": "observation", "data": data}))) as url:
        talking(colour, talk, client_class(base_url=url))


def test_a_client_of_another_environment_says_so(colour: str) -> None:
    class OtherClient(EnvClient[Go, Told, State]):
        """The client of something else."""

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ProtocolError, match=r"no Told \(.*is OtherClient the\s+client of"):
            await ask(client.reset())
        assert (await ask(client.state())).step_count == 0

    with serving(Parrot) as served:
        talking(colour, talk, OtherClient(base_url=f"http://127.0.0.1:{served.port}"))


def test_plain_dicts(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        first = await ask(client.reset(seed=1))
        assert first.observation["seed"] == 1
        for action in (GenericAction(text="hi"), {"text": "hi"}, Say(text="hi"), Plain()):
            result = await ask(client.step(action))
            assert result.observation["text"] == "hi"
            assert (result.reward, result.done) == (2.0, False)
        state = await ask(client.state())
        assert (state["step_count"], state["last"]) == (4, "hi")

    way.run(talk, way.client(GenericEnvClient))


class Plain:
    """An action that is no model."""

    def __init__(self) -> None:
        self.text = "hi"


def test_a_generic_action_shows_its_fields() -> None:
    action = GenericAction(a=1, b="two")
    assert repr(action) == "GenericAction(a=1, b='two')"
    assert isinstance(action, dict)
    assert action["a"] == 1


class Deeper(ParrotClient):
    """A subclass of a subclass."""


class Untyped(EnvClient):
    """Does not say its types."""


class Dicts(EnvClient[dict[str, Any], dict[str, Any], dict[str, Any]]):
    """Wants plain dicts."""


def test_a_subclass_of_a_subclass_has_its_types(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert type((await ask(client.reset())).observation) is Heard
        assert type(await ask(client.state())) is Tally

    way.run(talk, way.client(Deeper))


def test_dicts_as_types(way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert (await ask(client.reset(seed=3))).observation["seed"] == 3
        assert (await ask(client.step({"text": "hi"}))).observation["text"] == "hi"
        assert (await ask(client.state()))["last"] == "hi"

    way.run(talk, way.client(Dicts))


def test_a_client_without_types_says_what_to_write(socket_way: Way) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConfigurationError, match=r"Untyped .*class MyEnv\(EnvClient\[MyAction"):
            await ask(client.reset())

    socket_way.run(talk, socket_way.client(Untyped))


def test_a_result_is_plain_data() -> None:
    result: StepResult[str] = StepResult("seen", 1.0, True)
    assert (result.terminated, result.truncated, result.metadata) == (True, False, None)
    assert not StepResult("seen", done=True, truncated=True).terminated
    assert result == StepResult("seen", 1.0, True)
