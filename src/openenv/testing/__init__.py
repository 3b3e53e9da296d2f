"""What environments and stacks are tested with.

`check_environment` plays an environment and says all that is wrong with it.
`FaultProxy` stands between a client and its server and does to their frames what networks do.
`Counting` is an environment in which a step that was lost, repeated or misplaced shows.
`ModelServer` is a language model that says what a test wants, on the wire of OpenAI and Anthropic.
`images_as_processes` starts processes where somebody's example starts containers.
`serving` puts an application on a port for as long as a block runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.testing.contract import check_environment as check_environment
    from openenv.testing.counting import Add as Add
    from openenv.testing.counting import Count as Count
    from openenv.testing.counting import Counting as Counting
    from openenv.testing.counting import CountingClient as CountingClient
    from openenv.testing.counting import Tally as Tally
    from openenv.testing.faults import Counts as Counts
    from openenv.testing.faults import Direction as Direction
    from openenv.testing.faults import Faults as Faults
    from openenv.testing.faults import FrameFault as FrameFault
    from openenv.testing.images import images_as_processes as images_as_processes
    from openenv.testing.loopback import serving as serving
    from openenv.testing.model_script import Call as Call
    from openenv.testing.model_script import Failure as Failure
    from openenv.testing.model_script import Garbage as Garbage
    from openenv.testing.model_script import HangUp as HangUp
    from openenv.testing.model_script import Received as Received
    from openenv.testing.model_script import Reply as Reply
    from openenv.testing.model_server import ModelServer as ModelServer
    from openenv.testing.proxy import FaultProxy as FaultProxy

_HOMES = {
    "Add": "openenv.testing.counting",
    "Call": "openenv.testing.model_script",
    "Count": "openenv.testing.counting",
    "Counting": "openenv.testing.counting",
    "CountingClient": "openenv.testing.counting",
    "Counts": "openenv.testing.faults",
    "Direction": "openenv.testing.faults",
    "Failure": "openenv.testing.model_script",
    "FaultProxy": "openenv.testing.proxy",
    "Faults": "openenv.testing.faults",
    "FrameFault": "openenv.testing.faults",
    "Garbage": "openenv.testing.model_script",
    "HangUp": "openenv.testing.model_script",
    "ModelServer": "openenv.testing.model_server",
    "Received": "openenv.testing.model_script",
    "Reply": "openenv.testing.model_script",
    "Tally": "openenv.testing.counting",
    "check_environment": "openenv.testing.contract",
    "images_as_processes": "openenv.testing.images",
    "serving": "openenv.testing.loopback",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)
