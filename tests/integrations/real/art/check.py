"""ART's rollouts and groups, from its own package, over environments of images.

python tests/integrations/real/art/check.py, where openpipe-art is installed. The model is a
`ModelServer` of this machine, the images are processes. A pool of clients is kept all the while, as
in ART's example; their calls go to threads.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version

import art

from envs.echo_env import EchoAction, EchoEnv
from openenv import is_available
from openenv.testing import ModelServer, Received, images_as_processes

CLIENTS = 4
STEPS = 3


def speaking(received: Received) -> str:
    """Messages of different lengths, so that their rewards differ."""
    return "x" * (1 + received.number % 7)


async def rollout(model: art.Model, client: EchoEnv) -> art.Trajectory:
    """One message of the model's, and what the echo pays for it."""
    await asyncio.to_thread(client.reset)
    prompt = {"role": "user", "content": "Say something long"}
    answer = await model.openai_client().chat.completions.create(
        model=model.get_inference_name(), messages=[prompt]
    )
    choice = answer.choices[0]
    action = EchoAction(message=choice.message.content)
    result = await asyncio.to_thread(client.step, action)
    return art.Trajectory(messages_and_choices=[prompt, choice], reward=result.reward)


async def main(url: str) -> None:
    """Gathers groups as a training loop does."""
    model = art.Model(
        name="echo",
        project="openenv",
        inference_api_key="none",
        inference_base_url=f"{url}/v1",
        inference_model_name="test-model",
    )
    pool = [EchoEnv.from_docker_image("echo-env:latest") for _ in range(CLIENTS)]
    for step in range(STEPS):
        group = art.TrajectoryGroup(rollout(model, client) for client in pool)
        (gathered,) = await art.gather_trajectory_groups([group], pbar_desc=None)
        rewards = [trajectory.reward for trajectory in gathered]
        assert len(rewards) == CLIENTS and len(set(rewards)) > 1, rewards
        print(f"art {version('openpipe-art')} group {step}: rewards {rewards}")
    await asyncio.gather(*(asyncio.to_thread(client.close) for client in pool))


if __name__ == "__main__":
    with ModelServer(speaking) as server, images_as_processes() as started:
        asyncio.run(main(server.url))
        left = [running.url for running in started if is_available(running.url, 1)]
    assert not left, left
    print(f"art {len(started)} servers for {CLIENTS * STEPS} rollouts, none left")
