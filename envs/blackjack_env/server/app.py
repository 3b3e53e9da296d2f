"""The blackjack environment's application, and the command that serves it."""

from __future__ import annotations

from blackjack_env.models import BlackJackAction, BlackJackObservation
from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv import create_app
from openenv.server.command import serve_command

app = create_app(
    BlackJackEnvironment, BlackJackAction, BlackJackObservation, env_name="blackjack_env"
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    serve_command(app)


if __name__ == "__main__":
    main()
