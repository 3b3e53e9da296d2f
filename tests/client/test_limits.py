"""What a client is told when the server's limits end its session."""

from typing import Any

import pytest

from openenv import SessionError, SessionLost
from openenv.protocol.errors import StepTimeout
from openenv.runtime.limits import Limits
from tests.client.ways import Ask, talking, until
from tests.client.worlds import Gate, Parrot, Pausing, Say
from tests.serving import serving


def test_an_idle_session_that_expired(colour: str, protocol: str | None) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        await until(client, ask, lambda: served.openenv.active_sessions == 0)
        expired = SessionError if protocol == "v1" else SessionLost
        with pytest.raises(expired, match=r"session '[-0-9a-f]+' expired: idle for more"):
            await ask(client.step(Say(text="late")))
        with pytest.raises(SessionLost, match="reset"):
            await ask(client.step(Say(text="late")))
        assert (await ask(client.reset(seed=1))).observation.seed == 1

    with serving(Parrot, limits=Limits(idle_timeout=0.1)) as served:
        url = f"http://127.0.0.1:{served.port}"
        talking(colour, talk, Pausing(base_url=url, protocol=protocol))


def test_a_step_that_the_server_gave_up(colour: str, protocol: str | None) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.reset())
        gate = Gate()
        with pytest.raises(StepTimeout, match=r"0.1 s.*STEP_TIMEOUT") as caught:
            await ask(client.step(Say(gate=gate.name)))
        assert isinstance(caught.value, TimeoutError)
        why = "StepTimeout" if protocol == "v1" else "ran longer than 0.1 s"
        with pytest.raises(SessionLost, match=why):
            await ask(client.step(Say(text="late")))
        gate.opened.set()
        assert (await ask(client.reset(seed=1))).observation.seed == 1

    with serving(Parrot, limits=Limits(step_timeout=0.1)) as served:
        url = f"http://127.0.0.1:{served.port}"
        talking(colour, talk, Pausing(base_url=url, protocol=protocol))
