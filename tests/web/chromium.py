"""Which browser, and how it is started."""

import os
from pathlib import Path

CHROMIUM = Path(os.environ.get("OPENENV_CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
