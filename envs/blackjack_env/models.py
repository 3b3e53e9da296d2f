"""What a BlackJack player does and sees."""

from __future__ import annotations

from pydantic import Field

from blackjack_env.rules import Move, Result
from openenv import Action, Observation, State


class BlackJackAction(Action):
    """The player's decision.

    It is a word, because the numbers of other libraries contradict each other: 0 means *hit* to
    OpenSpiel and *stick* to Gymnasium.

    Attributes:
        move: `"hit"` takes another card, `"stand"` lets the dealer play.
    """

    move: Move


class BlackJackObservation(Observation):
    """The table as the player sees it. Cards are values: 1 is an ace, 10 a ten or a face card.

    Attributes:
        player_sum: what the player's hand counts.
        usable_ace: whether an ace counts 11 in it.
        dealer_card: the dealer's open card.
        player_cards: the player's hand, in the order it was dealt.
        dealer_cards: the dealer's cards that are open; all of them once the dealer has played.
        legal_actions: the moves that may follow; none once the game is over.
        result: how the game ended, `None` while it runs.
        text: all of this in a line, as in `you soft 16 dealer 10 act`; before it, why the last
            move was refused, if it was.
    """

    player_sum: int
    usable_ace: bool
    dealer_card: int
    player_cards: list[int]
    dealer_cards: list[int]
    legal_actions: list[Move] = Field(default_factory=list)
    result: Result | None = None
    text: str = ""


class BlackJackState(State):
    """Where a game stands.

    Attributes:
        seed: the seed that deals this game's cards.
        finished: whether the game is over.
    """

    seed: int | None = None
    finished: bool = False
