"""Rows of trajectories, taken as they are by TRL's SFTTrainer and DPOTrainer.

python tests/integrations/real/rows/check.py, where TRL is installed. The model is a tiny one from
scratch that reads bytes, so that nothing is downloaded.
"""

from __future__ import annotations

import random
import sys
import tempfile
from importlib.metadata import version
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from blackjack_env.server.app import app
from openenv.rollout import collect
from openenv.rollout.trajectories.export import preference_rows, sft_rows, to_dataset
from openenv.testing.loopback import serving

STEPS = 5
TEMPLATE = (
    "{% for m in messages %}{{ m.role }}:{{ m.content }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def main() -> None:
    """Plays, and trains a few steps on each kind of row."""
    random.seed(1)
    with serving(app) as url:
        played = list(collect(url, varied, seeds=[*range(12)] * 4))
    tokenizer = of_bytes()
    common = {
        "max_steps": STEPS,
        "per_device_train_batch_size": 4,
        "report_to": [],
        "use_cpu": True,
        "save_strategy": "no",
        "disable_tqdm": True,
        "output_dir": tempfile.mkdtemp(prefix="rows-"),
    }
    supervised = SFTTrainer(
        tiny(tokenizer),
        SFTConfig(**common),
        train_dataset=to_dataset(sft_rows(played)),
        processing_class=tokenizer,
    )
    told("SFTTrainer", supervised)
    preferring = DPOTrainer(
        tiny(tokenizer),
        ref_model=tiny(tokenizer),
        args=DPOConfig(**common),
        train_dataset=to_dataset(preference_rows(played)),
        processing_class=tokenizer,
    )
    told("DPOTrainer", preferring)


def varied(seen: dict[str, Any]) -> dict[str, str]:
    """Plays a seed in different ways."""
    return {"move": random.choice(["hit", "stand"])}


def of_bytes() -> PreTrainedTokenizerFast:
    """A tokenizer of bytes."""
    letters = ["<pad>", "<eos>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made = Tokenizer(models.BPE(vocab={each: i for i, each in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A model of one layer."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def told(name: str, trainer: Any) -> None:
    """Trains, and says on how much."""
    rows, done = len(trainer.train_dataset), trainer.train()
    assert done.global_step == STEPS, done
    assert done.training_loss > 0, done
    loss = f"loss {done.training_loss:.3f}"
    sys.stdout.write(f"rows {name} (trl {version('trl')}): {rows} rows, {STEPS} steps, {loss}\n")


if __name__ == "__main__":
    main()
