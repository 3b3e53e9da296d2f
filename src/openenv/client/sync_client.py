"""SyncEnvClient: an `EnvClient` that blocks, precisely typed."""

from __future__ import annotations

import functools
import inspect
import operator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, cast

from typing_extensions import Self

from openenv.client.codec import ActT, ObsT, StateT
from openenv.client.results import StepResult

if TYPE_CHECKING:
    from openenv.client.env_client import EnvClient


class SyncEnvClient(Generic[ActT, ObsT, StateT]):
    """The blocking form of a client: `client.sync()`.

    Calls run in the calling thread, also inside a running event loop (which they then hold up).
    The client's other methods are here too; its `async` helpers can be called without `await`
    as long as they await nothing but the client's own operations.
    """

    def __init__(self, client: EnvClient[ActT, ObsT, StateT]) -> None:
        self._client = client

    @property
    def async_client(self) -> EnvClient[ActT, ObsT, StateT]:
        """The client behind it."""
        return self._client

    def connect(self) -> Self:
        """Opens the session now, rather than at the first call; errors as `EnvClient.connect`."""
        self._client.connect()
        return self

    def reset(self, *, timeout_s: float | None = None, **kwargs: Any) -> StepResult[ObsT]:
        """Begins an episode; arguments and errors as `EnvClient.reset`."""
        options = {} if timeout_s is None else {"timeout_s": timeout_s}
        return cast("StepResult[ObsT]", self._client.reset(**options, **kwargs))

    def step(self, action: ActT, timeout_s: float | None = None) -> StepResult[ObsT]:
        """Takes one action; arguments and errors as `EnvClient.step`."""
        options = {} if timeout_s is None else {"timeout_s": timeout_s}
        return cast("StepResult[ObsT]", self._client.step(action, **options))

    def state(self, timeout_s: float | None = None) -> StateT:
        """Where the episode stands; arguments and errors as `EnvClient.state`."""
        options = {} if timeout_s is None else {"timeout_s": timeout_s}
        return cast("StateT", self._client.state(**options))

    def close(self) -> None:
        """Ends the session; when it returns the server has freed its slot."""
        self._client.close()

    def disconnect(self) -> None:
        """The same as `close`."""
        self._client.close()

    def __enter__(self) -> Self:
        """Connects."""
        return self.connect()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes."""
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its client, whose blocking form it then is."""
        return operator.methodcaller("sync"), (self._client,)

    def __getattr__(self, name: str) -> Any:
        """Anything else of the client; what it would await is done by the time it returns."""
        value = getattr(self._client, name)
        if not inspect.iscoroutinefunction(value):
            return value

        @functools.wraps(value)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._client._run_blocking(value(*args, **kwargs))

        return call
