"""The games there are, by the names people have for them."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from openenv import needs

with needs("openenv-atari-env[server]"):
    from ale_py import ALEInterface, LoggerMode, roms

ALEInterface.setLoggerMode(LoggerMode.Error)  # a banner for each session is no error

_ROMS = Path(roms.__file__).parent
_GYM_ID = re.compile(r"(?:ale/)?(\w+?)(?:-ram)?(?:deterministic|noframeskip)?-v\d+", re.IGNORECASE)


@lru_cache(maxsize=1)
def games() -> tuple[str, ...]:
    """The ROM ids of all games that one player can play, sorted."""
    names = sorted(path.stem for path in _ROMS.glob("*.bin"))
    return tuple(name for name in names if ALEInterface.isSupportedROM(path_of(name)))


def rom_id(name: str) -> str:
    """The ROM id of a game: `space_invaders`.

    Args:
        name: that id, the game's name in other spellings (`Space Invaders`), or an id of
            Gymnasium's (`ALE/SpaceInvaders-v5`), of which only the game counts.

    Raises:
        ValueError: there is no such game. It names those with similar names, or some.
    """
    known = {_squeezed(game): game for game in games()}
    gym_id = _GYM_ID.fullmatch(name)
    wanted = _squeezed(gym_id[1] if gym_id else name)
    if wanted in known:
        return known[wanted]
    close = [known[match] for match in get_close_matches(wanted, known, 3)]
    hint = f"did you mean {' or '.join(close)}?" if close else _examples()
    raise ValueError(f"there is no game {name!r}; {hint}")


def path_of(game: str) -> str:
    """The file of a game, by its ROM id."""
    return str(_ROMS / f"{game}.bin")


def title(game: str) -> str:
    """A game's name as people write it: `Space Invaders`."""
    return game.replace("_", " ").title()


def _examples() -> str:
    few = [game for game in ("breakout", "ms_pacman", "space_invaders") if game in games()]
    return f"there are {len(games())}, such as {', '.join(few)}"


def _squeezed(name: str) -> str:
    return re.sub("[ _-]", "", name.lower())
