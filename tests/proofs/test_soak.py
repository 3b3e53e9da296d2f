"""The soak itself works: a few seconds of it, which say nothing about growth."""

from tests.proofs.soak import soak


def test_clients_of_every_kind_leave_nothing_behind() -> None:
    outcome = soak(4)
    assert outcome.left == [], outcome.table()
    assert "server rss_mb" in outcome.table()
