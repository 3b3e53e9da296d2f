"""torchforge's BlackJack: blocking calls inside a running loop, a client for each game.

The policy, the reference and the actors around them are stubs; the games, the loss and its
gradients are real. It is played on a stand-in that deals as OpenSpiel does, and on OpenSpiel's own
game where that is installed.
"""

import importlib.util
import random
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from openenv import Environment
from openspiel_env import OpenSpielAction, OpenSpielEnv, OpenSpielObservation
from tests.serving import Served, eventually, serving

HIT, STAND = 0, 1
GAMES, GROUP = 12, 4
MOST_STEPS = 10
WORDS = {"stand": STAND, "hit": HIT}


class Table(Environment[OpenSpielAction, OpenSpielObservation]):
    """BlackJack as OpenSpiel's observation tells it: enough of it to be played to its end."""

    def reset(self, seed: int | None = None, **options: Any) -> OpenSpielObservation:
        self._chance = random.Random(seed)
        self._sum = self._card() + self._card()
        return self._seen("initial")

    def step(self, action: OpenSpielAction) -> OpenSpielObservation:
        if action.action_id == STAND:
            dealer = 17 + self._chance.randrange(6)
            won = (self._sum > dealer or dealer > 21) - (dealer >= self._sum and dealer <= 21)
            return self._seen("terminal", float(won))
        self._sum += self._card()
        return self._seen("terminal", -1.0) if self._sum > 21 else self._seen("playing", 0.0)

    def _card(self) -> int:
        return min(self._chance.randrange(1, 14), 10)

    def _seen(self, phase: str, reward: float | None = None) -> OpenSpielObservation:
        done = phase == "terminal"
        return OpenSpielObservation(
            info_state=[float(self._sum)],
            legal_actions=[] if done else [HIT, STAND],
            game_phase=phase,
            reward=reward,
            done=done,
        )


@pytest.fixture(params=["stand-in", "openspiel"])
def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    made: Any = Table
    if request.param == "openspiel":
        if importlib.util.find_spec("pyspiel") is None:
            pytest.skip("needs pip install -e 'envs/openspiel_env[server]'")
        from openspiel_env.server.openspiel_environment import OpenSpielEnvironment as made

        monkeypatch.setenv("OPENSPIEL_GAME", "blackjack")
    with serving(made) as served:
        yield served


# ── as the example calls it ───────────────────────────────────────────────────────────────────────


@dataclass
class Episode:
    """One decision, with its game's reward."""

    prompt: torch.Tensor
    response: torch.Tensor
    ref_logprobs: torch.Tensor
    reward: float
    advantage: float = 0.0


class Policy:
    """An actor that answers prompts; `generate.route(prompt)` is how one is asked."""

    def __init__(self) -> None:
        self.generate = types.SimpleNamespace(route=self._answers)
        self._chance = random.Random(7)

    async def _answers(self, prompt: str) -> list[Any]:
        return [types.SimpleNamespace(text=self._chance.choice(["HIT", "I stand.", "?"]))]


def parse_action(text: str, legal_actions: list[int]) -> int:
    found = next((move for word, move in WORDS.items() if word in text.lower()), STAND)
    return found if found in legal_actions else legal_actions[0]


def _tokens(text: str) -> torch.Tensor:
    return torch.tensor(list(text.encode()))


@dataclass
class Game:
    """What came of one."""

    reward: float
    decisions: list[tuple[str, str]] = field(default_factory=list)


async def play_game(url: str, policy: Policy) -> Game:
    """One game: no call of the environment is awaited, though an event loop runs."""
    env: Any = OpenSpielEnv(base_url=url)
    game = Game(reward=0.0)
    try:
        result = env.reset()
        observation, done = result.observation, result.done
        while not done and len(game.decisions) < MOST_STEPS:
            prompt = f"{observation.game_phase} {observation.info_state[:4]}: HIT or STAND?"
            (response,) = await policy.generate.route(prompt)
            move = parse_action(response.text, observation.legal_actions)
            result = env.step(OpenSpielAction(action_id=move, game_name="blackjack"))
            game.decisions.append((prompt, response.text))
            observation, done = result.observation, result.done
            if done:
                game.reward = result.reward
    finally:
        env.close()
    return game


def episodes_of(games: list[Game]) -> list[Episode]:
    """The decisions of a group, with advantages."""
    told = [
        Episode(_tokens(prompt), _tokens(text), torch.zeros(len(text)), game.reward)
        for game in games
        for prompt, text in game.decisions
    ]
    rewards = torch.tensor([episode.reward for episode in told])
    for episode, reward in zip(told, rewards, strict=True):
        episode.advantage = float((reward - rewards.mean()) / (rewards.std() + 1e-4))
    return told


def simple_grpo_loss(logprobs: torch.Tensor, ref: torch.Tensor, advantage: float) -> torch.Tensor:
    kl = torch.exp(ref - logprobs) - (ref - logprobs) - 1
    ratio = torch.exp(logprobs - logprobs.detach())
    return -(ratio * advantage - 0.1 * kl).mean()


# ── what must come of it ──────────────────────────────────────────────────────────────────────────


async def test_games_are_played_and_learnt_from_and_leave_no_session(served: Served) -> None:
    url, policy = f"http://127.0.0.1:{served.port}", Policy()
    groups = [[await play_game(url, policy) for _ in range(GROUP)] for _ in range(GAMES // GROUP)]
    assert served.openenv.active_sessions == 0
    games = [game for group in groups for game in group]
    assert {game.reward for game in games} <= {-1.0, 0.0, 1.0} and any(g.reward for g in games)
    model = torch.nn.Embedding(256, 256)
    losses = []
    for episode in (episode for group in groups for episode in episodes_of(group)):
        logprobs = torch.log_softmax(model(episode.response), -1)[:, 0]
        losses.append(simple_grpo_loss(logprobs, episode.ref_logprobs, episode.advantage))
    loss = torch.stack(losses).mean()
    torch.autograd.backward(loss)
    assert torch.isfinite(loss) and model.weight.grad is not None
    assert torch.isfinite(model.weight.grad).all() and model.weight.grad.norm() > 0


async def test_a_random_policy_plays_one_session_a_hundred_times(served: Served) -> None:
    env: Any = OpenSpielEnv(base_url=f"http://127.0.0.1:{served.port}")
    chance, wins = random.Random(1), 0
    for _ in range(100):
        result = env.reset()
        while not result.done:
            move = chance.choice(result.observation.legal_actions)
            result = env.step(OpenSpielAction(action_id=move, game_name="blackjack"))
        wins += result.reward > 0
        assert served.openenv.active_sessions == 1
    env.close()
    eventually(lambda: served.openenv.active_sessions == 0)
    assert 10 < wins < 60
