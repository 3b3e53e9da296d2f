"""Play beside a trained policy: you see what it thinks of each move, and make your own.

python examples/grpo_blackjack/play.py                the policy plays, you watch
python examples/grpo_blackjack/play.py --yourself     h hits, s stands, Enter does as it says
python examples/grpo_blackjack/play.py runs/blackjack/seed-2 --games 20
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent.parent))

from blackjack.server import serving

from blackjack_env import BlackJackAction, BlackJackEnv
from blackjack_env.rules import MOVES
from grpo_blackjack.checkpoint import Folder
from grpo_blackjack.config import BadConfig, Config
from grpo_blackjack.policy import move_logprobs
from grpo_blackjack.rollout import format_prompt
from grpo_blackjack.trainer import make_policy
from openenv import StepResult

FIRST_SEED = 2**62  # far from whatever was trained on


def parse() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/blackjack"))
    parser.add_argument("--games", type=int, default=5)
    parser.add_argument("--yourself", action="store_true", help="make the moves")
    return parser.parse_args()


def trained(folder: Path) -> tuple[nn.Module, bool]:
    """The policy of a run's checkpoint, and whether it is blind."""
    state = Folder(folder).load()
    config = Config.model_validate_json(state["config"])
    policy = make_policy(config)
    policy.load_state_dict(state["trainer"]["policy"])
    return policy, config.blackjack_env.blind


async def play(given: argparse.Namespace) -> None:
    """Plays the games against a server of our own."""
    policy, blind = trained(given.folder)
    won = 0.0
    async with serving(1) as server, BlackJackEnv(base_url=server.url) as env:
        for number in range(given.games):
            result = await env.reset(seed=FIRST_SEED + number)
            while not result.done:
                move = await decide(policy, result, blind, given.yourself)
                result = await env.step(BlackJackAction(move=move))
            won += float(result.reward or 0)
            print(f"{result.observation.text}: {won:+g} after {number + 1}\n")


async def decide(policy: nn.Module, result: StepResult[Any], blind: bool, yourself: bool) -> str:
    """A move: the policy's likeliest, or the user's."""
    chances = chances_of(policy, result, blind)
    likeliest = max(chances, key=lambda move: chances[move])
    told = ", ".join(f"{name} {chance:.0%}" for name, chance in chances.items())
    print(f"{result.observation.text:32} {told}", end="  ")
    if yourself:
        return await asyncio.to_thread(ask, likeliest)
    print(f"→ {likeliest}")
    return likeliest


def chances_of(policy: nn.Module, result: StepResult[Any], blind: bool) -> dict[str, float]:
    """How likely the policy makes each move."""
    prompt = format_prompt(result.observation.text, blind)
    with torch.no_grad():
        chances = move_logprobs(policy, [prompt], [result.observation.legal_actions]).exp()[0]
    return dict(zip(MOVES, chances.tolist(), strict=True))


def ask(default: str) -> str:
    """The user's move."""
    while True:
        answer = input(f"[{default}] ? ").strip().lower() or default
        for move in MOVES:
            if move.startswith(answer):
                return move


def main() -> None:
    """Plays from the command line."""
    try:
        asyncio.run(play(parse()))
    except (BadConfig, EOFError) as error:
        sys.exit(f"play.py: {error}")


if __name__ == "__main__":
    main()
