"""The file system that a session sees: the system's programs, its own code, and a bit of memory."""

from __future__ import annotations

import os
from collections.abc import Sequence

from openenv.runtime.confine import kernel
from openenv.runtime.confine.confinement import Confinement
from openenv.runtime.confine.layout import layout_of

BASE = "/tmp"
"""Where the new root is put together; it exists everywhere."""
OLD = "/.old"
HOME = "/home/session"
WRITABLE = (("/tmp", 0o1777), ("/dev/shm", 0o1777), (HOME, 0o700))
DEVICES = ("null", "zero", "full", "random", "urandom")
DEVICE_LINKS = (
    *(("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")),
    ("ptmx", "pts/ptmx"),
)
TERMINALS = "/dev/pts"
"""Those that the session makes itself; it has none of the host's."""
UNPRIVILEGED = kernel.MS_NOSUID | kernel.MS_NODEV
CLOSED = kernel.MS_RDONLY | UNPRIVILEGED
BYTES_PER_INODE = 4096


def enter_new_root(confinement: Confinement, uid: int, *, open_proc: bool) -> None:
    """Puts together the session's root and goes there; what is not in it is out of reach.

    In a mount namespace of its own, which then holds no other mounts.

    Args:
        confinement: what the session sees, and how much it may write.
        uid: the user that it will be.
        open_proc: whether this process has yet to write to its own files in /proc.

    Raises:
        OSError: the kernel refuses a step.
    """
    layout = layout_of(confinement)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", BASE, "tmpfs", UNPRIVILEGED, "mode=755,size=1m")
    os.mkdir(BASE + OLD)
    kernel.pivot_root(BASE, BASE + OLD)
    os.chdir("/")
    _make_writable(confinement.tmp_bytes, uid)
    _make_devices()
    _make_processes(open_proc)
    for place in layout.places:
        _show(place)
    if layout.concealed:
        _conceal(layout.concealed)
    _write_settings(confinement, uid)
    for path, target in layout.links:
        _link(path, target)
    kernel.unmount(OLD)
    os.rmdir(OLD)
    kernel.restrict_mounts("/", CLOSED, below=False)


def _make_writable(size: int, uid: int) -> None:
    """One file system in memory, whose directories are all that the session can write to."""
    scratch = OLD + BASE
    inodes = max(1024, size // BYTES_PER_INODE)
    options = f"size={size},nr_inodes={inodes},mode=755"
    kernel.mount("tmpfs", scratch, "tmpfs", UNPRIVILEGED, options)
    for place, mode in WRITABLE:
        source = f"{scratch}/{os.path.basename(place)}"
        os.mkdir(source)
        os.chmod(source, mode)
        os.chown(source, uid, -1)
        os.makedirs(place)
        kernel.mount(source, place, flags=kernel.MS_BIND)
    kernel.unmount(scratch)  # what lies below is still to be shown


def _make_devices() -> None:
    for name in DEVICES:
        path = f"/dev/{name}"
        _touch(path)
        kernel.mount(OLD + path, path, flags=kernel.MS_BIND)
    os.mkdir(TERMINALS)
    kernel.mount(
        "devpts",
        TERMINALS,
        "devpts",
        kernel.MS_NOSUID | kernel.MS_NOEXEC,
        "newinstance,max=64,ptmxmode=0666,mode=620",
    )
    for name, target in DEVICE_LINKS:
        os.symlink(target, f"/dev/{name}")


def _make_processes(open_proc: bool) -> None:
    """/proc, of this pid namespace."""
    os.mkdir("/proc")
    kernel.mount("proc", "/proc", "proc", UNPRIVILEGED | kernel.MS_NOEXEC)
    if not open_proc:
        kernel.restrict_mounts("/proc", kernel.MS_RDONLY)


def _show(place: str) -> None:
    """Makes a file or directory of the former root visible, read-only, under its own name."""
    source = OLD + place
    if not os.path.exists(source):  # it has gone since it was found
        return
    if os.path.isdir(source):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _touch(place)
    kernel.mount(source, place, flags=kernel.MS_BIND | kernel.MS_REC)
    kernel.restrict_mounts(place, CLOSED)


def _conceal(paths: Sequence[str]) -> None:
    """Lays an empty file or directory over each path."""
    nothing = OLD + BASE
    kernel.mount("tmpfs", nothing, "tmpfs", UNPRIVILEGED, "mode=755,size=4k")
    os.mkdir(f"{nothing}/directory", 0o555)
    _touch(f"{nothing}/file")
    kernel.restrict_mounts(nothing, CLOSED | kernel.MS_NOEXEC)  # what is bound has the same
    for path in paths:
        if os.path.exists(path):
            kind = "directory" if os.path.isdir(path) else "file"
            kernel.mount(f"{nothing}/{kind}", path, flags=kernel.MS_BIND)
    kernel.unmount(nothing)


def _link(path: str, target: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.lexists(path):
        os.symlink(target, path)


def _write_settings(confinement: Confinement, uid: int) -> None:
    os.makedirs("/etc", exist_ok=True)
    _write("/etc/passwd", f"session:x:{uid}:{uid}:session:{HOME}:/bin/sh\n")
    _write("/etc/group", f"session:x:{uid}:\n")
    if not confinement.shares_network:
        _write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
