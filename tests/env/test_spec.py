"""What is read of an environment before it runs."""

import functools
from collections.abc import Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from pydantic import ConfigDict, Field, ValidationError

from openenv import Action, Environment, Observation, State
from openenv.env.spec import EnvSpec, Traits
from openenv.protocol.errors import ConfigurationError
from openenv.server.info import schemas
from tests.env.peer_style import (
    PeerAction,
    PeerEnvironment,
    PeerObservation,
    PeerOptions,
    PeerState,
)


class Act(Action):
    n: int = 0


class Seen(Observation):
    n: int = 0


class Kept(State):
    n: int = 0


class Full(Environment[Act, Seen, Kept]):
    def reset(self, **options: Any) -> Seen:
        return Seen()

    def step(self, action: Act) -> Seen:
        return Seen(n=action.n)


class Child(Full):
    pass


class Grandchild(Child):
    pass


class Short(Environment[Act, Seen]):
    reset = Full.reset
    step = Full.step


class Annotated_(Environment):
    def reset(self) -> Seen:
        return Seen()

    def step(self, action: Act) -> Seen:
        return Seen()

    @property
    def state(self) -> Kept:
        return Kept()


class Awaited(Environment):
    async def reset_async(self) -> Seen:
        return Seen()

    async def step_async(self, action: Act) -> Seen:
        return Seen()


A = TypeVar("A", bound=Action)


class Half(Environment[A, Seen], Generic[A]):
    reset = Full.reset
    step = Full.step


class Filled(Half[Act]):
    pass


class Untold(Environment):
    def reset(self, **options: Any) -> Any:
        return Seen()

    def step(self, action: Any) -> Any:
        return Seen()


def says() -> Full:
    return Full()


def says_nothing() -> Any:
    return Full()


def says_wrongly() -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821
    return Full()


class Maker:
    def make(self) -> Full:
        return Full()


FULL = (Act, Seen, Kept)
SHORT = (Act, Seen, State)


@pytest.mark.parametrize(
    ("env", "types", "name"),
    [
        (Full, FULL, "Full"),
        (Child, FULL, "Child"),
        (Grandchild, FULL, "Grandchild"),
        (Short, SHORT, "Short"),
        (Annotated_, FULL, "Annotated_"),
        (Awaited, SHORT, "Awaited"),
        (Filled, SHORT, "Filled"),
        (Half[Act], SHORT, "Half"),
        (PeerOptions, (PeerAction, PeerObservation, PeerState), "PeerOptions"),
        (functools.partial(Full), FULL, "Full"),
        (functools.partial(functools.partial(Full)), FULL, "Full"),
        (says, FULL, "Full"),
        (functools.partial(says), FULL, "Full"),
        (Maker().make, FULL, "Full"),
        (Full(), FULL, "Full"),
    ],
    ids=[
        *("class", "subclass", "subclass of a subclass", "without state", "annotations", "async"),
        *("generic, filled later", "generic, filled here", "peer", "partial", "partials"),
        *("function", "partial of a function", "method", "instance"),
    ],
)
def test_types_are_read(env: Any, types: tuple[type, type, type], name: str) -> None:
    spec = EnvSpec.of(env)
    assert (spec.action, spec.observation, spec.state) == types
    assert spec.name == name
    assert isinstance(spec.make(), Environment)


@pytest.mark.parametrize("env", [says_nothing, says_wrongly, lambda: Full()])  # noqa: PLW0108
def test_a_factory_that_does_not_say_what_it_makes_is_asked(env: Callable[[], Full]) -> None:
    spec = EnvSpec.of(env)
    assert (spec.action, spec.observation, spec.state) == FULL
    assert spec.traits == Traits.of(Full)


def test_what_was_made_to_see_is_closed() -> None:
    closed: list[Environment[Any, Any, Any]] = []

    class Closing(Full):
        def close(self) -> None:
            closed.append(self)

    EnvSpec.of(lambda: Closing())  # noqa: PLW0108
    assert len(closed) == 1


def fails() -> Any:
    raise OSError("no license")


@pytest.mark.parametrize("env", [fails, Untold])
def test_types_that_cannot_be_read_must_be_given(env: Callable[[], Full]) -> None:
    with pytest.raises(ConfigurationError, match=r"action class of .*create_app\("):
        EnvSpec.of(env)
    with pytest.raises(ConfigurationError, match="observation class"):
        EnvSpec.of(env, Act)
    spec = EnvSpec.of(env, Act, Seen)
    assert (spec.action, spec.observation, spec.state) == SHORT


def test_given_types_come_before_those_that_are_read() -> None:
    class Other(Action):
        pass

    spec = EnvSpec.of(Full, Other, state=State)
    assert (spec.action, spec.observation, spec.state) == (Other, Seen, State)


@pytest.mark.parametrize("env", [3, "Full", None, object(), [Full]])
def test_what_makes_no_environment_is_refused(env: Any) -> None:
    with pytest.raises(ConfigurationError, match="expected an Environment class, a factory"):
        EnvSpec.of(env, Act, Seen)


@pytest.mark.parametrize("env", [dict, int, Act, Environment, Maker])
def test_a_class_that_is_no_environment_is_refused(env: Any) -> None:
    with pytest.raises(ConfigurationError):
        EnvSpec.of(env, Act, Seen)


def test_an_abstract_class_is_told_what_it_lacks() -> None:
    class NoStep(Environment[Act, Seen]):
        reset = Full.reset

    with pytest.raises(ConfigurationError, match=r"NoStep must define step \(or its _async form\)"):
        EnvSpec.of(NoStep)
    with pytest.raises(ConfigurationError, match="NoStep must define step"):
        EnvSpec.of(functools.partial(NoStep))  # type: ignore[abstract]


def test_an_instance_is_shared() -> None:
    instance = Full()
    spec = EnvSpec.of(instance)
    assert spec.shared
    assert spec.make() is spec.make() is instance
    assert not EnvSpec.of(Full).shared


def test_arguments_of_a_partial_arrive() -> None:
    class Sized(Full):
        def __init__(self, size: int) -> None:
            self.size = size

    made = EnvSpec.of(functools.partial(Sized, size=3)).make()
    assert isinstance(made, Sized)
    assert made.size == 3


class Forward(Action):
    kind: Literal["forward"]
    steps: int


class Turn(Action):
    model_config = ConfigDict(strict=True)
    kind: Literal["turn"]
    picture: bytes = b""
    where: tuple[int, int] = (0, 0)


Either = Annotated[Forward | Turn, Field(discriminator="kind")]


class Union_(Environment[Either, Seen]):
    reset = Full.reset
    step = Full.step


@pytest.mark.parametrize("spec", [EnvSpec.of(Union_), EnvSpec.of(Full, Forward | Turn)])
def test_actions_of_several_kinds(spec: EnvSpec) -> None:
    assert spec.parse_action({"kind": "forward", "steps": 2}) == Forward(kind="forward", steps=2)
    turn = spec.parse_action({"kind": "turn", "picture": "AP8=", "where": [1, 2]})
    assert turn == Turn(kind="turn", picture=b"\x00\xff", where=(1, 2))
    with pytest.raises(ValidationError):
        spec.parse_action({"kind": "turn", "steps": 2})


def test_schemas_describe_every_type() -> None:
    class Odd(Observation):
        odd: Maker
        call: Callable[[int], int] | None = None

    described = schemas(EnvSpec.of(Union_, Either, Odd))
    assert described.action["discriminator"]["propertyName"] == "kind"
    assert {"odd", "call", "done", "reward"} <= described.observation["properties"].keys()
    assert described.state["properties"].keys() == {"episode_id", "step_count"}
    assert described.reset_observation == described.observation


class TestTraits:
    def test_defaults(self) -> None:
        traits = Traits.of(Full)
        assert not (traits.is_async or traits.one_session or traits.one_thread)
        assert traits.requires_reset
        assert not traits.keeps_state
        assert traits.default_host == "thread"

    def test_keywords(self) -> None:
        assert Traits.of(Full).reset_keywords is None
        assert Traits.of(PeerEnvironment).reset_keywords == frozenset()
        assert Traits.of(PeerOptions).reset_keywords is None
        assert Traits.of(Full).step_keywords == frozenset({"action"})

        class Seeded(Full):
            def reset(self, seed: int | None = None, *, level: str = "easy") -> Seen:  # type: ignore[override]
                return Seen()

        assert Traits.of(Seeded).reset_keywords == frozenset({"seed", "level"})

    def test_keywords_of_a_decorated_method_are_those_it_really_takes(self) -> None:
        def logged(method: Any) -> Any:
            @functools.wraps(method)
            def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
                return method(self, *args, **kwargs)

            return wrapper

        class Decorated(Full):
            @logged
            def reset(self, seed: int | None = None) -> Seen:
                return Seen()

        assert Traits.of(Decorated).reset_keywords == frozenset({"seed"})

    def test_concurrency_is_limited_only_where_an_author_wrote_so(self) -> None:
        class Alone(Full):
            SUPPORTS_CONCURRENT_SESSIONS = False

        class Again(Alone):
            SUPPORTS_CONCURRENT_SESSIONS = True

        assert not Traits.of(Full).one_session
        assert Traits.of(Alone).one_session
        assert Traits.of(type("Heir", (Alone,), {})).one_session
        assert not Traits.of(Again).one_session

    def test_what_a_class_asks_for(self) -> None:
        class Picky(Full):
            REQUIRES_SINGLE_THREAD_EXECUTOR = True
            REQUIRES_RESET = False
            HOST = "process"

        traits = Traits.of(Picky)
        assert (traits.one_thread, traits.requires_reset) == (True, False)
        assert (traits.host, traits.default_host) == ("process", "process")

    def test_async_environments(self) -> None:
        class HalfAsync(Full):
            async def step_async(self, action: Act) -> Seen:
                return Seen()

        for env in (Awaited, HalfAsync):
            assert Traits.of(env).is_async
            assert Traits.of(env).default_host == "inline"

    def test_an_own_state(self) -> None:
        assert Traits.of(PeerEnvironment).keeps_state
        assert Traits.of(Annotated_).keeps_state


class Swapped(Environment[Seen, Act]):  # type: ignore[type-var]
    """Its types are in the wrong order."""

    def reset(self, **options: Any) -> Any: ...

    def step(self, action: Any) -> Any: ...


class Plain(Environment[dict, dict]):  # type: ignore[type-var, type-arg]
    """Its types are no models."""

    def reset(self, **options: Any) -> Any: ...

    def step(self, action: Any) -> Any: ...


class Deaf(Full):
    """Takes no action."""

    def step(self) -> Seen:  # type: ignore[override]
        return Seen()


class Sized(Full):
    """Cannot be built without being told how."""

    def __init__(self, size: int) -> None:
        self.size = size


@pytest.mark.parametrize(
    ("env", "says"),
    [
        (Swapped, "action class of Swapped must subclass openenv.Action"),
        (Plain, "action class of Plain must subclass openenv.Action"),
        (Deaf, r"Deaf.step must take the action: def step\(self, action\)"),
        (Sized, r"Sized\(\) needs arguments: .* def make\(\) -> Sized"),
    ],
)
def test_what_would_fail_in_every_session_is_refused_at_once(env: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        EnvSpec.of(env)


def test_a_factory_gives_an_environment_its_arguments() -> None:
    assert EnvSpec.of(functools.partial(Sized, 5)).name == "Sized"
