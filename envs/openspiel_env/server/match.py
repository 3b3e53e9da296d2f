"""One game from its first move to its last, seen from the agent's seat."""

from __future__ import annotations

import random

from openspiel_env.server import chance
from openspiel_env.server.engine import pyspiel
from openspiel_env.server.games import Game
from openspiel_env.server.options import OpponentPolicy

MOST_ALTERNATIVES = 64
IN_THE_DARK = {
    "battleship",
    "colored_trails",
    "dark_chess",
    "dark_hex",
    "dark_hex_ir",
    "first_sealed_auction",
    "goofspiel",
    "kriegspiel",
    "latent_ttt",
    "negotiation",
    "phantom_go",
    "phantom_ttt",
    "phantom_ttt_ir",
    "rbc",
}
"""Games in which an opponent's possible moves are hidden as well. To name the one that differs from
all others would tell which others there were."""


class Match:
    """A game in which chance and the opponents move by themselves, until it is the agent's turn.

    Chance and the opponents draw from streams of their own, so that opponents who draw differently
    do not change what is dealt.

    Attributes:
        game: what is played.
        seed: what settles chance and the opponents.
        state: OpenSpiel's state, at the agent's turn or at the end.
        agent: the agent's seat.
        answered: steps of the agent, also those that were not legal.
        actions: moves of the agent.
        moves: moves of all players.
        opponent_last_action: an opponent's last move that the agent could see.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self.seed = seed
        self.state = game.begin(seed)
        self.agent = game.options.agent_player
        self.answered = 0
        self.actions = 0
        self.moves = 0
        self.opponent_last_action: int | None = None
        self._chance = chance.of_game(game.name, seed)
        self._opponents = random.Random(f"opponents {seed}")
        self._advance()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.is_terminal())

    @property
    def paid(self) -> float:
        """What the agent was paid so far."""
        return float(self.state.returns()[self.agent])

    def act(self, action: int) -> float:
        """Makes a legal move of the agent; what it and the answers to it paid."""
        before = self.paid
        self.state.apply_action(action)
        self.actions += 1
        self.moves += 1
        self._advance()
        return self.paid - before

    def _advance(self) -> None:
        """Lets the others move until the agent can."""
        while not self.over and self.state.current_player() != self.agent:
            if self.state.is_chance_node():
                self.state.apply_action(self._chance.outcome(self.state))
            else:
                self._oppose()

    def _oppose(self) -> None:
        legal = self.state.legal_actions()
        action = choose(self.game.options.opponent_policy, legal, self._opponents)
        seen = self.game.open_moves or self._tells(action, legal)
        self.opponent_last_action = action if seen else None
        self.state.apply_action(action)
        self.moves += 1

    def _tells(self, action: int, legal: list[int]) -> bool:
        """Whether the agent can tell a move from all others: it sees something else after it."""
        others = [other for other in legal if other != action]
        if self.game.name in IN_THE_DARK or len(others) > MOST_ALTERNATIVES:
            return False
        seen = view(self.state.child(action), self.agent)
        return all(view(self.state.child(other), self.agent) != seen for other in others)


def choose(policy: OpponentPolicy, legal: list[int], stream: random.Random) -> int:
    """An opponent's move."""
    if policy == "random":
        return stream.choice(legal)
    return legal[{"first": 0, "last": -1, "middle": len(legal) // 2}[policy]]


def view(state: pyspiel.State, player: int) -> str:
    """All that a player knows, as OpenSpiel writes it; empty if it does not."""
    kind = state.get_game().get_type()
    if kind.provides_information_state_string:
        return str(state.information_state_string(player))
    return str(state.observation_string(player)) if kind.provides_observation_string else ""
