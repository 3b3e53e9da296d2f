"""A connection of the `websockets` package that somebody else made: it speaks v1."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any

from openenv.client.endpoint import Endpoint
from openenv.protocol.client import raise_uninvited

if sys.version_info >= (3, 11):
    from asyncio import timeout as within
else:
    from async_timeout import timeout as within


class AdoptedSocket:
    """One open connection, used on the loop that opened it.

    Args:
        endpoint: how it was made.
        connection: an open `websockets` connection.
    """

    def __init__(self, endpoint: Endpoint, connection: Any) -> None:
        self.connection = connection
        self.loop = asyncio.get_running_loop()
        self._endpoint = endpoint

    @property
    def subprotocol(self) -> str | None:
        """None: whoever made the connection made it for v1."""
        return None

    async def exchange(self, frame: str, timeout_s: float) -> str | bytes:
        """Sends a frame and returns the frame that answers it; otherwise as `BlockingSocket`."""
        from websockets.exceptions import ConnectionClosed

        try:
            async with within(timeout_s):
                if self._has_uninvited():
                    raise_uninvited(await self.connection.recv(decode=False))
                with contextlib.suppress(ConnectionClosed):  # it may have said why it left
                    await self.connection.send(frame)
                answer: str | bytes = await self.connection.recv(decode=False)
                return answer
        except (TimeoutError, asyncio.TimeoutError):
            self.abort()
            raise self._endpoint.late(timeout_s) from None
        except ConnectionClosed as error:
            end = error.rcvd or error.sent
            raise self._endpoint.closed(
                end.code if end else None, end.reason if end else ""
            ) from error
        except BaseException:
            self.abort()
            raise

    async def close(self, goodbye: str, timeout_s: float) -> None:
        """Says goodbye and waits until the server has freed the session, or time is up."""
        from websockets.exceptions import ConnectionClosed

        try:
            async with within(timeout_s):
                await self.connection.send(goodbye)
                await self.connection.wait_closed()
        except (ConnectionClosed, TimeoutError, asyncio.TimeoutError):
            pass
        finally:
            self.abort()

    def abort(self) -> None:
        """Drops the connection without a word."""
        transport = getattr(self.connection, "transport", None)
        if transport is not None:
            transport.abort()

    def _has_uninvited(self) -> bool:
        """Whether a frame came in that nobody asked for; `websockets` has no public way to ask."""
        received = getattr(self.connection, "recv_messages", None)
        return len(getattr(received, "frames", ())) > 0
