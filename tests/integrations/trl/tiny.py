"""A language model of 112,000 parameters, made here in seconds, that calls the tools it is shown.

A random model never calls a tool, and a trainer that sees no call still ends without an error: so
this one is taught the form of a call first, on conversations of the kind that it will have.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")
tokenizers: Any = pytest.importorskip("tokenizers")
trl: Any = pytest.importorskip("trl", reason="pip install 'openenv-core[trl]'")

END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
TURN = f"{START}assistant\n"
TEMPLATE = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja").read_text()
Message = dict[str, Any]


@dataclass(frozen=True)
class Lesson:
    """What the model is to learn of one environment.

    Attributes:
        prompt: what the user says.
        tools: the tools, as functions or schemas.
        name: the tool that is called.
        arguments: makes up the arguments of a call.
        answer: makes up what the tool answers to them.
        calls: the most calls of an episode.
    """

    prompt: str
    tools: Sequence[Any]
    name: str
    arguments: Callable[[random.Random], dict[str, Any]]
    answer: Callable[[dict[str, Any]], str]
    calls: int = 2

    def conversation(self, rng: random.Random) -> list[Message]:
        """An episode as it should look."""
        messages: list[Message] = [{"role": "user", "content": self.prompt}]
        for _ in range(rng.randint(1, self.calls)):
            arguments = self.arguments(rng)
            call = {"type": "function", "function": {"name": self.name, "arguments": arguments}}
            messages += [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "name": self.name, "content": self.answer(arguments)},
            ]
        return [*messages, {"role": "assistant", "content": "ok"}]


@dataclass
class Tiny:
    """The model and its tokenizer."""

    model: Any
    tokenizer: Any

    def copy(self) -> Any:
        """The model as it was taught, for one trainer."""
        fresh = type(self.model)(self.model.config)
        fresh.load_state_dict(self.model.state_dict())
        return fresh


def tokenizer_for(lessons: Sequence[Lesson], size: int = 594) -> Any:
    """A byte-level tokenizer whose tokens are the phrases of these conversations."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[PAD, START, END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(_texts(lessons), trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=END, pad_token=PAD, chat_template=TEMPLATE
    )


def taught(lessons: Sequence[Lesson], steps: int = 120, seed: int = 0) -> Tiny:
    """A model that plays these lessons' episodes, with arguments of its own."""
    torch.set_num_threads(1)  # more would spin against the server's
    torch.manual_seed(seed)
    tokenizer = tokenizer_for(lessons)
    config = transformers.Qwen2Config(
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
    model = transformers.Qwen2ForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    rng = random.Random(seed)
    for _ in range(steps):
        loss = model(**_batch(tokenizer, lessons, rng)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return Tiny(model, tokenizer)


def _texts(lessons: Sequence[Lesson]) -> Iterator[str]:
    plain = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(tokenizers.models.BPE()), chat_template=TEMPLATE
    )
    rng = random.Random(0)
    for lesson in lessons:
        for _ in range(20):
            for piece in _pieces(plain, lesson, rng):
                yield from piece.replace(END, START).split(START)


def _pieces(tokenizer: Any, lesson: Lesson, rng: random.Random) -> list[str]:
    """A conversation, cut where the model's turns begin: nothing is one token across that."""
    said, tools = lesson.conversation(rng), list(lesson.tools)
    text: str = tokenizer.apply_chat_template(said, tools=tools, tokenize=False)
    first, *others = text.split(TURN)
    return [first + TURN, *[other + TURN for other in others[:-1]], others[-1]]


def _row(tokenizer: Any, pieces: Sequence[str]) -> tuple[list[int], list[int]]:
    """The tokens of a conversation, and those of them that the model says; others are -100."""
    ids: list[int] = tokenizer.encode(pieces[0])
    labels = [-100] * len(ids)
    for piece in pieces[1:]:
        turn, told = (tokenizer.encode(part) for part in _parted(piece))
        ids += [*turn, *told]
        labels += [*turn, *[-100] * len(told)]
    return ids, labels


def _parted(piece: str) -> tuple[str, str]:
    turn, end, told = piece.partition(END)
    return turn + end, told


def _batch(tokenizer: Any, lessons: Sequence[Lesson], rng: random.Random, size: int = 16) -> Any:
    chosen = [rng.choice(lessons) for _ in range(size)]
    rows = [_row(tokenizer, _pieces(tokenizer, lesson, rng)) for lesson in chosen]
    longest = max(len(ids) for ids, _ in rows)
    pad = tokenizer.pad_token_id
    ids = torch.tensor([ids + [pad] * (longest - len(ids)) for ids, _ in rows])
    labels = torch.tensor([labels + [-100] * (longest - len(labels)) for _, labels in rows])
    return {"input_ids": ids, "labels": labels, "attention_mask": (ids != pad).long()}
