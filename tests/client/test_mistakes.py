"""What newcomers do wrong, and what they are told."""

import asyncio

import pytest

from openenv import (
    Action,
    ConfigurationError,
    ConnectFailed,
    EnvClient,
    Environment,
    GenericEnvClient,
    ModeError,
    Observation,
    ReplyTimeout,
    SessionLost,
    State,
    local,
)
from openenv.client import conversation
from openenv.runtime.limits import Limits
from tests.serving import serving


class Slow(Environment[Action, Observation]):
    """Is never done in time."""

    HOST = "inline"

    async def reset_async(self) -> Observation:
        return Observation()

    async def step_async(self, action: Action) -> Observation:
        await asyncio.Event().wait()
        return Observation()


class SlowClient(EnvClient[Action, Observation, State]):
    """Its client."""


async def test_a_result_that_is_read_without_await_says_so() -> None:
    async with local(Slow, client_class=SlowClient) as env:
        with pytest.raises(ModeError, match="write `await`"):
            _ = env.reset().observation


@pytest.mark.parametrize("address", ["", "http://", "https:///path", "ftp://host", "http://host:0"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="http://localhost:8000, got"):
        GenericEnvClient(base_url=address)


def test_a_lost_episode_is_told_in_one_sentence() -> None:
    with (
        serving(Slow, limits=Limits(capacity=1)) as served,
        GenericEnvClient(base_url=f"http://127.0.0.1:{served.port}", protocol="v1") as env,
    ):
        env.reset()
        with pytest.raises(ReplyTimeout):
            env.step({}, timeout_s=0.05)
        with pytest.raises(SessionLost) as lost:
            env.step({})
    assert lost.value.message == (
        "step() has no episode to go on with: the last step() ended in ReplyTimeout; "
        "call reset() to begin a new one"
    )


@pytest.mark.parametrize("blocks", [True, False])
def test_a_wrong_path_is_told_once_and_not_tried_again(
    blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "FIRST_PAUSE_S", 3600.0)  # who tries again never comes back

    async def connect(client: GenericEnvClient) -> None:
        await client.connect()

    with serving(Slow) as served:
        url = f"http://127.0.0.1:{served.port}/nowhere"
        client = GenericEnvClient(base_url=url, connect_timeout_s=3600)
        with pytest.raises(ConnectFailed) as failed:
            client.connect() if blocks else asyncio.run(connect(client))
    assert failed.value.status == 403
    assert str(failed.value).count("Failed to connect") == 1
