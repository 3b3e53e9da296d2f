"""What a process holds of the machine."""

import subprocess
import sys

import pytest

from openenv.validation.footprint import CAN_MEASURE, footprint, still_footprint

pytestmark = pytest.mark.skipif(not CAN_MEASURE, reason="only Linux tells what a process holds")

PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"


def test_it_is_of_a_process_and_all_that_it_has_started() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE) as process:
        while footprint(process.pid).processes < 2:
            assert process.poll() is None
        still = still_footprint(process.pid)
        assert (still.processes, still.threads) == (2, 2)
        assert still.memory_mb > 0
        process.communicate(b"\n")
    assert still_footprint(process.pid).processes == 0


def test_what_never_stays_as_it_is_is_told_in_the_end() -> None:
    restless = "import subprocess, sys\nwhile True: subprocess.run(['true'])"
    with subprocess.Popen([sys.executable, "-c", restless]) as process:
        try:
            assert still_footprint(process.pid, within_s=0.5).processes >= 1
        finally:
            process.kill()
