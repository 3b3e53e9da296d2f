"""Applications with Gradio pages of an author's own, for servers of their own processes."""

import asyncio
from typing import Any

import gradio as gr
from fastapi import FastAPI

from openenv.core.env_server.gradio_ui import build_gradio_app
from openenv.core.env_server.http_server import create_app
from tests.server.worlds import Do, Saw, World

TOKEN = "secret"


def by_hand(
    web_manager: Any,
    action_fields: list[dict[str, Any]],
    metadata: Any,
    is_chat_env: bool,
    title: str,
    quick_start_md: str,
) -> Any:
    """Plays with the environment itself, as some pages do."""

    async def play(text: str) -> str:
        await web_manager._run_sync_in_thread_pool(web_manager.env.reset)
        seen = await web_manager._run_sync_in_thread_pool(web_manager.env.step, Do(text=text))
        return f"{seen.text} {web_manager.get_state()['step_count']}"

    def play_blocking(text: str) -> str:
        asyncio.run(web_manager.reset_environment())
        return str(asyncio.run(web_manager.step_environment({"text": text}))["reward"])

    with gr.Blocks(title=title, analytics_enabled=False) as page:
        gr.Markdown(f"{title} {metadata.name} {len(action_fields)} {is_chat_env}")
        gr.Markdown(quick_start_md)
        said, heard = gr.Textbox(label="Say"), gr.Textbox(label="Heard")
        gr.Button("Play").click(play, said, heard, api_name="play")
        gr.Button("Play on").click(play_blocking, said, heard, api_name="play_blocking")
    return page


def ours() -> FastAPI:
    """With our page as the author's."""
    return create_app(World, Do, Saw, env_name="world", gradio_builder=build_gradio_app, web=True)


def custom() -> FastAPI:
    """With a page by hand alone, for those who may control episodes."""
    return create_app(
        World,
        Do,
        Saw,
        gradio_builder=by_hand,
        custom_tab_name="By hand",
        custom_tab_primary=True,
        show_default_tab=False,
        title_override="A world by hand",
        control_token=TOKEN,
        web=True,
    )
