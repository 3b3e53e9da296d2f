"""What is said to the echo, and what comes back."""

from __future__ import annotations

from openenv import Action, Observation


class EchoAction(Action):
    """Says something.

    Attributes:
        message: the text to be echoed.
    """

    message: str


class EchoObservation(Observation):
    """The echo.

    Attributes:
        echoed_message: the message, unchanged; a greeting after a reset.
        message_length: its length in characters; 0 after a reset.
    """

    echoed_message: str = ""
    message_length: int = 0
