"""What can be asked for, and what cannot."""

import pytest

from openenv.protocol.errors import ProviderError
from openenv.providers import Launch, Resources
from openenv.providers.container_options import ContainerOptions, limits, variables, words


def test_a_launch_shows_no_values() -> None:
    assert "hunter2" not in repr(Launch(image="i", env_vars={"KEY": "hunter2"}))


@pytest.mark.parametrize("image", ["--help", "-v/:/host"])
def test_an_image_is_no_option_of_the_engine(image: str) -> None:
    with pytest.raises(ProviderError, match="no image is named"):
        Launch(image=image)


def test_limits() -> None:
    assert limits(Resources()) == ["--memory=2g", "--memory-swap=2g", "--pids-limit=512"]
    assert limits(Resources(memory=None, cpus=1.5, pids=None)) == ["--cpus=1.5"]


def test_values_stay_off_the_command_line() -> None:
    arguments, passed = variables({"TOKEN": "a", "PATH": "/b", "DOCKER_HOST": "c", "no_proxy": "d"})
    assert arguments == ["--env=PATH=/b", "--env=DOCKER_HOST=c", "--env=no_proxy=d", "--env=TOKEN"]
    assert passed == {"TOKEN": "a"}


def test_what_only_begins_like_a_variable_of_the_engine_stays_off_it_too() -> None:
    given = {"GOOGLE_API_KEY": "a", "GODADDY_SECRET": "b", "HOMEPAGE_TOKEN": "c"}
    arguments, passed = variables({**given, "GOMAXPROCS": "1"})
    assert arguments[0] == "--env=GOMAXPROCS=1"
    assert passed == given


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"colour": 1}, "no option colour; its options are cap_add, command, container_port"),
        ({"network": "none"}, "publishes no port"),
        ({"volumes": ["/a"]}, "volumes are like"),
        ({"pull": "sometimes"}, "missing, always or never"),
    ],
)
def test_options_that_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(ProviderError, match=told):
        ContainerOptions.of(options)


def test_an_unknown_option_is_a_wrong_argument() -> None:
    with pytest.raises(ValueError, match="no option"):
        ContainerOptions.of({"colour": 1})


@pytest.mark.parametrize("command", ["python -c 'a b'", ["python", "-c", "a b"]])
def test_a_command_is_words_or_a_line(command: str | list[str]) -> None:
    assert words(command) == ["python", "-c", "a b"]


def test_options_become_arguments() -> None:
    options = ContainerOptions.of(
        {
            "read_only": True,
            "user": "1:1",
            "runtime": "runsc",
            "volumes": {"/a": "/b:ro"},
            "cap_add": ["CHOWN"],
        }
    )
    assert options.arguments() == [
        *("--user=1:1", "--runtime=runsc", "--read-only", "--tmpfs=/tmp"),
        *("--volume=/a:/b:ro", "--cap-add=CHOWN"),
    ]
