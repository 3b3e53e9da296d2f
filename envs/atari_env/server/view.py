"""A game of Atari as a web page shows it."""

from __future__ import annotations

from typing import Any

from atari_env.episode import Episode
from atari_env.games import title
from atari_env.png import png
from openenv.env.web_html import ARROW_KEYS, Part, WebAction, facts, image, notice, page, refusal

KEYS = {**{name.upper(): key for name, key in ARROW_KEYS.items()}, "FIRE": " ", "NOOP": "."}
STYLE = """
.picture img { width: min(100%, 36rem); aspect-ratio: 4 / 3; image-rendering: pixelated; }
"""


def draw(seen: dict[str, Any], episode: Episode) -> str:
    """The screen, the score and the lives.

    Args:
        seen: an observation.
        episode: the game that it is of, of whose screen it may show less.
    """
    game = title(episode.options.game_name)
    known: dict[str, Part] = {
        "Game": game,
        "Score": episode.score,
        "Lives": episode.lives,
        "Frame": episode.frames,
    }
    label = f"The screen of {game}: score {episode.score}, lives {episode.lives}"
    return page(
        facts(known),
        refusal(seen),
        image(png(episode.console.observed("rgb")), label),
        notice(f"Over: {episode.end}." if episode.end else None),
        style=STYLE,
    )


def actions(episode: Episode) -> list[WebAction]:
    """What the joystick can do in this game; none once it is over."""
    names = () if episode.end else episode.actions
    return [_action(number, name) for number, name in enumerate(names)]


def _action(number: int, name: str) -> WebAction:
    action = {"action_id": number}
    return (name, action, KEYS[name]) if name in KEYS else (name, action)
