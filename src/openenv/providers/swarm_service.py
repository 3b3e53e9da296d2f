"""A running service of a Docker Swarm."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.engine import Engine
from openenv.providers.health import ask
from openenv.providers.provider import LOG_LINES, Running

LOOPBACK = "127.0.0.1"
FAILURES = 3
"""After so many failed tasks and none that runs, a service is given up."""
REMOVAL_S = 60.0
LOG_S = 10.0
PAUSE_S = 0.2
ANSWER_S = 2.0


class SwarmService(Running):
    """A service. It has its name before it is created, so that it can always be removed.

    Attributes:
        name: the service's.
        replicas: how many servers it should have.
    """

    def __init__(
        self, engine: Engine, image: str, replicas: int, endpoint_mode: Literal["ingress", "dnsrr"]
    ) -> None:
        self._engine = engine
        self._image = image
        self._endpoint_mode = endpoint_mode
        self._lacking = "none of its tasks runs"
        self.replicas = replicas
        self.name = f"openenv-{uuid.uuid4().hex[:12]}"
        super().__init__()

    def urls(self) -> list[str]:
        """Where it answers now: one address of all with `ingress`, one per running replica else.

        A replica that was replaced has another address.
        """
        if self._endpoint_mode == "ingress":
            found = self._engine.inspect("service", self.name) or {}
            ports = (found.get("Endpoint") or {}).get("Ports") or []
            node = self._engine.swarm().get("NodeAddr") or LOOPBACK
            return [f"http://{node}:{port['PublishedPort']}" for port in ports[:1]]
        return self._addresses(self._running())

    def _addresses(self, running: list[dict[str, Any]]) -> list[str]:
        """Of tasks, each of which has a port on its node."""
        nodes = self._nodes() if running else {}
        return [
            f"http://{nodes[task['NodeID']]}:{ports[0]['PublishedPort']}"
            for task in running
            if (ports := (task["Status"].get("PortStatus") or {}).get("Ports"))
            and task["NodeID"] in nodes
        ]

    def scale(self, replicas: int, timeout_s: float = 60.0) -> None:
        """Changes the number of servers, and waits until they are healthy.

        Raises:
            NotReady: they are not in time.
            ProviderError: they cannot be started.
        """
        self._engine.call("service", "scale", "--detach", f"{self.name}={replicas}")
        self.replicas = replicas
        self.wait_until_healthy(timeout_s)

    def find_address(self, timeout_s: float) -> None:
        """Waits until its first address is known.

        Raises:
            NotReady: it is not in time.
            ProviderError: its tasks fail.
        """
        with self._telling_its_log():
            self.url = self._until(self.urls, time.monotonic() + timeout_s)[0]

    def problem(self) -> str | None:
        """Why it cannot become healthy: it is gone, or its tasks fail again and again."""
        if self._engine.inspect("service", self.name) is None:
            return f"service {self.name} was removed by somebody else"
        tasks = self._tasks()
        failed = [t for t in tasks if t["Status"]["State"] in ("failed", "rejected")]
        if len(failed) < FAILURES or any(t["Status"]["State"] == "running" for t in tasks):
            return None
        why = max(failed, key=lambda t: str(t["Status"]["Timestamp"]))["Status"].get("Err")
        return f"the tasks of service {self.name} of {self._image} fail: {why}"

    def logs(self, lines: int = LOG_LINES) -> str:
        """What has become of its tasks, and the last lines that each wrote."""
        told = [_told(task) for task in self._tasks()]
        with suppress(ProviderError):  # of a node that is down no log can be had
            answer = self._engine.call(
                *("service", "logs", "--raw", f"--tail={lines}", self.name), timeout_s=LOG_S
            )
            told += [*answer.stdout.splitlines(), *answer.stderr.splitlines()]
        return "\n".join(told)

    def _wait(self, timeout_s: float) -> None:
        urls = self._until(self._healthy_urls, time.monotonic() + timeout_s)
        if self.url not in urls:
            self.url = urls[0]

    def _healthy_urls(self) -> list[str]:
        """All addresses if all replicas run and are healthy, else none."""
        running = self._running()
        self._lacking = f"{len(running)} of {self.replicas} replicas run"
        if len(running) != self.replicas:
            return []
        urls = self.urls() if self._endpoint_mode == "ingress" else self._addresses(running)
        for url in urls:
            if answer := ask(url, ANSWER_S):
                self._lacking += f", but of {url}/health, {answer}"
                return []
        return urls

    def _until(self, find: Callable[[], list[str]], deadline: float) -> list[str]:
        """What is found at last."""
        while not (found := find()):
            if why := self.problem():
                raise ProviderError(why)
            if time.monotonic() > deadline:
                raise NotReady(f"service {self.name} is not ready in time: {self._lacking}")
            time.sleep(PAUSE_S)
        return found

    def _running(self) -> list[dict[str, Any]]:
        return [
            task
            for task in self._tasks()
            if task["Status"]["State"] == "running" and task["DesiredState"] == "running"
        ]

    def _tasks(self) -> list[dict[str, Any]]:
        listing = self._engine.call(
            "service", "ps", "--quiet", "--no-trunc", self.name, check=False
        )
        ids = listing.stdout.split()
        if not ids:
            return []
        answer = self._engine.call("inspect", "--type=task", *ids, check=False)
        found: list[dict[str, Any]] = json.loads(answer.stdout or "[]")
        return found

    def _nodes(self) -> dict[str, str]:
        """The addresses of the nodes that answer the swarm."""
        ids = self._engine.call("node", "ls", "--quiet").stdout.split()
        answer = self._engine.call("node", "inspect", *ids, check=False)
        return {
            node["ID"]: node["Status"]["Addr"]
            for node in json.loads(answer.stdout or "[]")
            if node["Status"]["State"] == "ready"
        }

    def _end(self) -> None:
        """Removes it, and waits until its containers on this node are gone."""
        deadline = time.monotonic() + REMOVAL_S
        while True:
            self._engine.call("service", "rm", self.name, check=False)
            label = f"label=com.docker.swarm.service.name={self.name}"
            left = self._engine.call("container", "ls", "--all", "--quiet", "--filter", label)
            if not left.stdout.strip() and self._engine.inspect("service", self.name) is None:
                return
            if time.monotonic() > deadline:
                raise ProviderError(
                    f"service {self.name} could not be removed within {REMOVAL_S:g} s"
                )
            time.sleep(PAUSE_S)


def _told(task: dict[str, Any]) -> str:
    status = task["Status"]
    said = status.get("Err") or status.get("Message") or ""
    return f"task {task['ID'][:12]}: {status['State']}: {said}"
