"""A script that serves itself in process hosts, and forgets that they run it too."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from openenv import EnvironmentFactoryError, GenericEnvClient

SCRIPT = dedent("""
    from openenv import Action, Environment, Observation, serve

    class Here(Environment[Action, Observation]):
        def reset(self):
            return Observation()

        def step(self, action):
            return Observation()

    serve(Here, port=0, host_kind="process")
""")


def test_it_is_told_of_the_guard_that_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "here.py"
    script.write_text(SCRIPT)
    with subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            ready = re.search(r"http://\S+", server.stderr.readline())
            assert ready is not None
            client = GenericEnvClient(base_url=ready[0])
            with pytest.raises(EnvironmentFactoryError, match='if __name__ == "__main__"'):
                client.reset()
            client.close()
        finally:
            server.terminate()
            server.communicate()
    assert server.returncode == 0
