"""Code that speaks to the executor in its interpreter's name: it can lie about itself alone."""

from collections.abc import Iterator

import pytest

from openenv.executor import ExecutorLimits, PythonExecutor

PRELUDE = """
import os, struct, sys, threading, time
from openenv.executor import wire
frame = sys._getframe()
while type(frame.f_locals.get("self")).__name__ != "Worker":
    frame = frame.f_back
line = frame.f_locals["self"]._line
token = line._token

def send(frame):
    left = memoryview(frame)
    while left:
        left = left[os.write(line._descriptor, left):]

def outcome(**fields):
    return wire.encode(wire.Kind.OUTCOME, wire.Outcome(token, **fields))

"""
NONSENSE = {
    "no exit code": "send(outcome(exit_code=300))",
    "a field that is none": "send(wire.encode(wire.Kind.OUTCOME, wire.Run(token, b'', 1)))",
    "another kind": "send(wire.encode(wire.Kind.READY, wire.Ready()))",
    "a kind that is none": "send(struct.pack('!BI', 200, 0))",
    "an answer to nobody": "send(wire.encode(wire.Kind.ANSWER, wire.Answer()))",
    "another token": "token = bytes(16); send(outcome())",
    "two answers": "send(outcome() * 2)",
    "more than any answer": "send(struct.pack('!BI', 5, 1 << 31))",
    "many empty parts": "send(outcome(truncated=[''] * 1_000_000))",
    "no MessagePack": "send(struct.pack('!BI', 5, 4) + b'\\xc1' * 4)",
    "nesting": "send(struct.pack('!BI', 5, 100_000) + b'\\x91' * 100_000)",
    "no text": "send(outcome(value='abc').replace(b'abc', b'\\xff' * 3))",
    "calls without end": "while True: line.ask('nobody', b'[[],{}]')",
}


@pytest.fixture(scope="module")
def executor() -> Iterator[PythonExecutor]:
    tools = {"add": lambda a, b: a + b}
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60), tools=tools) as executor:
        yield executor


@pytest.mark.parametrize("name", NONSENSE)
def test_what_is_no_answer_ends_the_interpreter(executor: PythonExecutor, name: str) -> None:
    result = executor.run(f"{PRELUDE}{NONSENSE[name]}\ntime.sleep(600)")
    assert (result.exit_code, result.restarted) == (137, True), result
    assert executor.run("add(40, 2)").value == "42"


def test_a_lie_about_itself_is_cut_as_the_truth_is(executor: PythonExecutor) -> None:
    executor.reset()
    names = ["../x", "/x", "a/../x", "", ".", "a//b", "a\0b", "a\u202eb", "a\nb", "c/ok.txt"]
    found = f"[wire.Found(name, b'x') for name in {names!r} if name]"
    lie = f"send(outcome(value='v' * 1_000_000, found={found}))\ntime.sleep(600)"
    result = executor.run(PRELUDE + lie)
    assert [each.name for each in result.artefacts] == ["c/ok.txt"]
    assert len(result.value or "") == ExecutorLimits().output_bytes
    assert result.truncated == ("value", "artefacts")


def test_a_name_does_not_say_its_kind_as_a_url_does(executor: PythonExecutor) -> None:
    executor.reset()
    lie = "send(outcome(found=[wire.Found('data:<b>x</b>,', b'x')]))\ntime.sleep(600)"
    (found,) = executor.run(PRELUDE + lie).artefacts
    assert (found.name, found.mime_type) == ("data:<b>x</b>,", "application/octet-stream")


def test_an_answer_that_comes_late_is_nobody_elses(executor: PythonExecutor) -> None:
    executor.reset()
    executor.run(
        f"{PRELUDE}late = outcome(value='late')\ngo_on = threading.Event()\n"
        "def be_late():\n    go_on.wait(); send(late)\n"
        "threading.Thread(target=be_late).start()"
    )
    executor.run("threading.Timer(0.05, go_on.set).start()")
    results = [executor.run("1 + 1")]
    while not results[-1].restarted:
        results.append(executor.run("1 + 1"))
    assert {result.value for result in results} <= {"2", None}


def test_calls_without_waiting_for_answers_end_with_its_time() -> None:
    calls = "wire.encode(wire.Kind.CALL, wire.Call(token, 'large', b'[[],{}]')) * 1000"
    limits = ExecutorLimits(timeout_s=60, tool_calls=1_000_000)
    with PythonExecutor(limits=limits, tools={"large": lambda: "x" * 100_000}) as executor:
        result = executor.run(f"{PRELUDE}while True: send({calls})", timeout_s=1)
        assert (result.exit_code, result.timed_out) == (124, True)
