"""A Hugging Face causal language model as the policy."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from blackjack_env.rules import MOVES
from openenv.protocol.extras import needs

RULES = (
    "You play BlackJack. You see what your hand counts and the dealer's open card; 1 is an ace, "
    "and soft means that an ace of yours counts 11. Answer with one word: hit or stand."
)


class PretrainedPolicy(nn.Module):
    """What a language model thinks of the words `hit` and `stand` as its answer.

    Weights are kept in float32; on a GPU the forward pass runs in bfloat16.

    Args:
        name: what `from_pretrained` takes: a name on the hub, or a folder.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        with needs("transformers"):
            from transformers import AutoModelForCausalLM, AutoTokenizer
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
        self.model = model.to(self.device)
        self.model.eval()  # with dropout, what learns would not be what has played
        self.moves = [self._first_token(move) for move in MOVES]
        if len(set(self.moves)) < len(MOVES):
            raise ValueError(f"{name}: {' and '.join(MOVES)} begin with the same token")

    def forward(self, prompts: Sequence[str]) -> Tensor:
        """Logits of `MOVES` as the answer, float32 `(len(prompts), len(MOVES))`."""
        texts = [self.chat(prompt) for prompt in prompts]
        batch = self.tokenizer(
            texts, return_tensors="pt", padding=True, add_special_tokens=False
        ).to(self.device)
        places = (batch["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        half = torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")
        with half:
            logits = self.model(
                input_ids=batch["input_ids"],
                attention_mask=batch["attention_mask"],
                position_ids=places,
                logits_to_keep=1,
            ).logits
        answers: Tensor = logits[:, -1, self.moves].float()
        return answers

    def chat(self, prompt: str) -> str:
        """The table as the model is asked about it, up to where its answer begins."""
        if self.tokenizer.chat_template is None:
            return f"{RULES}\n{prompt}\nMove:"
        messages = [{"role": "user", "content": f"{RULES}\n\n{prompt}"}]
        text: str = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return text

    def _first_token(self, move: str) -> int:
        word = move if self.tokenizer.chat_template is not None else f" {move}"
        first: int = self.tokenizer.encode(word, add_special_tokens=False)[0]
        return first
