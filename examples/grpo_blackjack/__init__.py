"""The parts of `train.py`: GRPO on BlackJack."""
