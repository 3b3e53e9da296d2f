"""GRPO on BlackJack, as a user runs it: what it learns, and what it survives."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from blackjack_env.exact import Situation, evaluate
from blackjack_env.policies import always_stand
from blackjack_env.server import BlackJackEnvironment

torch: Any = pytest.importorskip("torch")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TRAIN = EXAMPLES / "grpo_blackjack" / "train.py"
SMALL = [
    *("steps=6", "groups=16", "evaluation.every=1", "evaluation.games=64"),
    *("checkpoint.every=2", "ref_model.beta=0.01", "blackjack_env.sessions=32"),
]
EITHER = (0, 1)  # so few games need not have taught it anything
ANSWER_S = 120

pytestmark = pytest.mark.timeout(300)


@contextmanager
def training(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The example as a process."""
    command = [sys.executable, "-u", str(TRAIN), "--output", str(folder), *options]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=alone
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(folder: Path, *options: str, codes: Sequence[int] = (0,)) -> str:
    """What a whole run prints."""
    with training(folder, *options) as process:
        output, _ = process.communicate(timeout=ANSWER_S)
    assert process.returncode in codes, output
    return output


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """What the process prints up to a line with that text."""
    assert process.stdout is not None
    output = ""
    for line in process.stdout:
        output += line
        if text in line:
            return output
    raise AssertionError(output)


def server_of(output: str) -> int:
    """The last server's process id."""
    return int(re.findall(r"server: process (\d+)", output)[-1])


def assert_gone(pid: int) -> None:
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def learned(folder: Path) -> dict[str, Any]:
    """What a run has come to, without what may depend on the machine's mood."""
    state = torch.load(folder / "checkpoint.pt", weights_only=True)
    progress = state["progress"]
    del progress["seconds"], progress["interrupted"]
    return {"trainer": state["trainer"], "progress": progress}


def assert_same(one: Any, other: Any) -> None:
    """Equal to the last bit."""
    if isinstance(one, Mapping):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other


class Parts:
    """The example's modules, by name."""

    def __getattr__(self, name: str) -> Any:
        return import_module(f"grpo_blackjack.{name}")


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    monkeypatch.syspath_prepend(EXAMPLES)
    return Parts()


def save_model(transformers: Any, folder: Path, *, chat: bool) -> None:
    """A language model of random weights: with a chat template, or counting its places."""
    made = transformers.Qwen2Tokenizer if chat else transformers.GPT2Tokenizer
    texts = ["hit stand you hard soft dealer act 1 2 3 4 5 6 7 8 9 10"]
    tokenizer = made().train_new_from_iterator(
        texts, 300, new_special_tokens=["<end>"], show_progress=False
    )
    tokenizer.eos_token = "<end>"
    if chat:
        tokenizer.chat_template = "{{ messages[0].content }}<end>assistant:"
        shape = transformers.Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
        model = transformers.Qwen2ForCausalLM(shape)
    else:
        shape = transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=32,
            n_layer=2,
            n_head=4,
            n_positions=512,
        )
        model = transformers.GPT2LMHeadModel(shape)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the small run comes to if nothing happens."""
    folder: Path = tmp_path_factory.mktemp("undisturbed")
    finished(folder, *SMALL, codes=EITHER)
    return learned(folder)


def test_it_learns_and_leaves_nothing_behind(tmp_path: Path) -> None:
    output = finished(tmp_path, "--smoke")
    assert_gone(server_of(output))
    figures = json.loads((tmp_path / "summary.json").read_text())
    assert figures["start_ev"] < -0.25 < figures["end_ev"], output
    assert figures["games"] == 16 * 64 * 8
    assert abs(figures["played"]["mean"] - figures["points"][-1]["ev"]) < 0.2, output
    assert re.search(
        r"\| `you (hard|soft) \d+ dealer \d+ act` \| [\d. |]+ \| (hit|stand) \|",
        (tmp_path / "transcript.md").read_text(),
    )
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert not list(tmp_path.glob("*.part"))


def test_killed_servers_change_nothing(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    with training(tmp_path, *SMALL) as process:
        output = read_until(process, "step   0/")
        for _ in range(2):
            os.kill(server_of(output), signal.SIGKILL)
            output += read_until(process, "server: ") + read_until(process, "step ")
        rest, _ = process.communicate(timeout=ANSWER_S)
    assert process.returncode in EITHER, output + rest
    assert_same(learned(tmp_path), undisturbed)


def test_what_is_stopped_and_resumed_is_the_same_run(
    undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    with training(tmp_path, *SMALL) as process:
        output = read_until(process, "step   1/")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=ANSWER_S)
    assert process.returncode == 128 + signal.SIGINT, output + rest
    assert "--resume" in rest
    assert learned(tmp_path)["progress"]["step"] < 6
    finished(tmp_path, *SMALL, "--resume", codes=EITHER)
    assert_same(learned(tmp_path), undisturbed)


def test_another_run_is_not_resumed(parts: Parts, tmp_path: Path) -> None:
    """Nor one that was never begun; both are told in a line."""
    config = parts.config.read(parts.config.DEFAULT_FILE, ["steps=3"])
    folder = parts.checkpoint.Folder(tmp_path)
    trainer = parts.trainer.Trainer(config)
    with pytest.raises(parts.config.BadConfig, match="no checkpoint"):
        folder.resume(config, trainer)
    folder.save(config, trainer, parts.progress.Progress(steps=3))
    assert folder.resume(config, trainer).steps == 3
    longer = parts.config.read(parts.config.DEFAULT_FILE, ["steps=4", "output=elsewhere"])
    with pytest.raises(parts.config.BadConfig, match=r"another run: steps: 3 → 4$"):
        folder.resume(longer, trainer)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("trainer.optimizer.lr=-1", "trainer.optimizer.lr"),
        ("trainer.optimiser.lr=1", "optimiser"),
        ("stepps=3", "stepps"),
        ("seed", "key=value"),
    ],
)
def test_a_bad_line_is_named(parts: Parts, override: str, told: str) -> None:
    config = parts.config
    with pytest.raises(config.BadConfig, match=told):
        config.read(config.DEFAULT_FILE, [override])


def test_a_game_is_worth_what_it_is_worth_beside_its_group(parts: Parts) -> None:
    """One without a reward counts for nothing: it is no 0."""
    advantages = parts.reward.compute_advantages
    assert advantages([1.0, -1.0]) == pytest.approx([1.0, -1.0], abs=1e-3)
    assert advantages([1.0, None, -1.0]) == pytest.approx([1.0, None, -1.0], abs=1e-3)
    assert advantages([1.0, 1.0]) == [0.0, 0.0]
    assert advantages([None, None]) == [None, None]


def test_moves_that_are_not_legal_have_no_chance(parts: Parts) -> None:
    config = parts.config.read(parts.config.DEFAULT_FILE)
    policy = parts.trainer.make_policy(config)
    prompts = ["you hard 12 dealer 10 act", "you soft 12 dealer 1 act", "you hard 12 dealer 10 act"]
    legal = [["hit", "stand"], ["stand"], ["hit"]]
    logprobs = parts.policy.move_logprobs(policy, prompts, legal)
    assert logprobs.exp().sum(-1).tolist() == pytest.approx([1, 1, 1])
    assert logprobs.exp()[1:].tolist() == [[0, 1], [1, 0]]
    logprobs[:, 0].sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in policy.parameters())


def test_the_policy_is_measured_by_what_it_is_shown(parts: Parts) -> None:
    """The exact value asks with the very words of the environment."""
    config = parts.config.read(parts.config.DEFAULT_FILE)
    words = set(parts.policy.WORDS)
    described = set()
    for seed in range(50):
        table = BlackJackEnvironment().reset(seed=seed)
        situation = Situation(table.player_sum, table.usable_ace, table.dealer_card)
        assert parts.evaluation.describe(situation) == table.text
        assert set(table.text.split()) <= words
        described.add(table.text)
    assert len(described) > 20
    policy = parts.trainer.make_policy(config)
    assert parts.evaluation.measure(policy, 0, blind=True).ev <= evaluate(always_stand).value


@pytest.mark.parametrize("chat", [True, False])
def test_a_language_model_reads_a_batch_as_it_reads_one(
    parts: Parts, tmp_path: Path, chat: bool
) -> None:
    """Whether it counts its places or not, with a chat template and without."""
    save_model(pytest.importorskip("transformers"), tmp_path, chat=chat)
    policy = parts.pretrained.PretrainedPolicy(str(tmp_path))
    prompts = ["you hard 4 dealer 1 act", "you soft 19 dealer 10 act"]
    assert ("assistant" in policy.chat(prompts[0])) is chat
    together = policy(prompts)
    alone = torch.cat([policy([prompt]) for prompt in prompts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)
    assert together.shape == (2, 2)
    assert not torch.equal(together[0], together[1])
    parts.policy.move_logprobs(policy, prompts, [["hit", "stand"]] * 2)[:, 0].sum().backward()
    assert any(weight.grad.abs().sum() > 0 for weight in policy.parameters())


def test_a_language_model_is_trained_the_same_way(tmp_path: Path) -> None:
    save_model(pytest.importorskip("transformers"), tmp_path / "model", chat=True)
    options = [*SMALL, "steps=2", "groups=4", "--model", str(tmp_path / "model")]
    output = finished(tmp_path / "run", *options, codes=EITHER)
    points = json.loads((tmp_path / "run" / "summary.json").read_text())["points"]
    assert len({point["ev"] for point in points}) == 3, output
