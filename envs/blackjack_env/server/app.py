"""The blackjack environment's application, and the command that serves it."""

from __future__ import annotations

import argparse

from blackjack_env.models import BlackJackAction, BlackJackObservation
from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv import create_app
from openenv.server.run import serve_app

app = create_app(
    BlackJackEnvironment, BlackJackAction, BlackJackObservation, env_name="blackjack_env"
)


def main() -> None:
    """Serves the environment until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="0.0.0.0", help="the address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
    options = parser.parse_args()
    serve_app(app, host=options.host, port=options.port)


if __name__ == "__main__":
    main()
