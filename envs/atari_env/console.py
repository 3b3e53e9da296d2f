"""A console with a cartridge in it: the emulator, set up for one game."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np

from atari_env.games import path_of, title
from atari_env.models import Bytes, ObsType
from atari_env.options import AtariOptions
from openenv import InvalidRequest, needs

with needs("openenv-atari-env[server]"):
    from ale_py import Action, ALEInterface, ALEState

SEEDS = 2**31
"""The emulator's seeds are from 0 to below it."""
_SIZE = struct.Struct("<I")
_SIZE_AT, _AROUND = 24, 36
"""Where a state that is written down tells its machine's size, and how much there is beside it."""


class Console:
    """An emulator that begins its game again and again, each time exactly as after switching on.

    To put a cartridge in takes twenty times as long as to begin again, and all sessions of a
    process wait for it. So a console is played on by whoever it `fits`, mostly whatever the seed:
    where the emulator has drawn nothing from its chance before the game begins, another seed's
    can be put in its place.

    Args:
        options: the game, and what the emulator must know of how it is played.
        seed: what its chance comes from, 0 or more.

    Raises:
        InvalidRequest: the game does not have that mode or difficulty.
    """

    def __init__(self, options: AtariOptions, seed: int) -> None:
        self._setup = _setup(options)
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
        self._seed = seed % SEEDS
        self._is_sticky = options.repeat_action_probability > 0
        self._takes_seeds = _is_reseedable(self._new, self._seed)

    def fits(self, options: AtariOptions, seed: int) -> bool:
        """Whether a new console for these would play no other game."""
        by_chance = self._is_sticky and not self._takes_seeds
        is_placed = options.mode is not None  # modes like Adventure's third place things anew
        takes_it = not (by_chance or is_placed) or self._seed == seed % SEEDS
        return takes_it and self._setup == _setup(options)

    def begin(self, seed: int) -> None:
        """Begins the game of a seed that `fits`.

        A mere reset would leave traces of the last one in some games.
        """
        if self._is_sticky and self._seed != seed % SEEDS:
            self._new = _reseeded(self._new, self._seed, seed % SEEDS)
            self._seed = seed % SEEDS
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


def _is_reseedable(state: ALEState, seed: int) -> bool:
    """Whether this emulator writes a state down as `_reseeded` reads it."""
    written = state.serialize()
    (size,) = _SIZE.unpack_from(written, _SIZE_AT)
    return written.count(_chance(seed)) == 1 and size == len(written) - _AROUND


def _reseeded(state: ALEState, before: int, now: int) -> ALEState:
    """The same state, but with another seed's chance."""
    written = bytearray(state.serialize().replace(_chance(before), _chance(now)))
    _SIZE.pack_into(written, _SIZE_AT, len(written) - _AROUND)
    return ALEState(bytes(written))


def _chance(seed: int) -> bytes:
    """A Mersenne Twister of which nothing has been drawn, as the emulator writes one down."""
    words = np.random.RandomState(seed).get_state(legacy=False)["state"]["key"].tolist()
    text = " ".join(map(str, [*words, len(words)])).encode()
    return _SIZE.pack(len(text)) + text


def _setup(options: AtariOptions) -> tuple[object, ...]:
    """All that a console is made with, but for its seed."""
    return (
        options.game_name,
        options.mode,
        options.difficulty,
        options.frameskip,
        options.max_num_frames_per_episode,
        options.repeat_action_probability,
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
