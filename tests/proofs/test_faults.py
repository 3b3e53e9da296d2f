"""A short run of the proof of exactly once; `make faults` is the long one."""

from tests.proofs.faults import prove


def test_no_step_is_lost_or_repeated_on_a_bad_network() -> None:
    outcome = prove(300)
    assert outcome.faults == [], [outcome.table(), *outcome.book.examples]
