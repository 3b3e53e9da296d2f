"""What an environment gone bad may try. Each attack runs in a session of its own.

It returns whether it got through; an `OSError` or `MemoryError` means that it was stopped.
"""

import ctypes
import errno
import mmap
import os
import resource
import socket
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from openenv.runtime.confine import Confinement

Attack = Callable[["World"], bool]

ATTACKS: dict[str, Attack] = {}

LIBC = ctypes.CDLL(None, use_errno=True)
SEIZE, PROCESS_KEYRING, NEW_USER, NEW_MOUNT, VSOCK = 0x4206, -2, 0x10000000, 0x20000, 40
X86_64 = os.uname().machine == "x86_64"
ADD_KEY, BPF, USERFAULTFD, IO_URING, PERF = (
    (248, 321, 323, 425, 298) if X86_64 else (217, 280, 282, 425, 241)
)


@dataclass
class World:
    """What there is to attack.

    Attributes:
        server: the process that the session must not touch.
        sibling: another session.
        private: a file in the home of the server's user.
        code: a directory of the environment's code, with a file of credentials beside it.
        public: a directory of the host that anybody may write to.
        door: a Unix socket that anybody may connect to, as a container engine's may be.
        abstract: the name of an abstract socket.
        port: of a TCP server on the host's loopback.
        home: what the session owns.
        limits: what it may use.
        kept: its descriptors.
        leash: what a process waits for that means to stay.
    """

    server: int
    sibling: int
    private: str
    code: str
    public: str
    door: str
    abstract: str
    port: int
    home: str
    limits: Confinement
    kept: tuple[int, ...] = ()
    leash: int = -1


def attack(name: str) -> Callable[[Attack], Attack]:
    """Registers an attack under the name that the table has."""

    def register(function: Attack) -> Attack:
        ATTACKS[name] = function
        return function

    return register


def call(number: int, *arguments: object) -> int:
    """A system call by its number."""
    result: int = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def checked(result: int) -> int:
    """What libc returned."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reachable(pid: int) -> int:
    """The pid of another process; in a pid namespace, the first ones are our own."""
    if os.getppid() == 1 and pid in (1, os.getpid()):
        raise ProcessLookupError
    return pid


@attack("read /etc/shadow")
def read_shadow(world: World) -> bool:
    with open("/etc/shadow", "rb") as file:
        return bool(file.read())


@attack("read the user's home")
def read_home(world: World) -> bool:
    with open(world.private, "rb") as file:
        return bool(file.read())


@attack("read it through a symbolic link")
def follow_link(world: World) -> bool:
    link = os.path.join(world.home, "link")
    os.symlink(world.private, link)
    with open(link, "rb") as file:
        return bool(file.read())


@attack("read it through /proc/PID/root")
def through_root(world: World) -> bool:
    with open(f"/proc/{reachable(world.server)}/root{world.private}", "rb") as file:
        return bool(file.read())


@attack("read a .env beside the code")
def beside_the_code(world: World) -> bool:
    try:
        with open(f"{world.code}/env.py", "rb") as file:
            assert file.read()
    except OSError as error:
        raise AssertionError("the code itself cannot be read") from error
    with open(f"{world.code}/.env", "rb") as file:
        return bool(file.read())


@attack("write outside its directory")
def write_outside(world: World) -> bool:
    with open(os.path.join(world.public, "mark"), "w") as file:
        file.write("here")
    return True


@attack("write outside through a hard link")
def hard_link(world: World) -> bool:
    link = os.path.join(world.home, "hard")
    os.link(os.path.join(world.public, "writable"), link)
    with open(link, "w") as file:
        file.write("here")
    return True


@attack("change the mode of the user's file")
def change_mode(world: World) -> bool:
    os.chmod(world.private, 0o644)
    return True


@attack("write to the host's /dev/shm")
def write_shared_memory(world: World) -> bool:
    path = f"/dev/shm/{os.path.basename(world.public)}"
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o666))
    return False  # whether it is the host's is looked at from outside


@attack("write a setting of the kernel")
def write_setting(world: World) -> bool:
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return True


@attack("make a device")
def make_device(world: World) -> bool:
    path = os.path.join(world.home, "disk")
    os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(254, 0))
    os.unlink(path)
    return True


@attack("connect to the host's loopback")
def connect_tcp(world: World) -> bool:
    with socket.socket() as client:
        client.settimeout(2)
        client.connect(("127.0.0.1", world.port))
    return True


@attack("connect to a Unix socket of the host (docker.sock)")
def connect_door(world: World) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(world.door)
    return True


@attack("connect to an abstract socket of the server")
def connect_abstract(world: World) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(world.abstract)
    return True


@attack("open a socket to the hypervisor (vsock)")
def open_vsock(world: World) -> bool:
    socket.socket(VSOCK, socket.SOCK_STREAM).close()
    return True


@attack("use a descriptor of the server")
def inherited(world: World) -> bool:
    for descriptor in range(3, 1024):
        with suppress(OSError):
            os.fstat(descriptor)
            if descriptor not in world.kept:
                return True
    return False


@attack("signal the server")
def signal_server(world: World) -> bool:
    os.kill(reachable(world.server), 0)
    return True


@attack("change the server's limits and priority")
def limit_server(world: World) -> bool:
    pid = reachable(world.server)
    with suppress(OSError):
        os.sched_setaffinity(pid, os.sched_getaffinity(pid))
        return True
    resource.prlimit(pid, resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
    return True


@attack("signal another session")
def signal_sibling(world: World) -> bool:
    os.kill(reachable(world.sibling), 0)
    return True


@attack("trace the server (ptrace)")
def trace(world: World) -> bool:
    checked(LIBC.ptrace(SEIZE, reachable(world.server), None, None))
    return True


@attack("read the server's variables")
def read_variables(world: World) -> bool:
    with open(f"/proc/{reachable(world.server)}/environ", "rb") as file:
        return bool(file.read())


@attack("read the server's memory")
def read_memory(world: World) -> bool:
    os.close(os.open(f"/proc/{reachable(world.server)}/mem", os.O_RDONLY))
    return True


@attack("read another session's memory")
def read_sibling(world: World) -> bool:
    os.close(os.open(f"/proc/{reachable(world.sibling)}/mem", os.O_RDONLY))
    return True


@attack("mount")
def mount(world: World) -> bool:
    where = os.path.join(world.home, "mounted").encode()
    os.mkdir(where)
    checked(LIBC.mount(b"none", where, b"tmpfs", ctypes.c_ulong(0), None))
    checked(LIBC.umount2(where, 2))
    return True


@attack("unshare")
def unshare(world: World) -> bool:
    with suppress(OSError):
        checked(LIBC.unshare(NEW_USER))
        return True
    checked(LIBC.unshare(NEW_MOUNT))
    return True


@attack("chroot")
def chroot(world: World) -> bool:
    os.chroot(world.home)
    return True


@attack("become root (setuid)")
def become_root(world: World) -> bool:
    os.setuid(0)
    return os.geteuid() == 0


@attack("keyctl")
def keyring(world: World) -> bool:
    call(ADD_KEY, b"user", b"escape", b"x", ctypes.c_size_t(1), ctypes.c_int(PROCESS_KEYRING))
    return True


@attack("bpf, userfaultfd, io_uring, perf")
def strange_calls(world: World) -> bool:
    for number in (BPF, USERFAULTFD, IO_URING, PERF):
        try:
            call(number, *(ctypes.c_long(-1),) * 5)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
                return True  # it looked at the arguments
        else:
            return True
    return False


@attack("raise a limit")
def raise_limit(world: World) -> bool:
    more = world.limits.max_files * 4
    with suppress(ValueError):  # it is not allowed
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, more))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] == more


@attack("open too many files")
def many_files(world: World) -> bool:
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(world.limits.max_files + 16)]
    return len(opened) > world.limits.max_files


@attack("fork too many processes")
def many_processes(world: World) -> bool:
    pids: list[int] = []
    try:
        for _ in range(world.limits.max_processes + 16):
            pid = os.fork()
            if pid == 0:
                _wait_forever()
            pids.append(pid)
        return True
    finally:
        for pid in pids:
            os.kill(pid, 9)


@attack("allocate too much")
def allocate(world: World) -> bool:
    parts = [b"x" * (1 << 24) for _ in range(2 * world.limits.memory_bytes >> 24)]
    return bool(parts)


@attack("allocate too much shared memory")
def allocate_shared(world: World) -> bool:
    parts = []
    for _ in range(2 * world.limits.memory_bytes >> 24):
        parts.append(mmap.mmap(-1, 1 << 24))
        parts[-1].write(b"x" * (1 << 24))
    return True


@attack("allocate too much in many processes")
def allocate_apart(world: World) -> bool:
    each = world.limits.memory_bytes // 4
    pids = []
    read, write = os.pipe()
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            part = b"x" * each
            os.write(write, b"x" if part else b"")
            _wait_forever()
        pids.append(pid)
    os.close(write)
    count = 0
    while count < 8 and os.waitpid(-1, os.WNOHANG)[0] == 0:
        os.set_blocking(read, False)
        with suppress(BlockingIOError):
            count += len(os.read(read, 8))
        time.sleep(0.01)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
    return count == 8


@attack("fill the disk")
def fill_disk(world: World) -> bool:
    chunk = b"x" * (world.limits.tmp_bytes // 4)
    for number in range(8):
        with open(os.path.join(world.home, f"part{number}"), "wb") as file:
            file.write(chunk)
    return True


@attack("loop endlessly")
def loop(world: World) -> bool:
    while time.process_time() < 1.8:
        pass
    return True


@attack("outlive the session (setsid, double fork)")
def outlive(world: World) -> bool:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.read(world.leash, 1)  # until the test lets go
        os._exit(0)
    os.wait()
    return False  # whether it did is looked at from outside


def _wait_forever() -> None:
    while True:
        time.sleep(60)
