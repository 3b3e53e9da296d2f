"""LocalDockerProvider on a real engine: a container's life, its limits, and its failures."""

import json
import socket
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers import Launch, LocalDockerProvider, Resources, Running
from openenv.providers.docker import Container
from openenv.providers.engine import Engine
from tests.containers.conftest import RUN, containers, gone
from tests.serving import eventually

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("nothing_left")]
LONG_S = 90.0


@pytest.fixture
def provider(engine: Engine) -> LocalDockerProvider:
    return LocalDockerProvider(engine="docker")


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        request, timeout=30
    ) as a:
        answer: dict[str, Any] = json.load(a)
        return answer


def get(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def of(image: str, fault: str = "", **said: Any) -> Launch:
    said = {"ready_timeout_s": LONG_S} | said
    return Launch(image=image, **said, env_vars={"FAULT": fault})


def test_an_episode_in_a_container(provider: LocalDockerProvider, echo_image: str) -> None:
    with provider.launch(Launch(image=echo_image, ready_timeout_s=LONG_S)) as running:
        assert running.url.startswith("http://127.0.0.1:")
        post(f"{running.url}/reset", {})
        step = post(f"{running.url}/step", {"action": {"message": "hello"}})
        assert step["observation"]["echoed_message"] == "hello"
        assert "serving echo_env" in running.logs()
        assert running.problem() is None


def test_a_container_may_little(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    limits = Resources(memory="128m", cpus=0.5, pids=64)
    options = {"read_only": True, "user": "65534:65534"}
    with provider.launch(of(faulty_image, resources=limits, options=options)) as running:
        assert isinstance(running, Container)
        host = inspected(engine, running)["HostConfig"]
        assert host["Memory"] == host["MemorySwap"] == 128 << 20
        assert host["NanoCpus"] == 500_000_000
        assert host["PidsLimit"] == 64
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges"]
        assert host["Init"] is True
        assert host["ReadonlyRootfs"] is True
        assert host["LogConfig"]["Config"]["max-size"] == "10m"
        assert [b["HostIp"] for b in host["PortBindings"]["8000/tcp"]] == ["127.0.0.1"]
        status = engine.call("exec", running.name, "cat", "/proc/1/status").stdout
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
        refused = engine.call("exec", running.name, "touch", "/new", check=False)
        assert refused.code != 0
        engine.call("exec", running.name, "touch", "/tmp/new")


def inspected(engine: Engine, running: Running) -> dict[str, Any]:
    assert isinstance(running, Container)
    found = engine.inspect("container", running.name)
    assert found is not None
    return found


def test_variables_arrive_whole(provider: LocalDockerProvider, faulty_image: str) -> None:
    said = {
        "API_KEY": "s3cret\nsecond line",
        "PATH": "/usr/bin:/bin:/here",
        "EMPTY": "",
        "Q": "a=b",
    }
    with provider.launch(
        Launch(image=faulty_image, env_vars=said, ready_timeout_s=LONG_S)
    ) as running:
        seen = get(running.url)
        for name, value in said.items():
            assert f"{name!r}: {value!r}" in seen


def test_the_older_interface(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    provider.stop_container()  # nothing runs
    url = provider.start_container(faulty_image, env_vars={"A": "b"}, memory="64m")
    provider.wait_for_ready(url, timeout_s=LONG_S)
    assert "'A': 'b'" in get(url)
    other = provider.start_container(faulty_image)
    provider.wait_for_ready(other, timeout_s=LONG_S)
    assert len(containers(engine)) == 1, "one at a time"
    with provider:
        pass
    assert containers(engine) == []
    provider.close()
    with pytest.raises(ProviderError, match="no option gpu;"):
        provider.start_container(faulty_image, gpu=1)
    provider.start_container(faulty_image, env_vars={"FAULT": "sleep:60"})
    with pytest.raises(TimeoutError):
        provider.wait_for_ready("http://127.0.0.1:9", timeout_s=0.2)
    provider.stop_container()


def test_ten_at_once_and_one_is_killed(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(10) as threads:
        all_ten = list(threads.map(lambda _: provider.launch(of(faulty_image)), range(10)))
        for running in all_ten:
            stack.enter_context(running)
        assert len({running.url for running in all_ten}) == 10
        killed, *others = all_ten
        assert isinstance(killed, Container)
        engine.call("kill", "--signal=KILL", killed.name)
        eventually(lambda: killed.problem() is not None, 30)
        assert "exit code 137" in str(killed.problem())
        for running in others:
            assert "PATH" in get(running.url)
            assert running.problem() is None
        list(threads.map(lambda running: running.stop(), all_ten))
    assert containers(engine) == []


def test_a_port_that_is_taken_is_named(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ProviderError, match=f"port {port} of this machine is taken"):
            provider.launch(of(faulty_image, port=port))
    assert containers(engine) == []
    with provider.launch(of(faulty_image, port=port)) as running:
        assert running.url == f"http://127.0.0.1:{port}"
        with pytest.raises(ProviderError, match="taken"):
            provider.launch(of(faulty_image, port=port))


def test_ports_that_others_take_are_passed_over(
    provider: LocalDockerProvider, faulty_image: str
) -> None:
    with provider.launch(of(faulty_image)) as running:
        last = int(running.url.rpartition(":")[2])
    with ExitStack() as stack:
        for port in range(last + 1, last + 4):
            with suppress(OSError):  # somebody has it already
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
        with provider.launch(of(faulty_image)) as running:
            assert int(running.url.rpartition(":")[2]) not in range(last + 1, last + 4)


@pytest.mark.parametrize("pull", ["missing", "never", "always"])
def test_an_image_that_is_nowhere(provider: LocalDockerProvider, pull: str) -> None:
    with pytest.raises(ProviderError, match="image no-such.example/env:1 .*openenv build"):
        provider.launch(Launch(image="no-such.example/env:1", options={"pull": pull}))
    with pytest.raises(ProviderError, match="needs an image"):
        provider.launch(Launch())


def test_a_server_that_dies_at_once(provider: LocalDockerProvider, faulty_image: str) -> None:
    with pytest.raises(ProviderError, match="exit code 1") as caught:
        provider.launch(of(faulty_image, "exit"))
    assert "the level file is missing" in str(caught.value)
    assert not isinstance(caught.value, NotReady)


def test_a_command_that_is_not_there(provider: LocalDockerProvider, faulty_image: str) -> None:
    with pytest.raises(ProviderError, match="no-such-program"):
        provider.launch(of(faulty_image, options={"command": ["no-such-program"]}))


@pytest.mark.parametrize(
    ("fault", "told"), [("status:500", "it answered 500"), ("status:404", "it answered 404")]
)
def test_a_server_that_is_never_healthy(
    provider: LocalDockerProvider, faulty_image: str, fault: str, told: str
) -> None:
    with pytest.raises(NotReady, match=told) as caught:
        provider.launch(of(faulty_image, fault, ready_timeout_s=3))
    assert f"the fault is {fault.partition(':')[0]}" in str(caught.value)


def test_a_server_that_accepts_and_says_nothing(
    provider: LocalDockerProvider, faulty_image: str
) -> None:
    with pytest.raises(NotReady):
        provider.launch(of(faulty_image, "silent", ready_timeout_s=2))


def test_a_slow_start_needs_time(provider: LocalDockerProvider, faulty_image: str) -> None:
    with pytest.raises(NotReady, match="the fault is sleep"):
        provider.launch(of(faulty_image, "sleep:600", ready_timeout_s=2))
    with provider.launch(of(faulty_image, "sleep:3")) as running:
        assert running.problem() is None


def test_a_server_that_runs_out_of_memory(provider: LocalDockerProvider, faulty_image: str) -> None:
    with pytest.raises(ProviderError, match="needed more memory than it may use"):
        provider.launch(of(faulty_image, "memory", resources=Resources(memory="64m")))


@pytest.mark.parametrize("network", ["none", "host"])
def test_a_network_that_nobody_can_reach(provider: LocalDockerProvider, network: str) -> None:
    with pytest.raises(ProviderError, match="publishes no port"):
        provider.launch(Launch(image="any", options={"network": network}))


def test_a_paused_container_is_stopped(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    running = provider.launch(of(faulty_image))
    assert isinstance(running, Container)
    engine.call("pause", running.name)
    assert running.problem() is None
    running.stop()
    gone(engine, running.name)
    running.stop()  # nothing is left to do


def test_a_container_that_somebody_else_removed(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    running = provider.launch(of(faulty_image))
    assert isinstance(running, Container)
    engine.call("rm", "--force", "--volumes", running.name)
    assert "removed by somebody else" in str(running.problem())
    assert running.logs() == ""
    running.stop()


@pytest.fixture
def volumes(engine: Engine) -> Iterator[set[str]]:
    """The volumes of the containers that a test names."""
    named: set[str] = set()
    yield named
    assert named
    for volume in named:
        assert engine.inspect("volume", volume) is None


def test_its_volumes_go_with_it(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str, volumes: set[str]
) -> None:
    with provider.launch(of(faulty_image)) as running:
        mounts = inspected(engine, running)["Mounts"]
        volumes |= {mount["Name"] for mount in mounts}
        assert engine.inspect("volume", next(iter(volumes))) is not None


def test_labels_say_whose_it_is(
    provider: LocalDockerProvider, engine: Engine, faulty_image: str
) -> None:
    with provider.launch(of(faulty_image)) as running:
        labels = inspected(engine, running)["Config"]["Labels"]
        assert {"openenv.owner", "openenv.pid", "openenv.host", "openenv.created"} <= set(labels)
        assert provider.reap() == [] or containers(engine, f"label={RUN}"), "its owner lives"
        assert running.problem() is None
