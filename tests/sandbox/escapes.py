"""The escape suite: what gets out of each kind of confinement.

`python -m tests.sandbox.escapes` prints the whole table, as root.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace

from openenv.runtime.concealed import find_concealed
from openenv.runtime.confine import (
    FEATURES,
    Cell,
    Confinement,
    Features,
    kernel,
    prepare,
    reap,
)
from openenv.runtime.confine.features import NAMESPACES
from openenv.runtime.confine.privileges import become
from openenv.runtime.confine.survey import survey
from tests.sandbox.attacks import ATTACKS, Attack, World

LIMITS = Confinement(
    memory_bytes=128 << 20, tmp_bytes=8 << 20, max_processes=24, max_files=64, cpu_s=1
)
SOMEBODY = 12345
PATIENCE_S = 30.0
LAST_BREATH_S = 3.0


@dataclass(frozen=True)
class Column:
    """One kind of confinement.

    Attributes:
        title: in the table.
        user: whom the server runs as.
        missing: the features that are switched off; `None`: there is no confinement at all.
    """

    title: str
    user: int
    missing: tuple[str, ...] | None


COLUMNS = {
    "root": Column("root: full", 0, ()),
    "root-without": Column("root: no namespaces", 0, NAMESPACES),
    "root-process": Column("root: a process", 0, tuple(FEATURES)),
    "user": Column("user: full", SOMEBODY, ()),
    "user-without": Column("user: no namespaces", SOMEBODY, (*NAMESPACES, "own_user")),
    "user-process": Column("user: a process", SOMEBODY, tuple(FEATURES)),
    "none": Column("none", SOMEBODY, None),
}


@dataclass(frozen=True)
class Result:
    """What was found out about a column.

    Attributes:
        breaches: the attacks that got through.
        missing: the features that this machine has not, or that were switched off.
    """

    breaches: frozenset[str]
    missing: frozenset[str]


def try_all(name: str) -> Result:
    """Lets all attacks loose on a column, in a process of its own; needs root.

    Raises:
        subprocess.SubprocessError: that process fails, or takes too long.
    """
    user = COLUMNS[name].user
    with _directory(user, 0o700) as private, _directory(user, 0o777) as public:
        command = [sys.executable, "-m", "tests.sandbox.escapes", name, private, public]
        found = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120)
        breaches, missing = json.loads(found.stdout)
        return Result(frozenset(breaches), frozenset(missing))


def main() -> None:
    """Prints the table, or of one column what got through."""
    if len(sys.argv) > 1:
        name, private, public = sys.argv[1:]
        answer = _try_all(COLUMNS[name], private, public)
        print(json.dumps(answer))  # noqa: T201
        return
    breaches = [try_all(name).breaches for name in COLUMNS]
    rows = [
        ["attack", *(column.title for column in COLUMNS.values())],
        ["---"] * (len(COLUMNS) + 1),
    ]
    for attack in ATTACKS:
        marks = ("**through**" if attack in found else "stopped" for found in breaches)
        rows.append([attack, *marks])
    for row in rows:
        print("|", " | ".join(row), "|")  # noqa: T201


@contextmanager
def _directory(user: int, mode: int) -> Iterator[str]:
    path = tempfile.mkdtemp(prefix="openenv-", dir="/var/tmp")
    try:
        os.chown(path, user, -1)
        os.chmod(path, mode)
        yield path
    finally:
        shutil.rmtree(path)


def _try_all(column: Column, private: str, public: str) -> tuple[list[str], list[str]]:
    """Becomes the column's server, and lets every attack loose in a session of its own."""
    if column.user != os.getuid():
        become(column.user)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # like a server that somebody has started
    features = survey().without(FEATURES if column.missing is None else column.missing)
    if column.missing is not None:
        prepare(features)
    with _world(private, public) as world, _sibling(column, features) as sibling:
        world.sibling = sibling
        confined = features if column.missing is not None else None
        breaches = [name for name, each in ATTACKS.items() if _breaks(each, world, confined)]
    return breaches, list(features.missing)


@contextmanager
def _sibling(column: Column, features: Features) -> Iterator[int]:
    """Another session; without any confinement, the server itself stands for it."""
    if column.missing is None:
        yield os.getpid()
        return
    cell = Cell.open(LIMITS, features)
    if cell.fork() == 0:
        try:
            cell.enter()
            time.sleep(600)
        finally:
            os._exit(1)
    try:
        yield cell.pid
    finally:
        cell.kill()
        _await_end(cell.pid, ())
        cell.close()


@contextmanager
def _world(private: str, public: str) -> Iterator[World]:
    name = os.path.basename(public)
    secret, door, writable = f"{private}/secret", f"{public}/door", f"{public}/writable"
    code = f"{public}/code"
    os.mkdir(code)
    with ExitStack() as stack:
        for path in (secret, writable, f"{code}/env.py", f"{code}/.env"):
            with open(path, "w") as file:
                file.write("secret")
        os.chmod(writable, 0o666)
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (door, f"\0{name}"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        os.chmod(door, 0o777)
        yield World(
            server=os.getpid(),
            sibling=os.getpid(),
            private=secret,
            code=code,
            public=public,
            door=door,
            abstract=f"\0{name}",
            port=server.getsockname()[1],
            home=private,
            limits=replace(LIMITS, readable=(code,), concealed=find_concealed([code])),
        )


def _breaks(attack: Attack, world: World, features: Features | None) -> bool:
    """Whether an attack gets through; or leaves something behind, or alive."""
    answer, its_answer = os.pipe()
    leash, own_leash = os.pipe()
    world.leash, world.kept = leash, (its_answer, leash)
    cell = Cell.open(world.limits, features) if features is not None else None
    pid = cell.fork() if cell is not None else os.fork()
    if pid == 0:
        try:
            os.close(own_leash)
            if cell is not None:
                world.home = cell.enter(keep=world.kept).home
            os.write(its_answer, _outcome(attack, world))
        finally:
            os._exit(0)
    os.close(its_answer)
    os.close(leash)
    _await_end(pid, [world.sibling])
    if cell is not None:
        cell.close()
    said, outlived = _read_to_end(answer)
    assert said in (b"!", b".", b""), said.decode()
    os.close(own_leash)
    os.close(answer)
    return outlived or said == b"!" or _marks_left(world)


def _outcome(attack: Attack, world: World) -> bytes:
    try:
        return b"!" if attack(world) else b"."
    except (OSError, MemoryError):
        return b"."
    except BaseException:  # noqa: BLE001  # told to the test
        return traceback.format_exc().encode()


def _await_end(pid: int, others: Collection[int]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while pid not in reap({pid, *others}):
        if time.monotonic() > deadline:
            os.kill(pid, 9)
        time.sleep(0.002)


def _read_to_end(pipe: int) -> tuple[bytes, bool]:
    """What was written, and whether somebody still holds the other end after all have died."""
    said = b""
    while select.select([pipe], [], [], LAST_BREATH_S)[0]:
        read = os.read(pipe, 100)
        said += read
        if not read:
            return said, False
    return said, True


def _marks_left(world: World) -> bool:
    """Whether something was written to where others see it."""
    found = False
    for path in (f"{world.public}/mark", f"/dev/shm/{os.path.basename(world.public)}"):
        with suppress(FileNotFoundError):
            os.unlink(path)
            found = True
    return found


if __name__ == "__main__":
    main()
