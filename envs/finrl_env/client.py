"""The typed client of the FinRL environment."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from finrl_env.models import FinRLAction, FinRLConfig, FinRLObservation, FinRLState
from openenv import EnvClient
from openenv.client.fetching import fetched


class FinRLEnv(EnvClient[FinRLAction, FinRLObservation, FinRLState]):
    """A trader with an account of one's own."""

    def get_config(self) -> Any:
        """What the server trades by default: a `FinRLConfig`; to be awaited where `reset` is.

        A server of the client's own is started first.

        Raises:
            ConnectFailed: no server answered.
        """

        async def awaiting() -> FinRLConfig:
            if self.base_url is None:
                await self.connect()
            return await asyncio.to_thread(self._fetch_config)

        def blocking() -> FinRLConfig:
            if self.base_url is None:
                self.connect()
            return self._fetch_config()

        return self._do("get_config", blocking, awaiting)

    def _fetch_config(self) -> FinRLConfig:
        return cast("FinRLConfig", fetched(self._endpoint, "/config"))
