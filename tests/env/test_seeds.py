"""Seeds of episodes."""

import subprocess
import sys

from openenv import Seeds


def test_a_seed_that_is_given_is_the_episode_s() -> None:
    assert [Seeds().next(seed) for seed in (0, 7, 2**70)] == [0, 7, 2**70]


def test_a_given_seed_settles_those_after_it() -> None:
    one, other = Seeds(), Seeds()
    one.next(), one.next()
    one.next(7), other.next(7)
    run = [one.next() for _ in range(5)]
    assert run == [other.next() for _ in range(5)]
    assert len(set(run)) == 5
    assert all(0 <= seed < 2**31 for seed in run)
    other.next(8)
    assert [other.next() for _ in range(5)] != run


def test_nobody_chooses_the_first() -> None:
    assert len({Seeds().next() for _ in range(4)}) > 1


def test_they_are_the_same_in_every_process() -> None:
    code = "from openenv import Seeds; seeds = Seeds(); seeds.next(7); print(seeds.next())"
    seeds = Seeds()
    seeds.next(7)
    expected = seeds.next()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        )
        assert int(done.stdout) == expected
