"""Where an episode stands."""

import pytest

from openenv.protocol.episode import Episode, Phase
from openenv.protocol.errors import ResetRequired


def test_an_episode_from_beginning_to_end_and_the_next() -> None:
    episode = Episode()
    seen = [episode.phase]
    for _ in range(2):
        episode.began()
        seen.append(episode.phase)
        episode.stepped(done=False)
        seen.append(episode.phase)
        episode.stepped(done=True)
        seen.append(episode.phase)
    turn = [Phase.RUNNING, Phase.RUNNING, Phase.OVER]
    assert seen == [Phase.NEW, *turn, *turn]


def test_steps_are_counted_from_the_last_reset() -> None:
    episode = Episode()
    episode.began()
    episode.stepped(done=False)
    episode.stepped(done=True)
    assert episode.step_count == 2
    episode.began()
    assert episode.step_count == 0


def test_a_reset_in_the_middle_begins_anew() -> None:
    episode = Episode()
    episode.began()
    episode.stepped(done=False)
    episode.began()
    assert (episode.phase, episode.step_count) == (Phase.RUNNING, 0)


def test_steps_without_an_episode_are_refused() -> None:
    episode = Episode()
    with pytest.raises(ResetRequired, match="before reset"):
        episode.require_running()
    episode.began()
    episode.require_running()
    episode.stepped(done=True)
    with pytest.raises(ResetRequired, match="ended after 1 step;"):
        episode.require_running()


def test_an_environment_may_take_steps_at_any_time() -> None:
    episode = Episode()
    episode.stepped(done=False)
    assert (episode.phase, episode.step_count) == (Phase.RUNNING, 1)
    episode.stepped(done=True)
    episode.stepped(done=True)
    assert (episode.phase, episode.step_count) == (Phase.OVER, 3)
