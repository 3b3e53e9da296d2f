"""The kernel's calls that Python has no functions for."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from ctypes import c_char_p, c_int, c_long, c_uint32, c_uint64, c_ulong
from types import MappingProxyType

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_GET_CHILD_SUBREAPER = 37
PR_SET_NO_NEW_PRIVS = 38

AT_FDCWD = -100
AT_RECURSIVE = 0x8000
CAPABILITY_VERSION_3 = 0x20080522

ARCHITECTURE = platform.machine()
_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126},
    "aarch64": {"pivot_root": 41, "capset": 91},
}
CALLS = MappingProxyType(
    {
        **_NUMBERS.get(ARCHITECTURE, {}),
        "mount_setattr": 442,
        "landlock_create_ruleset": 444,
        "landlock_add_rule": 445,
        "landlock_restrict_self": 446,
    }
)
"""Numbers of the calls that libc has no functions for."""


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, c_uint64) for name in ("set", "clear", "propagation", "userns"))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", c_uint32), ("pid", c_int))


def call(name: str, *arguments: object) -> int:
    """Makes a system call by its name in `CALLS`.

    Raises:
        OSError: the kernel refuses.
    """
    if name not in CALLS:
        raise OSError(errno.ENOSYS, f"{name}: its number on {ARCHITECTURE} is not known here")
    return _checked(name, _libc.syscall(c_long(CALLS[name]), *arguments))


def unshare(flags: int) -> None:
    """Gives this process namespaces of its own."""
    _checked("unshare", _libc.unshare(c_int(flags)))


def setns(descriptor: int, kind: int) -> None:
    """Puts this process into a namespace; of pids, its future children."""
    _checked("setns", _libc.setns(c_int(descriptor), c_int(kind)))


def prctl(option: int, *values: int) -> int:
    """Sets or asks something of this process."""
    rest = [c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _checked("prctl", _libc.prctl(c_int(option), *rest))


def is_subreaper() -> bool:
    """Whether orphaned descendants become children of this process."""
    answer = c_int(0)
    prctl(PR_GET_CHILD_SUBREAPER, ctypes.addressof(answer))
    return bool(answer.value)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Attaches a file system, or with MS_BIND a part of one."""
    texts = [c_char_p(os.fsencode(text)) for text in (source, target, kind, options)]
    result = _libc.mount(*texts[:3], c_ulong(flags), texts[3])
    _checked(f"mount {target}", result)


def restrict_mounts(target: str, flags: int, *, below: bool = True) -> None:
    """Adds MS_RDONLY, MS_NOSUID, MS_NODEV or MS_NOEXEC to a mount, and to those below it."""
    attributes = _MountAttributes(set=flags)  # these four are the same as MOUNT_ATTR_*
    size = ctypes.sizeof(attributes)
    where = (c_int(AT_FDCWD), c_char_p(os.fsencode(target)), c_int(AT_RECURSIVE if below else 0))
    call("mount_setattr", *where, ctypes.byref(attributes), c_ulong(size))


def pivot_root(new: str, old: str) -> None:
    """Makes `new` the root, and has the former one at `old`."""
    call("pivot_root", c_char_p(os.fsencode(new)), c_char_p(os.fsencode(old)))


def unmount(target: str) -> None:
    """Unmounts with all below, at once."""
    _checked(f"umount {target}", _libc.umount2(c_char_p(os.fsencode(target)), c_int(MNT_DETACH)))


def set_hostname(name: str) -> None:
    """Names this machine, as its UTS namespace sees it."""
    text = name.encode()
    _checked("sethostname", _libc.sethostname(c_char_p(text), c_ulong(len(text))))


def drop_capabilities() -> None:
    """Gives up every capability of this process, whatever it was."""
    header = _CapabilityHeader(CAPABILITY_VERSION_3, 0)
    nothing = (c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(nothing))


def _checked(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
