"""What a run was measured on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("websockets", "picows", "uvicorn", "fastapi", "pydantic", "msgspec", "uvloop")


def installed(library: str) -> str:
    """A library's version here."""
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"no {library}"


def machine() -> str:
    """The machine and the versions, without anything that names it."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    ram_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    libraries = ", ".join(map(installed, LIBRARIES))
    return (
        f"{os.cpu_count()} × {model}, {ram_gb:.0f} GB RAM, {platform.system()}, "
        f"Python {platform.python_version()}, {libraries}"
    )
