"""Code that is out for harm: it is answered, its session goes on, and nobody else notices."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from coding_env import CodeAction, CodeObservation, CodingEnv
from coding_env.models import MAX_CODE
from openenv import SessionError
from tests.envs.coding.conftest import SESSIONS, Open
from tests.executor.hostile import AFTER, AFTER_STDOUT, HOSTILE, PATIENCE_S, Attack
from tests.serving import Served

AT_ONCE = 4
AMPLE_S = 60.0
MEMORY_MB = 256
SECRET = "hf_0123456789"


@dataclass
class Answer:
    """What came of an attack, and of a piece of code after it; an observation or a refusal."""

    seen: CodeObservation | SessionError
    after: CodeObservation


@dataclass
class Battle:
    """The answers to all attacks, and what somebody else saw meanwhile.

    Attributes:
        answers: by the attack's name.
        counted: what a counter in another session counted to, step by step.
        health: what `/health` said meanwhile.
    """

    answers: dict[str, Answer]
    counted: list[str | None]
    health: list[str]


@pytest.fixture(scope="module")
def battle(server: Served) -> Iterator[Battle]:
    """All attacks, some at once, while another session and `/health` are asked."""
    url = f"http://127.0.0.1:{server.port}"
    idle: list[str] = list(HOSTILE)[::-1]
    answers: dict[str, Answer] = {}

    def attack() -> None:
        with CodingEnv(base_url=url).sync() as client:
            while idle:
                name = idle.pop()
                limit = PATIENCE_S if HOSTILE[name].is_endless else AMPLE_S
                client.reset(code_timeout_s=limit, memory_mb=MEMORY_MB)
                seen: CodeObservation | SessionError
                try:
                    seen = client.step(
                        CodeAction.model_construct(code=HOSTILE[name].code)
                    ).observation
                except SessionError as refused:
                    seen = refused
                answers[name] = Answer(seen, client.step(CodeAction(code=AFTER)).observation)

    counted, health = [], []
    with CodingEnv(base_url=url).sync() as bystander, ThreadPoolExecutor(AT_ONCE) as threads:
        bystander.reset(code_timeout_s=AMPLE_S, memory_mb=MEMORY_MB)
        bystander.step(CodeAction(code="count = 0"))
        attackers: list[Future[None]] = [threads.submit(attack) for _ in range(AT_ONCE)]
        while not all(each.done() for each in attackers):
            result = bystander.step(CodeAction(code="count += 1\ncount"))
            counted.append(result.observation.value)
            health.append(server.health()["status"])
        for each in attackers:
            each.result()
    yield Battle(answers, counted, health)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", HOSTILE)
def test_an_attack_costs_its_own_step_alone(battle: Battle, name: str) -> None:
    attack, answer = HOSTILE[name], battle.answers[name]
    assert answer.after.stdout == AFTER_STDOUT
    if isinstance(answer.seen, SessionError):
        assert len(attack.code) > MAX_CODE or "surrogate" in name
        return
    _compare(answer.seen, attack)


def _compare(seen: CodeObservation, attack: Attack) -> None:
    assert seen.exit_code in attack.exit_codes
    assert seen.timed_out == (seen.exit_code == 124)
    assert len(seen.stdout) <= 2 * attack.at_most
    assert len(seen.stderr) <= attack.at_most
    assert all(part in seen.stderr for part in attack.stderr)
    if attack.stdout is not None:
        assert seen.stdout == "\n".join(filter(None, (attack.stdout, seen.value)))
    assert seen.exit_code == 0 or seen.error is not None
    assert isinstance(seen.reward, float)
    assert seen.done is False


@pytest.mark.timeout(180)
def test_somebody_else_goes_on_meanwhile(battle: Battle) -> None:
    assert battle.counted == [str(1 + number) for number in range(len(battle.counted))]
    assert len(battle.counted) >= 10
    assert set(battle.health) == {"healthy"}


PEEKS = {
    "os.environ": "import os\nprint(dict(os.environ))",
    "format": "import random\n'{0._os.environ}'.format(random)",
    "format of a function": "import queue\n'{0.__init__.__globals__}'.format(queue.Queue)",
    "command lines": (
        "import glob\n"
        "for path in glob.glob('/proc/[0-9]*/*'):\n"
        "    try: print(path, open(path, 'rb').read(100_000))\n"
        "    except OSError: pass"
    ),
    "memory of its parent": (
        "import os\n"
        "for pid in (1, os.getppid()):\n"
        "    try: print(open(f'/proc/{pid}/environ').read())\n"
        "    except OSError: pass"
    ),
    "a shell": "import subprocess\nprint(subprocess.run('env; cat /proc/1/environ', shell=True))",
    "files": "import pathlib\n[str(path) for path in pathlib.Path.home().rglob('*')]",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("peek", PEEKS.values(), ids=PEEKS.keys())
def test_the_server_s_secrets_are_not_seen(
    connect: Open, monkeypatch: pytest.MonkeyPatch, peek: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    client = connect()
    client.reset(max_output=400_000)
    seen = client.step(CodeAction(code=peek)).observation
    assert seen.exit_code == 0
    assert SECRET not in seen.model_dump_json()
    assert str(os.getpid()) not in seen.stdout or peek != PEEKS["command lines"]


def test_a_lone_surrogate_costs_its_own_step_alone(server: Served) -> None:
    with server.socket() as socket:
        socket.reset()
        told = socket.ask({"type": "step", "data": {"code": "'\ud800'"}})
        assert told["type"] in ("observation", "error")
        assert socket.step(code="6 * 7")["observation"]["value"] == "42"


@pytest.mark.timeout(60)
def test_an_answer_comes_before_the_caller_s_deadline(server: Served) -> None:
    code = "import time\nprint('a', flush=True)\ntime.sleep(60)"
    server.post("/reset", {}, session="hasty")
    answer = server.post("/step", {"action": {"code": code}, "timeout_s": 4}, session="hasty")
    seen = answer.json()
    assert (answer.status, seen["reward"], seen["done"]) == (200, 0.1, False)
    assert seen["observation"]["stdout"] == "a\n"
    assert (seen["observation"]["exit_code"], seen["observation"]["timed_out"]) == (124, True)
    after = server.post("/step", {"action": {"code": "time"}}, session="hasty").json()
    assert after["observation"]["error"]["type"] == "NameError"
    server.http("DELETE", "/session", headers={"X-Session-ID": "hasty"})


@pytest.mark.timeout(60)
def test_memory_is_given_back(connect: Open) -> None:
    client = connect()
    client.reset(memory_mb=MEMORY_MB)
    for _ in range(3):
        kept = client.step(CodeAction(code="x = bytearray(150 << 20)")).observation
        assert kept.exit_code == 0
        client.reset(memory_mb=MEMORY_MB)
    refused = client.step(CodeAction(code="x = [0] * 10**10")).observation
    assert (refused.exit_code, refused.error and refused.error.type) == (1, "MemoryError")
    assert client.step(CodeAction(code="1")).observation.value == "1"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("protocol", ["v1", "v2+msgpack"])
def test_the_largest_answer_fits_into_a_message(coding_url: str, protocol: str) -> None:
    code = (
        "import sys\n"
        "open('a', 'wb').write(bytes(8 << 20))\n"
        "for stream in (sys.stdout, sys.stderr): print('x' * 10**6, file=stream)\n"
        "'y' * 10**6"
    )
    with CodingEnv(base_url=coding_url, protocol=protocol).sync() as client:
        client.reset(max_output=500_000)
        seen = client.step(CodeAction(code=code)).observation
    assert [len(made.content) for made in seen.artefacts] == [8 << 20]
    assert seen.output_truncated
    assert (len(seen.stderr), len(seen.value or "")) == (500_000, 500_000)


@pytest.mark.timeout(60)
def test_sixteen_sessions_share_nothing(connect: Open) -> None:
    clients = [connect() for _ in range(SESSIONS)]
    for number, client in enumerate(clients):
        client.reset(seed=number)
        client.step(CodeAction(code=f"mine = {number}\nopen('mine', 'w').write(str(mine))"))
    for number, client in enumerate(clients):
        code = "import os\nos.listdir(), mine, open('mine').read()"
        seen = client.step(CodeAction(code=code)).observation
        assert seen.value == json.dumps([["mine"], number, str(number)])
