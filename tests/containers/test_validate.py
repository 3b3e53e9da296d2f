"""`openenv validate` of an image, in a real container."""

import pytest

from openenv.validation import validate


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("nothing_left")
def test_an_image_is_started_and_played(echo_image: str) -> None:
    report = validate(f"image:{echo_image}")
    doubts = {r.check_id: r.status.value for r in report.results if r.status.value != "pass"}
    assert doubts == {}
    assert report.not_applicable["static.manifest"] == "only a package's directory has these files"
    assert {result.check_id for result in report.results} >= {
        "runtime.capacity",
        "runtime.hostile_frames",
        "semantic.replayability",
    }
