"""Landlock: a wall against files, ports, signals and abstract sockets that needs no privileges."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from ctypes import c_int, c_uint32, c_uint64, c_ulong

from openenv.runtime.confine import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = (1 << bit for bit in range(4))
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_MAKE_CHARACTER, _MAKE_BLOCK = 1 << 6, 1 << 11
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many rights over files are known, from which version of Landlock on."""
READ = _EXECUTE | _READ_FILE | _READ_DIR
LIST = _READ_DIR
DEVICE = _READ_FILE | _WRITE_FILE
TERMINAL = DEVICE | _READ_DIR | _IOCTL_DEVICE
WRITE = (1 << 15) - 1 - _MAKE_CHARACTER - _MAKE_BLOCK
_BIND_AND_CONNECT = 0b11
_SOCKETS_AND_SIGNALS = 0b11
_VERSION_FLAG = 1
_PATH_BENEATH = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", c_uint64), ("ports", c_uint64), ("scopes", c_uint64))


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", c_uint64), ("descriptor", c_int))


def version() -> int:
    """The kernel's version of Landlock.

    Raises:
        OSError: it has none, or it is switched off.
    """
    return kernel.call("landlock_create_ruleset", None, c_ulong(0), c_uint32(_VERSION_FLAG))


def restrict(allowed: Iterable[tuple[str, int]], *, ports: bool) -> None:
    """Keeps this process and its children from all else, for good.

    From TCP since version 4; from sending signals to others and from their abstract sockets since
    version 6. After `no_new_privs`, or with privileges.

    Args:
        allowed: paths, each with `READ`, `LIST`, `WRITE`, `DEVICE` or `TERMINAL`; those out of
            reach are left out.
        ports: whether TCP stays allowed.

    Raises:
        OSError: the kernel refuses.
    """
    known = version()
    files = (1 << max(count for since, count in _FILE_RIGHTS.items() if since <= known)) - 1
    attributes = _Ruleset(files)
    if known >= 4 and not ports:
        attributes.ports = _BIND_AND_CONNECT
    if known >= 6:
        attributes.scopes = _SOCKETS_AND_SIGNALS
    size = c_ulong(24 if known >= 6 else 16 if known >= 4 else 8)
    ruleset = kernel.call("landlock_create_ruleset", ctypes.byref(attributes), size, c_uint32(0))
    try:
        for path, rights in allowed:
            with suppress(FileNotFoundError, PermissionError):
                _allow(ruleset, path, rights & files)
        kernel.call("landlock_restrict_self", c_int(ruleset), c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = ctypes.byref(_Rule(rights, descriptor))
        arguments = (c_int(ruleset), c_int(_PATH_BENEATH), rule, c_uint32(0))
        kernel.call("landlock_add_rule", *arguments)
    finally:
        os.close(descriptor)
