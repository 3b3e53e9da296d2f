"""Finds out what this machine's kernel lets us use, by trying it in children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache, partial

from openenv.runtime.confine import cgroups, kernel, landlock, privileges, seccomp
from openenv.runtime.confine.confinement import Confinement
from openenv.runtime.confine.features import FEATURES, NAMESPACES, Features
from openenv.runtime.confine.keeper import prepare
from openenv.runtime.confine.leftovers import Names
from openenv.runtime.confine.namespaces import (
    FLAGS,
    enter_namespaces,
    enter_user_namespace,
    fork_into_pid_namespace,
)
from openenv.runtime.confine.root import enter_new_root

PATIENCE_S = 30.0
_NAMESPACES = (
    "run as root, or allow user namespaces (sysctl user.max_user_namespaces and "
    "kernel.apparmor_restrict_unprivileged_userns; of Docker, "
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
)
_GROUPS = "run as root, or where control groups are delegated (systemd-run --user -p Delegate=yes)"
_ADVICE = {
    **dict.fromkeys((*NAMESPACES, "own_user"), _NAMESPACES),
    **dict.fromkeys(cgroups.CONTROLLERS, _GROUPS),
    "landlock": "needs Linux 5.13 with landlock among the kernel's lsm=",
    "seccomp": "needs a kernel with seccomp filters, on x86-64 or ARM64",
}


@cache
def probe() -> Features:
    """What a session can be confined by here. Asked once, in a process that is thrown away."""
    if sys.platform != "linux":
        return Features(missing=dict.fromkeys(FEATURES, f"{sys.platform} is not Linux"))
    code = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import main; main()"
    try:
        found = subprocess.run(
            [sys.executable, "-c", code, *sys.path],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
            text=True,
        )
        return Features(**json.loads(found.stdout))
    except (OSError, subprocess.SubprocessError) as error:
        why = str(error)
    except ValueError:
        why = found.stderr[-200:]
    return Features(missing=dict.fromkeys(FEATURES, f"it could not be found out: {why}"))


def main() -> None:
    """Prints what `probe` reads; in a process with one thread."""
    print(json.dumps(asdict(survey())))  # noqa: T201


def survey() -> Features:
    """The same, found out by this process, which has one thread."""
    indirect = (
        _complaint(partial(kernel.unshare, kernel.CLONE_NEWNS)) is not None
        and _complaint(enter_user_namespace) is None
    )
    attempts = _attempts(indirect)
    complaints = {name: _complaint(attempts[name]) for name in FEATURES}
    how = dict.fromkeys((*NAMESPACES, "own_user"), "user namespace" if indirect else "")
    if complaints["landlock"] is None:
        how["landlock"] = f"version {landlock.version()}"
    found = Features(
        {name: how.get(name, "") for name, why in complaints.items() if why is None},
        {name: _explained(name, why) for name, why in complaints.items() if why is not None},
        user_namespace=indirect,
    )
    if indirect and "pidns" in found.missing:  # without that one, there is no way to the others
        return found.without(["pidns"], found.missing["pidns"])
    return found


def _explained(name: str, complaint: str) -> str:
    return f"{complaint}; {_ADVICE[name]}" if name in _ADVICE else complaint


def _attempts(by_user_namespace: bool) -> dict[str, Callable[[], None]]:
    """How each feature is tried."""
    ready = Features(user_namespace=by_user_namespace)
    user = (
        enter_user_namespace
        if by_user_namespace
        else partial(privileges.become, privileges.UID_FIRST)
    )
    return {
        "pidns": partial(_try_pid_namespace, ready),
        **{name: partial(_try_namespace, ready, name) for name in FLAGS},
        "own_user": user,
        "no_new_privs": _try_no_new_privileges,
        "pdeathsig": partial(privileges.die_with, -1),
        "seccomp": _try_seccomp,
        "landlock": _try_landlock,
        "rlimits": lambda: None,
        **{name: partial(_try_group, name) for name in cgroups.CONTROLLERS},
    }


def _try_pid_namespace(ready: Features) -> None:
    prepare(ready)
    if (pid := fork_into_pid_namespace()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _try_namespace(ready: Features, name: str) -> None:
    prepare(ready)
    enter_namespaces([name])
    if name == "mountns":
        enter_new_root(Confinement(), os.getuid(), open_proc=ready.user_namespace)


def _try_no_new_privileges() -> None:
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()


def _try_seccomp() -> None:
    if not seccomp.is_known():
        raise OSError(f"the system calls of {kernel.ARCHITECTURE} are not known here")
    _try_no_new_privileges()
    seccomp.filter_calls(sockets=False)


def _try_landlock() -> None:
    _try_no_new_privileges()
    landlock.restrict([("/", landlock.READ)], ports=False)


def _try_group(feature: str) -> None:
    controller = cgroups.CONTROLLERS[feature]
    if not any(controller in each.controllers for each in cgroups.hierarchies()):
        raise OSError("no control group with this controller can be made here")
    groups = cgroups.Groups.make(Names.new(), Confinement(cpus=1), [feature])
    try:
        why = _complaint(groups.join)
    finally:
        groups.remove()
    if why is not None:
        raise OSError(why)


def _complaint(attempt: Callable[[], None]) -> str | None:
    """Why something cannot be done, in a child that is over afterwards; `None` if it can."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            attempt()
        except OSError as error:
            os.write(write, (error.strerror or str(error)).encode())
        else:
            os.write(write, b"\0")
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return None if said == b"\0" else said.decode() or "the process that tried it died"
