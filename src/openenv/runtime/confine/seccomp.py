"""A filter of system calls: what no environment needs, and what has broken kernels open."""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from types import MappingProxyType

from openenv.runtime.confine import kernel

_MACHINES = ("x86_64", "aarch64")
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""Set in the numbers of x86-64's second, forgotten set of calls."""

DENIED = MappingProxyType(
    {
        "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
        "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
        "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
        "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
        "unshare": (272, 97), "setns": (308, 268),
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
        "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
        "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
        "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241),
        "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
        "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142),
        "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
        "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
        "quotactl": (179, 60), "quotactl_fd": (443, 443), "fanotify_init": (300, 262),
        "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
        "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
        "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "vhangup": (153, 58),
        "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1),
        "uselib": (134, -1), "_sysctl": (156, -1),
    }
)  # fmt: skip
"""The calls that fail with EPERM, with their numbers on x86-64 and on ARM64."""
OF_OTHERS = MappingProxyType(
    {
        "chmod": (90, -1), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
        "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
        "futimesat": (261, -1), "utimensat": (280, 88), "setxattr": (188, 5),
        "lsetxattr": (189, 6), "setxattrat": (463, 463), "removexattr": (197, 14),
        "lremovexattr": (198, 15), "removexattrat": (466, 466),
        "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
        "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140),
        "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239),
    }
)  # fmt: skip
"""Calls that reach any file and process of the same user, and of which Landlock knows nothing."""
_PRLIMIT = (302, 261)
_CLONE, _CLONE3, _SOCKET, _IOCTL = (56, 220), (435, 435), (41, 198), (16, 29)
_NAMESPACES = 0x7E020080
"""Every CLONE_NEW... flag: as `unshare` is denied, so is a clone that does the same."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into the terminal that a server was started from."""
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_PERMISSION, _NO_CALL = _REFUSE | errno.EPERM, _REFUSE | errno.ENOSYS
_MODE_FILTER = 2
_INSTRUCTION = struct.Struct("=HBBI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filter_calls(*, sockets: bool, others: bool = True) -> None:
    """Denies this process and its children the dangerous calls, for good.

    After `no_new_privs`, or with privileges.

    Args:
        sockets: whether there may be any of the Internet or of Unix; without, only pairs.
        others: whether it may change modes, priorities and limits: not where files and processes
            that are not its own have the same user, and nothing else hides them.

    Raises:
        OSError: the kernel refuses.
    """
    instructions = _compile(sockets, others)
    program = _Program(len(instructions) // _INSTRUCTION.size, instructions)
    kernel.prctl(kernel.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program))


def is_known() -> bool:
    """Whether the numbers of this machine's calls are known here."""
    return kernel.ARCHITECTURE in _MACHINES


@cache
def _compile(sockets: bool, others: bool) -> bytes:
    machine = _MACHINES.index(kernel.ARCHITECTURE)
    denied = [*DENIED.values()] if others else [*DENIED.values(), *OF_OTHERS.values()]
    decided_by_number = _by_number(machine, [numbers[machine] for numbers in denied])
    decided_by_argument = _by_argument(machine, sockets, others)
    allowed = _instruction(_RETURN, _ALLOW)
    return b"".join((*decided_by_number, *decided_by_argument, allowed))


def _by_number(machine: int, denied: Iterable[int]) -> Iterator[bytes]:
    yield _load(_ARCHITECTURE)
    yield from _if(_EQUAL, _ARCHITECTURES[_MACHINES[machine]], skip=True, then=_NO_CALL)
    yield _load(_NUMBER)
    if _MACHINES[machine] == "x86_64":
        yield from _if(_AT_LEAST, _X32, then=_NO_CALL)
    yield from _if(_EQUAL, _CLONE3[machine], then=_NO_CALL)  # libc then falls back on clone
    for number in denied:
        if number >= 0:
            yield from _if(_EQUAL, number, then=_PERMISSION)


def _by_argument(machine: int, sockets: bool, others: bool) -> Iterator[bytes]:
    new = [*_if(_ANY_BIT, _NAMESPACES, then=_PERMISSION)]
    yield from _of_call(_CLONE[machine], _ARGUMENT_0, new, _ALLOW)
    typed = [part for each in _TERMINAL_INPUT for part in _if(_EQUAL, each, then=_PERMISSION)]
    yield from _of_call(_IOCTL[machine], _ARGUMENT_1, typed, _ALLOW)
    families = (UNIX, INET, INET6, NETLINK) if sockets else ()
    opened = [part for each in families for part in _if(_EQUAL, each, then=_ALLOW)]
    yield from _of_call(_SOCKET[machine], _ARGUMENT_0, opened, _PERMISSION)
    if not others:
        itself = [*_if(_EQUAL, 0, then=_ALLOW)]
        yield from _of_call(_PRLIMIT[machine], _ARGUMENT_0, itself, _PERMISSION)


def _of_call(number: int, argument: int, tests: list[bytes], otherwise: int) -> Iterator[bytes]:
    """What is decided by an argument of one call."""
    body = [_load(argument), *tests, _instruction(_RETURN, otherwise)]
    yield _instruction(_EQUAL, number, no=len(body))
    yield from body


def _if(test: int, value: int, *, then: int, skip: bool = False) -> Iterator[bytes]:
    """Decides if a test holds; with `skip`, if it does not."""
    yield _instruction(test, value, yes=int(skip), no=int(not skip))
    yield _instruction(_RETURN, then)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _instruction(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, yes, no, value)
