"""OpenSpiel's games by name: which can be played here, and with which parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from openenv import errors
from openspiel_env.server.engine import pyspiel
from openspiel_env.server.options import OpenSpielOptions

ENDLESS = {"bridge_uncontested_bidding"}
LARGEST_TENSOR = 100_000
MOST_ACTIONS = 200_000
SEED_PARAMETER = "rng_seed"
SEED_RANGE = 1 << 31

ENGINE_FAULTS = (pyspiel.SpielError, RuntimeError, TypeError, ValueError, IndexError, MemoryError)


@dataclass(frozen=True)
class Game:
    """A game that is ready to be played, in turns.

    Attributes:
        engine: OpenSpiel's game; that of a simultaneous game asks one seat after the other.
        name: its short name.
        options: which seat is the agent's, and who plays the others.
        open_moves: whether every player sees every move.
        information: whether `info_state` is the information state, else the observation.
        tensor: whether it has a tensor at all.
        draws: whether it draws from a generator of its own, which is seeded as a parameter.
    """

    engine: pyspiel.Game
    name: str
    options: OpenSpielOptions
    open_moves: bool
    information: bool
    tensor: bool
    draws: bool

    def begin(self, seed: int) -> pyspiel.State:
        """The state before the first move; a seed settles what the game itself draws."""
        if not self.draws:
            return self.engine.new_initial_state()
        own = {SEED_PARAMETER: seed % SEED_RANGE, **self.options.game_params}
        return pyspiel.load_game(self.name, own).new_initial_state()


def load(options: OpenSpielOptions) -> Game:
    """Loads the game that options name.

    Raises:
        InvalidRequest: there is no such game, it cannot be played in turns, it does not take these
            parameters, or has no such seat.
    """
    kind = _kind(options.game_name)
    try:
        engine = pyspiel.load_game(options.game_name, dict(options.game_params))
        simultaneous = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        _check_size(engine, kind)
        playable = pyspiel.convert_to_turn_based(engine) if simultaneous else engine
    except ENGINE_FAULTS as error:
        raise errors.InvalidRequest(
            f"OpenSpiel does not take {options.game_name} with {options.game_params}: "
            f"{str(error)[:300] or type(error).__name__}"
        ) from None
    if options.agent_player >= engine.num_players():
        raise errors.InvalidRequest(
            f"{options.game_name} has the seats 0 to {engine.num_players() - 1}, "
            f"got agent_player={options.agent_player}"
        )
    return _game(playable, options, simultaneous)


def _game(engine: pyspiel.Game, options: OpenSpielOptions, simultaneous: bool) -> Game:
    kind = engine.get_type()
    has_both = kind.provides_information_state_tensor and kind.provides_observation_tensor
    return Game(
        engine=engine,
        name=options.game_name,
        options=options,
        open_moves=kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        and not simultaneous,
        information=kind.provides_information_state_tensor
        and not (has_both and options.tensor == "observation"),
        tensor=kind.provides_information_state_tensor or kind.provides_observation_tensor,
        draws=SEED_PARAMETER in kind.parameter_specification,
    )


@cache
def names() -> tuple[str, ...]:
    """The short names of the games that can be played without parameters."""
    return tuple(
        name for name, kind in _kinds().items() if kind.default_loadable and not _hindrance(kind)
    )


@cache
def _kinds() -> dict[str, pyspiel.GameType]:
    return {kind.short_name: kind for kind in pyspiel.registered_games()}


def _kind(name: str) -> pyspiel.GameType:
    kind = _kinds().get(name)
    if kind is None:
        close = get_close_matches(name, names(), 3) or names()
        raise errors.InvalidRequest(f"no game {name!r}; there is {', '.join(close)}")
    if why := _hindrance(kind):
        raise errors.InvalidRequest(f"{name} cannot be played here: {why}")
    return kind


def _hindrance(kind: pyspiel.GameType) -> str:
    """Why a game can be played by nobody here, whatever its parameters."""
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        return "it is a mean-field game, whose players have no turns"
    if kind.short_name in ENDLESS:
        return "one of its steps may take many seconds, in which nothing else runs"
    sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    if sampled and SEED_PARAMETER not in kind.parameter_specification:
        return "it transforms another game, and no seed would settle it"
    return ""


def _check_size(engine: pyspiel.Game, kind: pyspiel.GameType) -> None:
    """Refuses what would take the memory of a machine, or be nothing at all."""
    shapes = [
        shape()
        for there, shape in (
            (kind.provides_information_state_tensor, engine.information_state_tensor_shape),
            (kind.provides_observation_tensor, engine.observation_tensor_shape),
        )
        if there
    ]
    for shape in shapes:
        if min(shape, default=1) < 1 or math.prod(shape) > LARGEST_TENSOR:
            raise ValueError(
                f"its tensor would be {shape}, up to {LARGEST_TENSOR} numbers are held"
            )
    if not 0 < engine.num_distinct_actions() <= MOST_ACTIONS:
        raise ValueError(f"it would have {engine.num_distinct_actions()} actions")
