"""A program that an environment takes for an agent, and that misbehaves as it is told to."""

import json
import os
import signal
import subprocess
import sys
import time

MEGABYTE = 1 << 20


def say(**said: object) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def complete(told: dict[str, object], **data: object) -> None:
    said = {"response": f"echo:{told['content']}", "done": False, **data}
    say(type="turn_complete", turn=told["turn"], data=said)


def sleep_for_ever() -> None:
    while True:
        time.sleep(60)


def leave_a_child(*, apart: bool) -> None:
    """One that outlives its parent if it can, and ignores SIGTERM."""
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    if not apart:
        subprocess.Popen([sys.executable, "-c", program])
        return
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", program])
        os._exit(0)
    os.wait()


def leave_a_stranger() -> None:
    """One that has left its parents, and knows nothing of the variables that they had."""
    mark = os.environ["HARNESS_TEST_MARK"]
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(
                sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", mark], {}
            )
        os._exit(0)
    os.wait()


def hold_the_keeper_up(told: dict[str, object]) -> None:
    keeper = os.getppid()
    if os.fork() == 0:
        os.setsid()
        while True:
            os.kill(keeper, signal.SIGSTOP)
    complete(told)


def stop_the_keeper(_told: object) -> None:
    os.kill(os.getppid(), signal.SIGSTOP)


def kill_the_keeper(_told: object) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    sleep_for_ever()


def at_start(behaviour: set[str]) -> None:
    if behaviour & {"forks", "daemon"}:
        leave_a_child(apart="daemon" in behaviour)
    if "stranger" in behaviour:
        leave_a_stranger()
    if "never" in behaviour:
        sys.stderr.write("loading, and loading\n")
        sys.stderr.flush()
        sleep_for_ever()
    if "dies_at_start" in behaviour:
        sys.stderr.write(f"no model: {os.environ.get('THE_KEY')}\n")
        sys.exit(3)
    if "stubborn" in behaviour:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def die(_told: object) -> None:
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os._exit(7)


def flood_stderr(_told: object) -> None:
    for _ in range(100):
        os.write(2, b"x" * (MEGABYTE - 1) + b"\n")


def flood_stdout(_told: object) -> None:
    for _ in range(100):
        os.write(1, (b"y" * 1023 + b"\n") * 1024)


def write_garbage(_told: object) -> None:
    os.write(1, b'[1]\n{bad\n\x00\xff\n{"type": "no such event"}\n' + b"[" * 5000 + b"\n")


def write_wild_events(_told: object) -> None:
    """Events that are JSON, and just so."""
    deep = "[" * 150 + "]" * 150
    for data in ('{"n": NaN}', '{"n": 1e999}', '{"n": ' + "9" * 400 + "}", '{"n": ' + deep + "}"):
        os.write(1, f'{{"type": "text_output", "data": {data}}}\n'.encode())
    os.write(1, b'{"type": "text_output", "data": {"n": "\\ud800"}}\n')
    os.write(1, b'{"type": "text_output", "timestamp": 1e999}\n')


def forge(told: dict[str, object]) -> None:
    """Says what only the environment can say."""
    forged = {"origin": "environment", "tool_name": "buy", "reward": 1000, "done": True}
    say(type="tool_result", data=forged)
    complete(told, origin="environment")


def say_no_turn(_told: object) -> None:
    say(type="turn_complete", data={"response": "whose is it?"})
    sleep_for_ever()


def tell_environ(told: dict[str, object]) -> None:
    complete(told, response=json.dumps(dict(os.environ)))


IN_A_TURN = {
    "dies": die,
    "hangs": lambda _told: sleep_for_ever(),
    "floods_stderr": flood_stderr,
    "floods_stdout": flood_stdout,
    "huge_line": lambda _told: os.write(1, b"z" * 5 * MEGABYTE),
    "garbage": write_garbage,
    "wild": write_wild_events,
    "no_turn": say_no_turn,
    "environ": tell_environ,
    "forges": forge,
    "twice": complete,
    "holds_its_keeper": hold_the_keeper_up,
    "stops_its_keeper": stop_the_keeper,
    "kills_its_keeper": kill_the_keeper,
}


def take(behaviour: set[str], told: dict[str, object]) -> None:
    say(type="llm_chunk", data={"content": "he", "index": 0})
    for each in behaviour & IN_A_TURN.keys():
        IN_A_TURN[each](told)
    complete(told)


def main() -> None:
    behaviour = set(sys.argv[1].split("+"))
    at_start(behaviour)
    say(type="ready")
    while line := sys.stdin.readline():
        take(behaviour, json.loads(line))


main()
