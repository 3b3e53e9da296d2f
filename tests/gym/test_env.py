"""GymEnv: environments behind a client, as Gymnasium's checkers and users see them."""

import importlib.util
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from enum import Enum
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from blackjack_env import BlackJackAction, BlackJackEnv, BlackJackObservation
from blackjack_env.server import BlackJackEnvironment
from openenv import (
    Action,
    ConfigurationError,
    ConnectFailed,
    EnvClient,
    Environment,
    EnvPool,
    GenericEnvClient,
    NDArray,
    Observation,
    ResetRequired,
    State,
    local,
)
from openenv.gym import GymEnv, served
from tests.client.peers import Refusals, replying, scripted
from tests.gym.worlds import Countdown
from tests.serving import serving

PYGAME = importlib.util.find_spec("pygame") is not None


@pytest.fixture
def cartpole() -> Iterator[str]:
    with serving(served("CartPole-v1")) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
def blackjack() -> Iterator[str]:
    with serving(BlackJackEnvironment) as server:
        yield f"http://127.0.0.1:{server.port}"


# ── what Gymnasium checks ─────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore:.*A Box observation space")  # as CartPole's own
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pygame.*")
def test_cartpole_passes_gymnasiums_check(cartpole: str) -> None:
    env = GymEnv(cartpole)
    check_env(env, skip_render_check=not PYGAME)
    env.close()


def test_frames_pass_gymnasiums_check() -> None:
    with serving(served(Countdown)) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}", render_mode="ansi")
        check_env(env)
        env.close()


@pytest.mark.parametrize("typed", [False, True])
def test_blackjack_passes_gymnasiums_check(blackjack: str, typed: bool) -> None:
    env = GymEnv(blackjack, BlackJackEnv) if typed else GymEnv(blackjack)
    check_env(env)
    env.close()


# ── an environment that was Gymnasium's ───────────────────────────────────────────────────────────


def test_it_looks_as_it_did(cartpole: str) -> None:
    native = gymnasium.make("CartPole-v1")
    assert native.spec is not None
    env = GymEnv(cartpole)
    assert env.spec is not None
    assert env.observation_space == native.observation_space
    assert env.action_space == native.action_space
    for name in ("id", "reward_threshold", "max_episode_steps", "nondeterministic"):
        assert getattr(env.spec, name) == getattr(native.spec, name)
    assert env.metadata == {"render_modes": ["rgb_array"], "render_fps": 50}
    assert env.render_mode is None
    env.close()


def test_it_plays_as_it_did(cartpole: str) -> None:
    native, env = gymnasium.make("CartPole-v1"), GymEnv(cartpole)
    for seed in (4, None):
        (obs, info), (expected, _) = env.reset(seed=seed), native.reset(seed=seed)
        done = False
        while not done:
            assert np.array_equal(obs, expected)
            assert obs.dtype == expected.dtype
            assert obs.flags.writeable
            obs, reward, terminated, truncated, info = env.step(np.int64(1))
            expected, *outcome = native.step(1)
            assert [reward, terminated, truncated, info] == outcome
            done = terminated or truncated
    env.close()


def test_options_go_to_the_environment() -> None:
    env = GymEnv(local(served(Countdown)))
    obs, info = env.reset(seed=2, options={"start": 40})
    assert obs.tolist() == [40.0, 0.0]
    assert info["options"] == {"start": 40}


def test_its_frames_are_rendered_from_afar() -> None:
    with serving(served(Countdown)) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}", render_mode="rgb_array")
        env.reset()
        env.step(1)
        frame = env.render()
        assert frame.dtype == np.uint8
        assert np.array_equal(frame, np.full((4, 6, 3), 2))
        env.close()


def test_a_render_mode_that_it_does_not_offer_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'human'; it offers rgb_array, ansi"):
        GymEnv(local(served(Countdown)), render_mode="human")
    with pytest.warns(UserWarning, match="without a render mode"):
        assert GymEnv(local(served(Countdown))).render() is None


def test_its_spec_makes_another() -> None:
    with serving(served(Countdown)) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}")
        assert env.spec is not None
        another = env.spec.make(render_mode="rgb_array_list")
        another.reset(seed=1)
        another.step(1)
        frames: Any = another.render()
        assert [frame[0, 0, 0] for frame in frames] == [3, 2]
        assert server.active() == 1, "the first has not been used"
        env.reset()
        assert server.active() == 2
        another.close()
        env.close()
        assert server.active() == 0


# ── an environment that never was ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("typed", [False, True])
def test_fields_with_bounds_are_spaces_and_the_rest_is_info(blackjack: str, typed: bool) -> None:
    env = GymEnv(blackjack, BlackJackEnv) if typed else GymEnv(blackjack)
    assert env.action_space == spaces.Discrete(2)
    assert isinstance(env.observation_space, spaces.Dict)
    assert set(env.observation_space) == {"player_sum", "usable_ace", "dealer_card", "result"}
    obs, info = env.reset(seed=1)
    assert obs["player_sum"].tolist() == [14]
    assert obs["usable_ace"] == 0
    assert info["legal_actions"] == ["hit", "stand"]
    assert info["text"] == "you hard 14 dealer 8 act"
    assert info["seed"] == 1
    obs, reward, terminated, truncated, info = env.step(1)
    assert (terminated, truncated) == (True, False)
    assert reward == {"win": 1.0, "push": 0.0, "lose": -1.0}[("win", "push", "lose")[obs["result"]]]
    env.close()


def test_functions_of_the_users_own_take_its_models(blackjack: str) -> None:
    def seen(observation: BlackJackObservation) -> Any:
        return np.array([observation.player_sum, observation.usable_ace], np.float32)

    def move(action: int) -> BlackJackAction:
        return BlackJackAction(move="hit" if action else "stand")

    box = spaces.Box(0.0, 32.0, (2,), np.float32)
    env = GymEnv(
        BlackJackEnv(blackjack),
        observation=(box, seen),
        action=(spaces.Discrete(2), move),
    )
    check_env(env)
    assert env.observation_space is box
    obs, info = env.reset(seed=1)
    assert obs.tolist() == [14.0, 0.0]
    assert info == {"seed": 1}
    assert env.step(1)[0].tolist() == [17.0, 0.0]
    env.close()


def test_a_client_in_use_may_become_an_environment(blackjack: str) -> None:
    with BlackJackEnv(blackjack).sync() as client:
        client.reset(seed=1)
        env = GymEnv(client)
        assert env.step(0)[0]["player_sum"].tolist() == [17]


class Say(Action):
    """An action of which no space can be told."""

    words: str


class Heard(Observation):
    """An observation of which none can."""

    words: str = ""


class Echo(Environment[Say, Heard]):
    """Repeats words."""

    def reset(self) -> Heard:
        return Heard()

    def step(self, action: Say) -> Heard:
        return Heard(words=action.words)


def test_what_says_no_bounds_needs_a_function() -> None:
    with pytest.raises(ConfigurationError, match=r"no field of Heard says .*observation=\(space"):
        GymEnv(local(Echo))
    text = spaces.Text(20, min_length=0)
    hook = (text, lambda observation: observation.words)
    with pytest.raises(ConfigurationError, match=r"Say has the field 'words'.*action=\(space"):
        GymEnv(local(Echo), observation=hook)
    env = GymEnv(local(Echo), observation=hook, action=(text, lambda words: {"words": words}))
    assert env.reset() == ("", {})
    assert env.step("hello")[0] == "hello"


class Mood(Enum):
    """A choice."""

    CALM = "calm"
    CROSS = "cross"


class Ask(Action):
    """What may make it cross."""

    mood: Mood


class Told(Observation):
    """Its mood, and what it costs."""

    mood: Mood
    price: NDArray[np.float32, (2,)]


class Moody(Environment[Ask, Told]):
    """Is in the mood that it was asked for."""

    def reset(self) -> Told:
        return Told(mood=Mood.CALM, price=np.zeros(2, np.float32))

    def step(self, action: Ask) -> Told:
        return Told(mood=action.mood, price=np.ones(2, np.float32), reward=1)


class MoodyClient(EnvClient[Ask, Told, State]):
    """A client with models."""


@pytest.mark.parametrize("client", [MoodyClient, GenericEnvClient])
def test_a_typed_client_reads_what_a_plain_one_does(client: Any) -> None:
    with serving(Moody) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}", client)
        assert env.action_space == spaces.Discrete(2)
        assert env.reset()[0]["mood"] == 0
        obs, reward, *_ = env.step(1)
        assert (obs["mood"], reward) == (1, 1.0)
        assert obs["price"].dtype == np.float32
        assert obs["price"].tolist() == [1.0, 1.0]
        obs["price"] += 1
        env.close()


@pytest.mark.parametrize("client", [MoodyClient, GenericEnvClient])
def test_it_is_called_what_the_environment_is_called(client: Any) -> None:
    with serving(Moody) as server:
        env = GymEnv(f"http://127.0.0.1:{server.port}", client)
        assert str(env) == "<GymEnv<Moody>>"
    assert str(GymEnv(local(Moody))) == "<GymEnv<Moody>>"


def test_a_typed_client_needs_no_server_to_become_an_environment() -> None:
    assert str(GymEnv("http://127.0.0.1:1", MoodyClient)) == "<GymEnv<Told>>"


def test_what_a_function_of_the_users_raises_is_not_the_servers_fault() -> None:
    hook = (spaces.Discrete(2), lambda observation: observation.no_such_field)
    env = GymEnv(local(Moody), observation=hook)
    with pytest.raises(AttributeError, match="no_such_field"):
        env.reset()


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────


def test_an_action_of_another_space_is_refused_before_it_is_sent(cartpole: str) -> None:
    env = GymEnv(cartpole)
    env.reset(seed=1)
    for wrong in (0.5, "left", np.array([1, 0]), None):
        with pytest.raises(ConfigurationError, match=r"is not in Discrete\(2\)"):
            env.step(wrong)
    env.step(1)
    env.close()


def test_a_step_after_the_end_is_the_servers_typed_answer() -> None:
    env = GymEnv(local(served(Countdown, start=1)))
    env.reset()
    assert env.step(1)[2]
    with pytest.raises(ResetRequired):
        env.step(1)


def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(ConnectFailed, match="is the server running"):
        GymEnv(GenericEnvClient("http://127.0.0.1:1", connect_retries=1))


@pytest.mark.parametrize(("status", "asked"), [(429, 3), (502, 3), (503, 3), (504, 3), (404, 1)])
def test_a_busy_server_is_asked_again_as_often_as_a_client_connects(
    status: int, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openenv.client.conversation.FIRST_PAUSE_S", 0.01)
    refusals = Refusals(status, times=9)
    why = f"HTTP {status} for /schema"
    with (
        scripted(replying(), process_request=refusals) as url,
        pytest.raises(ConnectFailed, match=why),
    ):
        GymEnv(GenericEnvClient(url, connect_retries=2))
    assert refusals.seen == asked


def test_a_server_that_comes_late_is_waited_for() -> None:
    with ExitStack() as stack:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        trying = stack.enter_context(ThreadPoolExecutor()).submit(
            GymEnv, GenericEnvClient(f"http://127.0.0.1:{port}", connect_retries=8)
        )
        stack.enter_context(serving(served(Countdown), port=port))
        env = trying.result()
        assert env.reset()[0].tolist() == [3.0, 0.0]
        env.close()


def test_what_is_neither_an_address_nor_a_client_is_refused() -> None:
    wrong: Any = EnvPool("http://127.0.0.1:1", 2)
    why = r"GymEnv takes .*, got EnvPool: .*VectorEnv\(pool\)"
    with pytest.raises(ConfigurationError, match=why):
        GymEnv(wrong)
    wrong.close()


def test_a_server_without_schemas_is_told(blackjack: str) -> None:
    with pytest.raises(ConnectFailed, match="HTTP 404 for /schema"):
        GymEnv(GenericEnvClient(f"{blackjack}/elsewhere"))


async def test_it_blocks_inside_an_event_loop_too(cartpole: str) -> None:
    env = GymEnv(cartpole)
    env.reset(seed=1)
    assert env.step(1)[1] == 1.0
    env.close()
