"""Questions, answers, scores, sequences, and what may not be told too early."""

import json
import os
import random
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("reasoning_gym", reason="pip install -e 'envs/reasoning_gym_env[dev]'")

import numpy as np
import reasoning_gym  # type: ignore[import-not-found, import-untyped, unused-ignore]

from openenv import InvalidRequest, create_app, errors
from openenv.runtime.confine.keeper import children
from openenv.testing import serving
from reasoning_gym_env import ReasoningGymAction, ReasoningGymEnv, ReasoningGymObservation
from reasoning_gym_env.server import ReasoningGymEnvironment, guard
from reasoning_gym_env.server.options import ReasoningGymOptions
from reasoning_gym_env.server.patience import within
from reasoning_gym_env.server.questions import Question, names, plain
from tests.markup import view_of

QUICK = [
    "ab",
    "base_conversion",
    "caesar_cipher",
    "coin_flip",
    "gcd",
    "maze",
    "n_queens",
    "tsumego",
]


def reply(env: ReasoningGymEnvironment, answer: str) -> ReasoningGymObservation:
    """One step."""
    return env.step(ReasoningGymAction(answer=answer))


def test_a_right_answer_pays_one() -> None:
    env = ReasoningGymEnvironment()
    asked = env.reset()
    assert (asked.reward, asked.done, asked.score) == (0.0, False, None)
    assert asked.question and asked.text == asked.question
    entry = reasoning_gym.create_dataset("leg_counting", seed=42, size=1000)[0]
    assert asked.question == entry["question"]
    seen = reply(env, entry["answer"])
    assert (seen.reward, seen.score, seen.done) == (1.0, 1.0, True)
    assert seen.correct_answer == entry["answer"]
    assert seen.dataset_metadata == plain(entry["metadata"])
    assert seen.text.endswith(f"score 1, answer {entry['answer']}")


def test_a_wrong_answer_pays_nothing() -> None:
    env = ReasoningGymEnvironment()
    env.reset()
    seen = reply(env, "none")
    assert (seen.reward, seen.score, seen.done) == (0.0, 0.0, True)
    assert "error" not in seen.metadata


def test_an_answer_in_part_pays_in_part() -> None:
    env = ReasoningGymEnvironment()
    env.reset()
    seen = reply(env, f"It is {Question(ReasoningGymOptions(), 42).answer}.")
    assert seen.reward == seen.score
    assert 0 < (seen.reward or 0) < 1


def test_an_answer_that_a_scorer_fails_at_is_worth_nothing() -> None:
    env = ReasoningGymEnvironment(dataset_name="prime_factorization")
    env.reset(seed=1)
    seen = reply(env, "abc")
    assert (seen.reward, seen.score, seen.done) == (0.0, 0.0, True)
    assert "ValueError" in seen.metadata["error"]
    assert seen.text.startswith(f"Refused: {seen.metadata['error']}\n")
    assert seen.correct_answer


def test_the_answer_is_hidden_until_it_is_given() -> None:
    env = ReasoningGymEnvironment(dataset_name="caesar_cipher")
    for seed in range(10):
        answer = Question(ReasoningGymOptions(dataset_name="caesar_cipher"), seed).answer
        asked = env.reset(seed=seed)
        assert (asked.correct_answer, asked.dataset_metadata) == (None, None)
        everything = (
            asked.model_dump_json() + env.state.model_dump_json() + str(view_of(env, asked).words)
        )
        assert answer and answer not in everything
        assert answer in reply(env, "?").model_dump_json()
        assert answer not in env.state.model_dump_json()


def test_a_page_shows_the_question_and_what_became_of_it() -> None:
    env = ReasoningGymEnvironment(size=5)
    asked = env.reset()
    assert "Question 1 of 5" in view_of(env, asked).words
    answered = reply(env, "<many>")
    words = view_of(env, answered).words
    assert "Score 0 " in words and "Your answer <many>" in words
    assert words.endswith(f"A right answer {answered.correct_answer}")
    assert "Your answer" not in view_of(env, env.reset()).words


def test_a_second_answer_changes_nothing() -> None:
    env = ReasoningGymEnvironment()
    env.reset()
    first = reply(env, "wrong")
    again = reply(env, first.correct_answer or "")
    assert (again.reward, again.score, again.done) == (0.0, 0.0, True)
    assert "reset()" in again.metadata["error"]
    assert again.text == f"Refused: {again.metadata['error']}\n{first.text}"
    assert env.state.step_count == 1


def test_an_answer_before_the_first_question_is_refused() -> None:
    env = ReasoningGymEnvironment()
    with pytest.raises(errors.ResetRequired):
        reply(env, "5")
    assert env.state.dataset_name == "leg_counting"


def test_resets_go_through_the_sequence_and_around() -> None:
    env = ReasoningGymEnvironment(dataset_name="gcd", size=3, seed=10)
    asked = [env.reset() for _ in range(4)]
    assert [seen.metadata["index"] for seen in asked] == [0, 1, 2, 0]
    assert [seen.metadata["seed"] for seen in asked] == [10, 11, 12, 10]
    dataset = reasoning_gym.create_dataset("gcd", seed=10, size=3)
    assert [seen.question for seen in asked[:3]] == [entry["question"] for entry in dataset]
    assert asked[3].question == asked[0].question


def test_a_seed_counts_without_a_dataset_s_name() -> None:
    env = ReasoningGymEnvironment()
    questions = [env.reset(seed=seed).question for seed in (1, 2, 1)]
    assert questions[0] == questions[2] != questions[1]
    later = env.reset()
    assert later.metadata["seed"] == 2
    assert later.question == questions[1]


def test_a_dataset_is_kept_until_another_is_asked_for() -> None:
    env = ReasoningGymEnvironment()
    env.reset(dataset_name="gcd", dataset_config={"max_numbers": 2}, seed=5, size=10)
    assert "Greatest Common Divisor" in (env.reset().question or "")
    assert (env.state.dataset_name, env.state.index, env.state.seed) == ("gcd", 1, 6)
    same = env.reset(dataset_name="gcd", dataset_config={"max_numbers": 2})
    assert same.metadata["index"] == 2
    other = env.reset(dataset_name="lcm")
    assert (other.metadata["index"], env.state.dataset_name) == (0, "lcm")


def test_a_mixture_asks_of_all_its_datasets() -> None:
    specs = [
        {"name": "gcd", "weight": 1},
        {"name": "lcm", "weight": 1, "config": {"max_numbers": 2}},
    ]
    env = ReasoningGymEnvironment()
    env.reset(dataset_specs=specs, seed=1, size=50)
    asked = {(env.reset().question or "").split("(")[0] for _ in range(30)}
    assert len(asked) == 2
    assert env.state.dataset_name == "composite"
    assert reply(env, "5").dataset_metadata["source_dataset"] in {"gcd", "lcm"}  # type: ignore[index]


def test_options_come_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REASONING_GYM_DATASET_NAME", "gcd")
    monkeypatch.setenv("REASONING_GYM_DATASET_CONFIG", '{"max_numbers": 2}')
    monkeypatch.setenv("REASONING_GYM_SEED", "7")
    env = ReasoningGymEnvironment()
    assert env.reset().metadata["seed"] == 7
    assert env.state.dataset_name == "gcd"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"dataset_name": "leg_count"}, "leg_counting"),
        ({"dataset_name": "composite"}, "it needs some"),
        ({"dataset_name": "gcd", "dataset_specs": [{"name": "lcm"}]}, "composite"),
        ({"dataset_config": {"legs": 8}}, "legs"),
        ({"dataset_config": {"min_animals": -3}}, "min_animals"),
        ({"size": 0}, "size"),
        ({"questions": 5}, "no option 'questions'"),
    ],
)
def test_wrong_options_are_refused_and_the_question_stays(
    options: dict[str, Any], why: str
) -> None:
    env = ReasoningGymEnvironment()
    asked = env.reset(seed=3, episode_id="mine")
    with pytest.raises(InvalidRequest, match=why):
        env.reset(**options)
    assert env.state.episode_id == "mine"
    assert reply(env, "5").question == asked.question
    assert env.reset().metadata["seed"] == 4


@pytest.mark.parametrize("name", QUICK)
def test_a_question_follows_from_its_seed_alone(name: str) -> None:
    options = ReasoningGymOptions(dataset_name=name)
    before = random.getstate(), str(np.random.get_state(legacy=False))
    first, again = Question(options, 7), Question(options, 7)
    assert (first.text, first.answer, first.details) == (again.text, again.answer, again.details)
    assert first.answer is not None
    assert first.score(first.answer).value == 1.0
    assert (random.getstate(), str(np.random.get_state(legacy=False))) == before


@pytest.mark.parametrize("name", ["pool_matrix", "list_functions"])
def test_datasets_that_draw_from_global_generators_are_settled_too(name: str) -> None:
    options = ReasoningGymOptions(dataset_name=name)
    random.seed(1)
    first = Question(options, 7).text
    random.seed(2)
    assert Question(options, 7).text == first


@pytest.mark.parametrize("answer", ["", "\0", "\u202e", "[[1, 2", "(" * 500, "1/0", "nan", "-inf"])
def test_absurd_answers_are_scored(answer: str) -> None:
    for name in (*QUICK, "prime_factorization", "boxnet", "countdown"):
        score = Question(ReasoningGymOptions(dataset_name=name), 3).score(answer)
        assert 0.0 <= score.value <= 1.0


def test_there_are_a_hundred_datasets() -> None:
    assert len(names()) > 100


def test_details_become_json() -> None:
    details = {1: (2, {3}), "a": np.int64(4), "b": np.array([[5.0]]), "c": float("nan"), "d": len}
    assert plain(details) == {"1": [2, [3]], "a": 4, "b": [[5.0]], "c": "nan", "d": str(len)}


@pytest.mark.parametrize(
    "name", [*sorted(guard.VALUES), *sorted(guard.FORMULAS | guard.ARITHMETIC)]
)
def test_an_answer_is_not_run_as_a_program(name: str, tmp_path: Path) -> None:
    mark = tmp_path / "reached"
    opened = f"open({str(mark)!r}, 'w').write('x')"
    question = Question(ReasoningGymOptions(dataset_name=name), 1)
    for answer in (f"[{opened}]", opened, f"[[{opened}]]", f"x + {opened}", f"({opened})"):
        assert question.score(answer).value <= 0.1
    assert not mark.exists()
    assert question.answer is not None
    assert question.score(question.answer).value == 1.0


def test_a_mixture_is_guarded_as_its_datasets_are() -> None:
    options = ReasoningGymOptions().updated({"dataset_specs": [{"name": "countdown"}]})
    assert Question(options, 1).score("open(1)").error


@pytest.mark.parametrize("name", ["simple_integration", "intermediate_integration", "countdown"])
def test_right_formulas_pass(name: str) -> None:
    for seed in range(6):
        question = Question(ReasoningGymOptions(dataset_name=name), seed)
        assert question.answer is not None
        is_solved = "Integral" not in question.answer  # Reasoning Gym leaves some unsolved
        assert question.score(question.answer).value == is_solved


@pytest.mark.parametrize(
    "answer",
    [
        "x.subs",
        "2.real",
        "(1).real",
        "x . y",
        "__import__",
        "_",
        "lambda: 1",
        "[1]",
        "'a'",
        "x;y",
        "os(1)",
    ],
)
def test_what_is_no_formula_is_told(answer: str) -> None:
    assert guard.fault("countdown", answer, {})
    assert guard.fault("polynomial_multiplication", answer, {})
    assert guard.fault("gcd", answer, {}) is None


@pytest.mark.parametrize("name", ["simple_integration", "intermediate_integration"])
def test_the_question_is_no_answer(name: str) -> None:
    question = Question(ReasoningGymOptions(dataset_name=name), 1)
    integrand, variable = question.details["integrand"], question.details["variable"]
    assert question.score(f"Integral({integrand}, {variable})").value == 0.0


def test_one_answer_does_not_fit_all_questions() -> None:
    for seed in range(3):
        question = Question(ReasoningGymOptions(dataset_name="puzzle24"), seed)
        assert question.score("6 * 4 * 1 * 1").value == 0.0


@pytest.mark.parametrize("target", ["{}e0", "{}.0e0", "0x{:x}"])
def test_numbers_that_a_scorer_does_not_see_do_not_count(target: str) -> None:
    question = Question(ReasoningGymOptions(dataset_name="countdown"), 3)
    numbers = " + ".join(map(str, question.details["numbers"]))
    answer = target.format(question.details["target"])
    assert question.score(f"{answer} + 0e0 * ({numbers})").value == 0.0


@pytest.mark.parametrize("name", sorted(guard.FORMULAS | guard.ARITHMETIC))
@pytest.mark.parametrize(
    "answer",
    [
        "9**9**9",
        "1e999999999",
        "1e-999999999",
        "1.e999999999",
        "((2**999)**999)**999",
        "(2*x)**(9**9)",
        "x**(9**9**9)",
        "exp(log(9) * 9**9)",
        "E**(ln(9) * 9**9)",
        "N(2, 999999999)",
        "9" * 5000,
        "1+" * 5000 + "1",
        "(" * 5000 + ")" * 5000,
    ],
    ids=lambda text: text[:20],
)
def test_what_would_take_for_ever_is_not_computed(name: str, answer: str) -> None:
    question = Question(ReasoningGymOptions(dataset_name=name), 1)
    assert question.score(answer).value <= 0.01


def test_what_takes_for_ever_to_simplify_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reasoning_gym_env.server.questions.LONGEST_S", 0.5)
    held, had = os.listdir("/proc/self/fd"), children(os.getpid())
    question = Question(ReasoningGymOptions(dataset_name="simple_integration"), 1)
    score = question.score("sqrt(x + " * 12 + "x" + ")" * 12)
    assert score.value == 0.0
    assert "longer than 0.5 s" in str(score.error)
    assert len(os.listdir("/proc/self/fd")) == len(held)
    assert children(os.getpid()) == had


def test_work_that_fails_gives_nothing() -> None:
    assert within(20, lambda: 0.5) == 0.5
    with pytest.raises(ValueError, match="convert"):
        within(20, lambda: float("x"))


def test_work_that_catches_everything_is_ended_too() -> None:
    def stubborn() -> float:
        for _ in range(3):
            with suppress(BaseException):
                while True:
                    pass
        return 0.0

    threads = threading.active_count()
    with pytest.raises(TimeoutError):
        within(0.1, stubborn)
    assert threading.active_count() == threads


@pytest.mark.timeout(120)
def test_answers_are_scored_in_a_sandbox() -> None:
    with (
        serving(create_app(ReasoningGymEnvironment)) as url,
        ReasoningGymEnv(base_url=url).sync() as env,
        urllib.request.urlopen(f"{url}/health", timeout=10) as health,
    ):
        assert json.load(health)["isolation"]["host"] == "sandbox"
        assert env.reset(dataset_name="gcd", seed=1).observation.question
        assert env.step(ReasoningGymAction(answer="1")).done
