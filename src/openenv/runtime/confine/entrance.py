"""The way into a sandbox: every wall that there is, put up in the order in which they can be."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable

from openenv.runtime.confine import kernel, landlock, limits, privileges, seccomp
from openenv.runtime.confine.confinement import Applied, Confinement, promised
from openenv.runtime.confine.features import FEATURES, Features
from openenv.runtime.confine.keeper import keep_session
from openenv.runtime.confine.layout import layout_of
from openenv.runtime.confine.namespaces import FLAGS, enter_namespaces, enter_user_namespace
from openenv.runtime.confine.root import DEVICES, TERMINALS, WRITABLE, enter_new_root

PROCESS_FILES = (
    "cpuinfo",
    "meminfo",
    "stat",
    "loadavg",
    "uptime",
    "version",
    "filesystems",
    "self",
)
"""What of the host's /proc a session may read where it has none of its own."""


class Entrance:
    """One process's way into the sandbox.

    Args:
        confinement: what it is allowed.
        features: what can be used.
        home: the directory that it will own.
    """

    def __init__(self, confinement: Confinement, features: Features, home: str) -> None:
        self._confinement = confinement
        self._features = features
        self._home = home
        self._variables: dict[str, str] = {}
        self._changes_user = "own_user" in features and not features.user_namespace
        self._uid = self._choose_uid() if self._changes_user else os.getuid()

    def enter(self, zygote: int) -> Applied:
        """Goes in; the process that returns is a child of the one that called.

        Args:
            zygote: a pidfd of the parent, or -1.

        Raises:
            ConfineError: a wall that is promised could not be put up.
        """
        os.umask(0o022)  # what is made for the session must be open to it
        self._enter_namespaces()
        self._limit()
        self._drop_privileges()
        privileges.die_with(zygote)
        privileges.forget(zygote)
        with promised("processes"):
            keep_session(is_first="pidns" in self._features)
        self._lock()
        self._settle()
        return self._applied()

    def _choose_uid(self) -> int:
        if self._confinement.uid is not None:
            return self._confinement.uid
        return privileges.unused_uid()

    def _enter_namespaces(self) -> None:
        names = [name for name in FLAGS if name in self._features]
        if self._confinement.shares_network and "netns" in names:
            names.remove("netns")
        with promised("namespaces"):
            hand_out = self._begin_proxy() if "netns" in names else dict
            enter_namespaces(names)
            self._variables = hand_out()
        if "mountns" in names:
            with promised("mountns"):
                writes_maps = self._features.user_namespace
                enter_new_root(self._confinement, self._uid, open_proc=writes_maps)
        else:
            os.chown(self._home, self._uid, -1)
        if self._features.user_namespace:  # another, in which its processes are counted alone
            with promised("own_user"):
                enter_user_namespace()

    def _begin_proxy(self) -> Callable[[], dict[str, str]]:
        """Starts the way to the hosts that are listed; what is called later, opens it."""
        if not self._confinement.hosts:
            return dict
        from openenv.runtime.confine.egress import Egress

        return Egress.fork(self._confinement.hosts, self._features).listen

    def _limit(self) -> None:
        if "rlimits" in self._features:
            together = "cgroup_memory" in self._features
            with promised("rlimits"):
                limits.limit(self._confinement, together=together, processes=self._processes())

    def _processes(self) -> int | None:
        """How many its user may have, the keeper and all that others have of that user included."""
        if "cgroup_pids" in self._features:
            return None
        alone = self._changes_user or self._features.user_namespace
        others = 0 if alone else limits.processes_of(self._uid)
        return others + self._confinement.all_processes

    def _drop_privileges(self) -> None:
        if "no_new_privs" in self._features:
            with promised("no_new_privs"):
                privileges.forget_capabilities()
                kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if self._changes_user:
            with promised("own_user"):
                privileges.become(self._uid)
        if "no_new_privs" in self._features:
            with promised("no_new_privs"):
                kernel.drop_capabilities()

    def _lock(self) -> None:
        """What would be in the keeper's way."""
        seen_by_others = "pidns" not in self._features
        kernel.prctl(kernel.PR_SET_DUMPABLE, int(not seen_by_others))
        network = self._confinement.shares_network or "netns" in self._features
        if "landlock" in self._features:
            with promised("landlock"):
                landlock.restrict(self._allowed(), ports=network)
        if "seccomp" in self._features:
            with promised("seccomp"):
                seccomp.filter_calls(sockets=network, others=self._is_among_itself())

    def _is_among_itself(self) -> bool:
        """Whether nothing in its reach but its own has the user that it is."""
        hidden = "mountns" in self._features and "pidns" in self._features
        return hidden or self._changes_user

    def _allowed(self) -> list[tuple[str, int]]:
        devices = [(f"/dev/{name}", landlock.DEVICE) for name in DEVICES]
        if "mountns" in self._features:
            writable = [(path, landlock.WRITE) for path, _ in WRITABLE]
            terminals = (TERMINALS, landlock.TERMINAL)
            return [("/", landlock.READ), *writable, *devices, terminals]
        shown = layout_of(self._confinement).allowed()
        places = [(path, landlock.LIST if lists else landlock.READ) for path, lists in shown]
        processes = [(f"/proc/{name}", landlock.READ) for name in PROCESS_FILES]
        return [*places, *processes, (self._home, landlock.WRITE), *devices]

    def _settle(self) -> None:
        os.chdir(self._home)
        tempfile.tempdir = None  # the zygote's, if it has asked for one
        own = {"HOME": self._home, "TMPDIR": self._tmp, **self._variables}
        os.environ.update(own)  # noqa: TID251  # for what it runs; nothing is read

    @property
    def _tmp(self) -> str:
        return "/tmp" if "mountns" in self._features else self._home

    def _applied(self) -> Applied:
        features = [name for name in FEATURES if name in self._features]
        if self._confinement.shares_network and "netns" in features:
            features.remove("netns")
        return Applied(tuple(features), dict(self._features.missing), self._home)
