"""A Gradio page of an author's own under whichever package runs this: what its builder gets."""

import asyncio
import json
import os
import sys
from typing import Any, Literal

import gradio as gr
from pydantic import Field

os.environ["ENABLE_WEB_INTERFACE"] = "true"

from openenv.core.env_server import Action, create_app
from tests.interop.tiny import TinyAction, TinyEnv, TinyObservation


class Form(Action):
    """Fields of many kinds."""

    name: str = Field(description="who", min_length=1, max_length=10, pattern="^a")
    message: str
    code: str = ""
    count: int = Field(default=1, ge=0, le=5)
    flag: bool = False
    kind: Literal["a", "b"] = "a"
    tokens: list[int] = Field(default_factory=list)
    numbers: list[int] = Field(default_factory=list)


GOT: list[Any] = []


def builder(*given: Any) -> Any:
    """Keeps what it is given."""
    GOT.append(given)
    with gr.Blocks() as page:
        gr.Markdown("hello")
    return page


async def played(manager: Any) -> list[Any]:
    """What an episode gives, by the manager and by hand."""
    told = [
        manager.get_state(),
        await manager.reset_environment({"seed": 3, "episode_id": "e1"}),
        await manager.step_environment({"message": "hi", "n": 2}),
        manager.get_state(),
    ]
    record = manager.episode_state.model_dump()
    for log in record["action_logs"]:
        log.pop("timestamp")
    by_hand = await manager._run_sync_in_thread_pool(manager.env.step, TinyAction(message="me"))
    return [*told, record, by_hand.echoed, manager.get_state()]


def main() -> None:
    """Prints what the builder got, as JSON."""
    create_app(TinyEnv, Form, TinyObservation, env_name="forms", gradio_builder=builder)
    create_app(
        TinyEnv, TinyAction, TinyObservation, gradio_builder=builder, title_override="A title"
    )
    (_, fields, metadata, chat, title, _), (manager, *_, own_title, start) = GOT
    for field in fields:
        del field["help_text"], field["placeholder"]
    shown = {
        "fields": fields,
        "name": metadata.name,
        "chat": chat,
        "titles": [title, own_title],
        "start": type(start).__name__,
        "limit": manager.MAX_ACTION_LOGS,
        "clients": manager.connected_clients,
        "played": asyncio.run(played(manager)),
    }
    sys.stdout.write(json.dumps(shown) + "\n")


if __name__ == "__main__":
    main()
