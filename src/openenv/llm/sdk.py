"""What the clients that speak through a vendor's SDK have in common."""

from __future__ import annotations

import asyncio
import sys
from abc import abstractmethod
from collections.abc import Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import ModuleType
from typing import Any

from openenv.llm.base import LLMClient
from openenv.llm.errors import ModelFailed, ModelRejected, ModelTimeout, ModelUnavailable
from openenv.llm.loops import of_this_loop
from openenv.llm.responses import Completion, LLMResponse
from openenv.llm.retries import RetryPolicy, persist, wished_s
from openenv.protocol.errors import ConfigurationError

if sys.version_info >= (3, 11):
    from asyncio import timeout as within
else:
    from async_timeout import timeout as within

TIMEOUT_S = 60.0
_NO_KEY = "not-needed"
_PASSING = frozenset({408, 409, 425, 429})
_OUT_OF_MONEY = "insufficient_quota"
_SHOWN = 500


class SdkClient(LLMClient):
    """A client through a vendor's SDK: one for all sessions, whichever loops and threads they have.

    The SDK is asked once per attempt; trying again, deadlines and errors are ours. Clients on one
    event loop share connections, which end with the loop. Redirects are not followed, and nothing
    that is sent is taken from the environment: no key, no organization, no header.

    Args:
        endpoint: where the server is, `http://…` or `https://…`.
        port: its port; `None` when the endpoint has it, or it is the scheme's own.
        model: the model's name.
        api_key: the key that is sent; servers of one's own often need none.
        system_prompt: what goes before every conversation that has no system message.
        temperature: of the sampling; `None` leaves it to the model, some of which take none.
        max_tokens: the longest answer.
        timeout_s: seconds for one attempt, all of the answer included. A single call has another
            one by `complete(…, timeout_s=)`.
        retries: how often, and for how long, a busy or broken server is asked again.

    Raises:
        ConfigurationError: an argument is wrong.
        MissingPackage: the SDK is not installed (also ImportError).
    """

    def __init__(  # noqa: PLR0913, PLR0917  # the published signature
        self,
        endpoint: str,
        port: int | None,
        model: str,
        api_key: str | None = None,
        system_prompt: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 256,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: RetryPolicy | None = None,
    ) -> None:
        super().__init__(endpoint, port)
        _check_positive(timeout_s=timeout_s, max_tokens=max_tokens)
        self._sdk()
        self.model = model
        self.system_prompt = system_prompt
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.timeout_s = timeout_s
        self.retries = retries or RetryPolicy()
        self._api_key = _checked_key(api_key) or _NO_KEY

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, model={self.model!r})"

    async def complete(self, prompt: str, **options: Any) -> Completion:
        """The model's answer to a prompt, as a `str` that also says why it ends and its cost."""
        return Completion.of(await self._ask([{"role": "user", "content": prompt}], (), options))

    async def complete_with_tools(
        self, messages: list[dict[str, Any]], tools: Sequence[Any], **options: Any
    ) -> LLMResponse:
        """The model's next message in a conversation in which it may call tools."""
        return await self._ask(messages, tools, options)

    @abstractmethod
    def _sdk(self) -> ModuleType:
        """The vendor's package."""

    @abstractmethod
    def _connected(self, connections: Any) -> Any:
        """The SDK's own client, which neither tries again nor has deadlines."""

    @abstractmethod
    def _request(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], options: dict[str, Any]
    ) -> dict[str, Any]:
        """The keywords of the SDK's call."""

    @abstractmethod
    async def _send(self, connected: Any, request: dict[str, Any]) -> Any:
        """The SDK's answer."""

    @abstractmethod
    def _read(self, answer: Any) -> LLMResponse:
        """The response that an answer is; anything may be missing from it."""

    def _connections(self) -> Any:
        """A pool of connections, which follows no redirects and keeps no cookies."""
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        return self._sdk().DefaultAsyncHttpxClient(
            follow_redirects=False, timeout=None, cookies=no_cookies
        )

    async def _ask(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], options: dict[str, Any]
    ) -> LLMResponse:
        timeout_s = options.pop("timeout_s", self.timeout_s)
        if self.system_prompt and not any(
            each.get("role") in ("system", "developer") for each in messages
        ):
            messages = [{"role": "system", "content": self.system_prompt}, *messages]
        request = self._request(messages, tools, options)
        response = await persist(
            lambda left_s: self._attempt(request, min(timeout_s, left_s)), self.retries
        )
        self._count(response.usage)
        return response

    async def _attempt(self, request: dict[str, Any], timeout_s: float) -> LLMResponse:
        try:
            async with within(timeout_s):
                connections = await of_this_loop(self._sdk().__name__, self._connections)
                connected = self._connected(connections)
                connected._custom_headers = {}  # no argument keeps the SDK from its variables
                answer = await self._send(connected, request)
        except (TimeoutError, asyncio.TimeoutError):
            raise ModelTimeout(self._says(f"no answer within {timeout_s:.3g} s")) from None
        except self._sdk().APIError as error:
            raise self._failure(error) from None
        except UnicodeEncodeError as error:
            raise ModelRejected(self._says(f"the request cannot be sent: {error.reason}")) from None
        except ValueError as error:
            raise ModelFailed(self._says(f"the answer is not JSON: {error}")) from None
        try:
            response = self._read(answer)
        except (AttributeError, IndexError, KeyError, TypeError):
            response = None
        if response is None or not isinstance(response.content, str):
            raise ModelFailed(self._says(f"the answer has no message: {answer!r}"))
        return response

    def _failure(self, error: Any) -> ModelFailed:
        """Our error for one of the SDK's."""
        status: int | None = getattr(error, "status_code", None)
        told = self._says(f"HTTP {status}: {error}" if status else str(error))
        if status is None:
            if isinstance(error, self._sdk().APIConnectionError):
                return ModelUnavailable(self._says(f"no connection: {error.__cause__ or error}"))
            return ModelFailed(told)
        passing = status in _PASSING or status >= 500
        if passing and getattr(error, "code", None) != _OUT_OF_MONEY:
            wish = wished_s(error.response.headers)
            return ModelUnavailable(told, status=status, retry_after_s=wish)
        return ModelRejected(told, status=status)

    def _says(self, what: str) -> str:
        """A line about this model, without its key; servers repeat keys in what they say."""
        if self._api_key != _NO_KEY:
            what = what.replace(self._api_key, "***")
        shown = what if len(what) <= _SHOWN else what[:_SHOWN] + "…"
        return f"{self.model} at {self.base_url}: {shown}"


def _checked_key(key: str | None) -> str:
    """A key without the line's end that it was read with.

    Raises:
        ConfigurationError: no header can carry it. Otherwise the SDK says so, and repeats it.
    """
    stripped = (key or "").strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise ConfigurationError("api_key has characters that no key has, such as line breaks")
    return stripped


def _check_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if not number > 0:
            raise ConfigurationError(f"{name}={number!r}; give more than 0")
