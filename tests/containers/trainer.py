"""Runs as a program: a trainer that starts a container and is ended by the test, however.

trainer.py IMAGE FAULT READY_TIMEOUT_S
"""

import sys
import time

from openenv.providers import Launch, LocalDockerProvider


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


_, image, fault, timeout_s = sys.argv
provider = LocalDockerProvider()
say("launching")
running = provider.launch(
    Launch(image=image, env_vars={"FAULT": fault}, ready_timeout_s=float(timeout_s))
)
say(f"running {running.url}")
time.sleep(600)
