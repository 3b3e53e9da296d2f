"""A session's process that is started anew: slower than a fork, and possible everywhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from openenv.runtime.offspring import Death, Offspring
from openenv.runtime.watch import Watch, kill_group


async def start_anew(child: Offspring, environ: Mapping[str, str]) -> None:
    """Starts a session's process; it wants to be told what to import."""
    end = child.link.child_end.fileno()
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: Watch(lambda code: child.died(Death(code))),
            *(sys.executable, "-m", "openenv.runtime.child"),
            stdin=end,
            stdout=end,
            stderr=child.stderr.child_end,
            env=dict(environ),
            start_new_session=True,
        )
        child.born(lambda: kill_group(transport.get_pid()))
    finally:
        await child.open()
