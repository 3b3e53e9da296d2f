"""A console with a cartridge in it: the emulator, set up for one game."""

from __future__ import annotations

from collections.abc import Callable

from atari_env.games import path_of, title
from atari_env.models import Bytes, ObsType
from atari_env.options import AtariOptions
from openenv import InvalidRequest, needs

with needs("openenv-atari-env[server]"):
    from ale_py import Action, ALEInterface

SEEDS = 2**31
"""The emulator's seeds are from 0 to below it."""


class Console:
    """An emulator that begins its game again and again, each time exactly as after switching on.

    To put a cartridge in takes twenty times as long as to begin again, and all sessions of a
    process wait for it. So a console is kept for as long as it `fits`.

    Args:
        options: the game, and what the emulator must know of how it is played.
        seed: what its chance comes from, 0 or more.

    Raises:
        InvalidRequest: the game does not have that mode or difficulty.
    """

    def __init__(self, options: AtariOptions, seed: int) -> None:
        self._setup = _setup(options, seed)
        ale = ALEInterface()
        ale.setInt("random_seed", seed % SEEDS)
        ale.setInt("frame_skip", options.frameskip)
        ale.setInt("max_num_frames_per_episode", options.max_num_frames_per_episode)
        ale.setFloat("repeat_action_probability", options.repeat_action_probability)
        ale.loadROM(path_of(options.game_name))
        _choose(options, "difficulty", ale.getAvailableDifficulties(), ale.setDifficulty)
        _choose(options, "mode", ale.getAvailableModes(), ale.setMode)
        self.ale = ale
        self._new = ale.cloneState(include_rng=True)

    def fits(self, options: AtariOptions, seed: int) -> bool:
        """Whether a new console for these would be no other."""
        return self._setup == _setup(options, seed)

    def begin(self) -> None:
        """Begins the game. A mere reset would leave traces of the last one in some games."""
        self.ale.restoreState(self._new)
        self.ale.reset_game()

    def actions(self, full: bool) -> list[Action]:
        """What the joystick can do: everything, or what the game reads."""
        return self.ale.getLegalActionSet() if full else self.ale.getMinimalActionSet()

    def observed(self, kind: ObsType) -> Bytes:
        """The screen or the memory, in an array of its own."""
        if kind == "rgb":
            return self.ale.getScreenRGB()
        return self.ale.getScreenGrayscale() if kind == "grayscale" else self.ale.getRAM()


def _setup(options: AtariOptions, seed: int) -> tuple[object, ...]:
    """All that a console is made with; the seed where something comes from chance.

    That is sticky actions, and what modes like Adventure's third place anew.
    """
    by_chance = options.repeat_action_probability > 0 or options.mode is not None
    return (
        options.game_name,
        options.mode,
        options.difficulty,
        options.frameskip,
        options.max_num_frames_per_episode,
        options.repeat_action_probability,
        seed % SEEDS if by_chance else None,
    )


def _choose(
    options: AtariOptions, name: str, there_are: list[int], choose: Callable[[int], None]
) -> None:
    wanted = getattr(options, name)
    if wanted is None:
        return
    if wanted not in there_are:
        raise InvalidRequest(
            f"{title(options.game_name)} has no {name} {wanted}; it has "
            f"{', '.join(map(str, there_are))}"
        )
    choose(wanted)
