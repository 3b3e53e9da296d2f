"""The policy from scratch: a causal transformer that reads the table and says one word.

Any policy is a `torch.nn.Module` that maps prompts to a logit for each of `MOVES`; `pretrained.py`
has the other one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from blackjack_env.rules import BEST_TOTAL, MOVES
from grpo_blackjack.config import PolicyConfig

WORDS = ("you", "hard", "soft", "dealer", "act", *MOVES, *map(str, range(1, BEST_TOTAL + 1)))
TOKENS = {word: token for token, word in enumerate(WORDS)}
CONTEXT = 6  # `you soft 16 dealer 10 act`


class Transformer(nn.Module):
    """Reads a prompt word by word; the next word is the move."""

    def __init__(self, shape: PolicyConfig) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), shape.width)
        self.places = nn.Embedding(CONTEXT, shape.width)
        self.blocks = nn.ModuleList(Block(shape.width, shape.heads) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.next_word = nn.Linear(shape.width, len(WORDS), bias=False)
        self.register_buffer("moves", torch.tensor([TOKENS[move] for move in MOVES]))
        self.apply(_begin)

    def forward(self, prompts: Sequence[str]) -> Tensor:
        """Logits of `MOVES` as the next word, `(len(prompts), len(MOVES))`."""
        tokens = torch.tensor([[TOKENS[word] for word in prompt.split()] for prompt in prompts])
        hidden = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            hidden = block(hidden)
        logits: Tensor = self.next_word(self.norm(hidden[:, -1]))
        return logits[:, self.moves]


def _begin(layer: nn.Module) -> None:
    """Small weights: the first policy tosses a coin."""
    if isinstance(layer, (nn.Linear, nn.Embedding)):
        nn.init.normal_(layer.weight, std=0.02 if isinstance(layer, nn.Linear) else 0.3)


class Block(nn.Module):
    """Causal attention, then a layer for each word by itself."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.thought = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, hidden: Tensor) -> Tensor:
        hidden = hidden + self.attention_out(self._attend(self.attention_norm(hidden)))
        thought: Tensor = hidden + self.thought(hidden)
        return thought

    def _attend(self, hidden: Tensor) -> Tensor:
        rows, words, width = hidden.shape
        parts = self.queries_keys_values(hidden).view(rows, words, 3, self.heads, -1)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return mixed.transpose(1, 2).reshape(rows, words, width)


def move_logprobs(
    policy: nn.Module, prompts: Sequence[str], legal: Sequence[Sequence[str]]
) -> Tensor:
    """Log-probabilities of `MOVES`, `(len(prompts), len(MOVES))`, over the legal ones alone.

    Many games are in the same situation: the policy reads each prompt once.
    """
    distinct = {prompt: row for row, prompt in enumerate(dict.fromkeys(prompts))}
    logits = policy(list(distinct))
    rows = torch.tensor([distinct[prompt] for prompt in prompts], device=logits.device)
    allowed = torch.tensor([[move in moves for move in MOVES] for moves in legal])
    never = torch.finfo(logits.dtype).min
    chosen = logits.index_select(0, rows).masked_fill(~allowed.to(logits.device), never)
    return chosen.log_softmax(-1)
