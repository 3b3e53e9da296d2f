"""Control: the server's end of the socket to its zygote."""

from __future__ import annotations

import asyncio
import os
import socket
from array import array
from collections import deque
from collections.abc import Callable, Sequence

from openenv.runtime.zygote_wire import Event, take_events

CHUNK_BYTES = 1 << 16


class Control:
    """Orders go out, with descriptors; news come in.

    Args:
        own_end: our end of the socket.
        hear: told each piece of news.
    """

    def __init__(self, own_end: socket.socket, hear: Callable[[Event], None]) -> None:
        own_end.setblocking(False)
        self._socket = own_end
        self._hear = hear
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._outbox: deque[tuple[bytes, list[int]]] = deque()
        self._loop.add_reader(own_end, self._read)

    @property
    def is_open(self) -> bool:
        """Whether the other end is there, as far as is known."""
        return self._socket.fileno() >= 0

    def send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        """Sends as soon as there is room; the descriptors are the caller's again at once.

        Raises:
            OSError: there are no more descriptors; nothing is sent.
        """
        if not self.is_open:
            return
        own: list[int] = []
        try:
            for each in descriptors:
                own.append(os.dup(each))
        except OSError:
            for each in own:
                os.close(each)
            raise
        self._outbox.append((message, own))
        if len(self._outbox) == 1:
            self._flush()

    def close(self) -> None:
        """Sends and hears no more."""
        if self.is_open:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
        while self._outbox:
            self._sent()

    def _flush(self) -> None:
        try:
            while self._outbox:
                message, descriptors = self._outbox[0]
                extras = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))]
                count = self._socket.sendmsg([message], extras if descriptors else [])
                self._sent()
                if count < len(message):
                    self._outbox.appendleft((message[count:], []))
        except BlockingIOError:
            self._loop.add_writer(self._socket, self._flush)
            return
        except OSError:  # it is dead, as we are about to be told
            self.close()
            return
        self._loop.remove_writer(self._socket)

    def _sent(self) -> None:
        for descriptor in self._outbox.popleft()[1]:
            os.close(descriptor)

    def _read(self) -> None:
        read = b""
        try:
            read = self._socket.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except ConnectionError:
            pass
        if not read:
            self.close()
        self._received += read
        for event in take_events(self._received):
            self._hear(event)
