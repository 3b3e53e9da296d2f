"""What every environment keeps to: seeds, sessions, ends, and nothing left behind."""

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from openenv import GenericEnvClient, errors
from openenv.env.spec import EnvSpec
from openenv.testing import check_environment
from openenv.validation.footprint import CAN_MEASURE, footprint, still_footprint
from tests.envs.case import Case, Json, cases, required
from tests.envs.conftest import SESSIONS
from tests.envs.playing import begin, digest, episode, outcome, player, seen, still, turns
from tests.markup import Markup
from tests.serving import Served, eventually

ROOT = Path(__file__).parents[2]
FEW = 8
"""Steps of an episode where many are played."""
SEEDS = (1, 2, 3)
PLAN_SEED = 7
MOST_BUTTONS = 100


@pytest.fixture(scope="module")
def alone(case: Case) -> list[list[Json]]:
    """The episodes of as many seeds as there are sessions, each played alone."""
    episodes = []
    for seed in range(SESSIONS):
        with player(case) as client:
            episodes.append(episode(client, case, seed, FEW))
    return episodes


@pytest.mark.parametrize("known", cases(), ids=lambda case: case.package)
def test_its_engine_is_here(known: Case) -> None:
    if (missing := known.missing()) is not None:
        (pytest.fail if required() else pytest.skip)(f"NOT TESTED: {missing}")


# --- promises -----------------------------------------------------------------------------------


@pytest.mark.timeout(120)
def test_it_keeps_its_promises(case: Case) -> None:
    check_environment(
        case.environment_class,
        actions=_legal_actions(case, 16),
        reward_range=case.reward_range,
        seed=PLAN_SEED,
        **case.reset,
    )


def _legal_actions(case: Case, count: int) -> list[Json]:
    """Actions that are legal where each end is followed by a reset with the next seed."""
    actions: list[Json] = []
    with player(case) as client:
        for seed in range(PLAN_SEED, PLAN_SEED + count):
            played = turns(client, case, seed, count - len(actions))
            actions += [action for action, _ in list(played)[1:]]
    return actions


def test_it_says_what_a_language_model_needs(case: Case) -> None:
    with player(case) as client:
        texts = [observation[case.text] for observation in episode(client, case, 1, FEW)]
    assert all(isinstance(text, str) for text in texts)
    assert any(texts)


@pytest.mark.timeout(60)
def test_a_page_can_draw_it(case: Case) -> None:
    environment, action_class = case.environment_class(), EnvSpec.of(case.environment_class).action
    chance = random.Random(1)
    try:
        observation = environment.reset(seed=1, **case.reset)
        for _ in range(FEW):
            plain = observation.model_dump(mode="json")
            shown = Markup(environment.render_web(plain))
            assert shown.words or shown.labels
            _check_buttons(environment.web_actions(plain), action_class)
            if observation.done:
                break
            observation = environment.step(action_class(**case.policy(plain, chance)))
    finally:
        environment.close()


def _check_buttons(buttons: list[Any], action_class: Any) -> None:
    """Few enough to choose from, told apart by label and key, each an action that can be sent."""
    assert len(buttons) <= MOST_BUTTONS
    labels = [label for label, *_ in buttons]
    keys = [key for _, _, *rest in buttons for key in rest]
    assert len(set(labels)) == len(labels) and len(set(keys)) == len(keys)
    for _, action, *_ in buttons:
        action_class.model_validate_json(json.dumps(action))


def test_a_page_of_it_escapes_what_it_is_told(case: Case) -> None:
    environment = case.environment_class()
    hostile = '<script>alert("\'")</script>'
    try:
        plain = environment.reset(seed=1, **case.reset).model_dump(mode="json")
        texts = {name: hostile for name, value in plain.items() if type(value) is str}
        told = {**plain, **texts, "text": f"Refused: {hostile}"}
        shown = Markup(environment.render_web(told))
        assert hostile in shown.words
    finally:
        environment.close()


# --- seeds --------------------------------------------------------------------------------------


@pytest.mark.timeout(120)
def test_a_seed_gives_the_same_episode_in_every_process(case: Case) -> None:
    command = [sys.executable, "-m", "tests.envs.playing", case.package, *map(str, SEEDS)]
    runs = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for hash_seed in ("1", "2", "1", "2")
    ]
    answers = [run.communicate(timeout=100) for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, answers
    assert len({said for said, _ in answers}) == 1
    assert len(answers[0][0].split()) == len(SEEDS)


def test_whether_the_seed_matters(case: Case, alone: list[list[Json]]) -> None:
    with player(case) as client:
        begun = {digest([outcome(begin(client, case, seed=seed))]) for seed in range(SESSIONS)}
    if case.chance:
        assert len(begun | set(map(digest, alone))) > 1
    else:
        assert len(begun) == 1


def test_a_reset_without_a_seed_goes_on_with_the_sequence(case: Case) -> None:
    if not case.chance:
        pytest.skip("it leaves nothing to chance")
    with player(case) as client:
        first = [begin(client, case, **options) for options in ({"seed": 5}, {}, {})]
    with player(case) as client:
        again = [begin(client, case, **options) for options in ({"seed": 5}, {}, {})]
        seeds = [observation["metadata"]["seed"] for observation in first]
        assert list(map(outcome, again)) == list(map(outcome, first))
        assert [observation["metadata"]["seed"] for observation in again] == seeds
        assert seeds[0] == 5
        assert len(set(seeds)) == 3
        assert outcome(begin(client, case, seed=seeds[2])) == outcome(first[2])


def test_it_leaves_the_global_generators_alone(case: Case) -> None:
    before = _global_generators()
    with player(case) as client:
        episode(client, case, 1, FEW)
    assert _global_generators() == before


def _global_generators() -> list[Any]:
    numpy: Any = sys.modules.get("numpy")
    rest = [] if numpy is None else [str(numpy.random.get_state())]
    return [random.getstate(), *rest]


# --- sessions -----------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_sessions_in_turn_go_as_each_goes_alone(case: Case, alone: list[list[Json]]) -> None:
    clients = [player(case) for _ in range(SESSIONS)]
    try:
        plays = [turns(client, case, seed, FEW) for seed, client in enumerate(clients)]
        rounds = zip_longest(*plays)
        together = [[turn for turn in side if turn] for side in zip(*rounds, strict=True)]
    finally:
        for client in clients:
            client.close()
    assert [[outcome(observation) for _, observation in each] for each in together] == alone


@pytest.mark.timeout(120)
def test_sessions_at_once_go_as_each_goes_alone(
    case: Case, served: Served, alone: list[list[Json]]
) -> None:
    def play(seed: int) -> list[Json]:
        url = f"http://127.0.0.1:{served.port}"
        with GenericEnvClient(base_url=url, wait_s=60).sync() as client:
            return episode(client, case, seed, FEW)

    with ThreadPoolExecutor(SESSIONS) as threads:
        assert list(threads.map(play, range(SESSIONS))) == alone
    eventually(lambda: served.active() == 0)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("protocol", ["v1", "v2+json", "v2+msgpack"])
def test_it_is_the_same_over_every_protocol(
    case: Case, served: Served, protocol: str, alone: list[list[Json]]
) -> None:
    url = f"http://127.0.0.1:{served.port}"
    with GenericEnvClient(base_url=url, protocol=protocol).sync() as client:
        assert episode(client, case, 1, FEW) == alone[1]


@pytest.mark.timeout(60)
def test_the_typed_client_reads_what_the_environment_wrote(
    case: Case, served: Served, alone: list[list[Json]]
) -> None:
    action_class = EnvSpec.of(case.environment_class).action
    with player(case) as local, case.client_class(f"http://127.0.0.1:{served.port}").sync() as far:
        for action, expected in turns(local, case, 1, FEW):
            if action:
                result = far.step(action_class.model_validate(action))
            else:
                result = far.reset(seed=1, **case.reset)
            typed = result.observation.model_dump(mode="json")
            assert (result.reward, result.done) == (typed["reward"], typed["done"])
            assert {**typed, "truncated": result.truncated, "metadata": {}} == {
                **expected,
                "metadata": {},
            }
        assert far.state().step_count == local.state()["step_count"]


def test_the_state_names_the_episode(case: Case) -> None:
    with player(case) as client:
        begin(client, case, seed=1, episode_id="the first")
        assert client.state()["episode_id"] == "the first"
        begin(client, case, seed=1)
        assert client.state()["episode_id"] not in (None, "", "the first")
        assert client.state()["step_count"] == 0


# --- before, after, and what is left ------------------------------------------------------------


def test_a_step_before_the_first_reset(case: Case) -> None:
    with player(case) as client:
        action = case.policy(begin(client, case, seed=1), random.Random(0))
    with player(case) as client:
        if case.needs_reset:
            with pytest.raises(errors.ResetRequired, match="reset"):
                client.step(action)
        else:
            client.step(action)
        assert seen(client.reset(seed=1, **case.reset))["done"] is False


@pytest.mark.timeout(60)
def test_a_step_after_the_end_changes_nothing(case: Case) -> None:
    with player(case) as client:
        action, end = list(turns(client, case, 1, case.steps))[-1]
        if not end["done"]:
            pytest.skip(f"no episode ends within {case.steps} steps")
        before = client.state()
        after = seen(client.step(action))
        assert after["done"] is True
        assert after["reward"] == 0.0
        assert after["metadata"]["error"]
        assert still(after) == still(end)
        assert client.state() == before
        assert begin(client, case, seed=1)["done"] is False


@pytest.mark.timeout(60)
@pytest.mark.skipif(not CAN_MEASURE, reason="only Linux tells what a process holds")
def test_nothing_is_left_of_a_closed_session(case: Case) -> None:
    def play() -> None:
        with player(case) as client:
            episode(client, case, 1, 3)

    play()
    before = still_footprint(os.getpid())
    for _ in range(4):
        play()

    def is_as_before() -> bool:
        now = footprint(os.getpid())
        held = ("processes", "threads", "files")
        return all(getattr(now, name) <= getattr(before, name) for name in held)

    eventually(is_as_before)


def test_a_client_needs_no_engine(case: Case) -> None:
    engine = [*case.needs, "fastapi", "starlette", "uvicorn"]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({engine!r}))\n"
        "from pkgutil import resolve_name\n"
        f"resolve_name({case.client!r})\n"
        f"sys.modules.update(dict.fromkeys({list(case.needs)!r}))\n"
        f"try: resolve_name({case.environment!r})().reset()\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=20
    )
    assert run.returncode == 0, run.stderr
    if case.needs:
        assert f"pip install '{case.distribution}[" in run.stdout
