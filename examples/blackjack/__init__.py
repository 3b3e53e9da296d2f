"""The parts of `blackjack_demo.py`."""
