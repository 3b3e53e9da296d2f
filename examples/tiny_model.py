"""A language model of some 100,000 parameters, for trying a recipe without a GPU or a hub.

A model of random weights writes noise, and noise earns nothing to learn from. So this one is taught
first, on answers of the form that the recipe wants; what makes an answer good is left to training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
import transformers

Lesson = tuple[str, str]
"""What the user says, and an answer to it."""
END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make(folder: Path, lesson: Callable[[Random], Lesson], *, steps: int, seed: int = 0) -> None:
    """Makes a model that answers as in these lessons, and saves it with its tokenizer.

    Args:
        folder: where it is saved, as `from_pretrained` reads it.
        lesson: makes up a lesson.
        steps: how many batches of 16 lessons it is taught.
        seed: of its first weights and of the lessons.
    """
    torch.manual_seed(seed)
    rng = Random(seed)
    tokenizer = tokenizer_of([lesson(rng) for _ in range(64)])
    model = transformers.Qwen2ForCausalLM(config_of(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    for _ in range(steps):
        loss = model(**batch(tokenizer, [lesson(rng) for _ in range(16)])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def tokenizer_of(lessons: Sequence[Lesson], size: int = 512) -> Any:
    """A byte-level tokenizer whose tokens are the words of these lessons."""
    bare = transformers.Qwen2Tokenizer()  # what `AutoTokenizer` makes of it for a model of Qwen2's
    texts = [text for lesson in lessons for text in lesson]
    made = bare.train_new_from_iterator(
        texts, size, new_special_tokens=[PAD, START, END], show_progress=False
    )
    made.eos_token, made.pad_token, made.chat_template = END, PAD, TEMPLATE
    return made


def config_of(tokenizer: Any) -> transformers.Qwen2Config:
    """Two layers, 64 wide."""
    return transformers.Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def batch(tokenizer: Any, lessons: Sequence[Lesson]) -> dict[str, torch.Tensor]:
    """Lessons as a batch; the loss is that of the answers alone."""
    rows = []
    for said, answer in lessons:
        asked = tokenizer.apply_chat_template(
            [{"role": "user", "content": said}], add_generation_prompt=True, tokenize=False
        )
        prompt, answered = tokenizer.encode(asked), tokenizer.encode(answer + END)
        rows.append((prompt + answered, [-100] * len(prompt) + answered))
    longest = max(len(ids) for ids, _ in rows)
    pad = tokenizer.pad_token_id
    ids = torch.tensor([ids + [pad] * (longest - len(ids)) for ids, _ in rows])
    labels = torch.tensor([labels + [-100] * (longest - len(labels)) for _, labels in rows])
    return {"input_ids": ids, "labels": labels, "attention_mask": (ids != pad).long()}
