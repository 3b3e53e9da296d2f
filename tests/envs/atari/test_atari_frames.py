"""Frames: what is in them, and how they travel."""

import base64
import json
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ale_py", reason="pip install -e 'envs/atari_env[dev]'")

import ale_py
from websockets.sync.client import connect

from atari_env import AtariAction, AtariEnv, AtariObservation, games
from atari_env.png import png
from atari_env.server import AtariEnvironment
from openenv import GenericEnvClient, create_app
from openenv.testing import serving
from tests.markup import Markup

SHAPES = {"rgb": [210, 160, 3], "grayscale": [210, 160], "ram": [128]}
RIGHT = 2


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server in this process."""
    app = create_app(AtariEnvironment, AtariAction, AtariObservation, env_name="atari_env")
    with serving(app) as address:
        yield address


def _straight_from_the_emulator(kind: str, steps: int) -> np.ndarray[Any, Any]:
    """What Breakout shows after some steps to the right, without any of our code."""
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(games.path_of("breakout"))
    ale.reset_game()
    move = ale.getMinimalActionSet()[RIGHT]
    for _ in range(steps * 4):
        ale.act(move)
    read = {"rgb": ale.getScreenRGB, "grayscale": ale.getScreenGrayscale, "ram": ale.getRAM}
    pixels: np.ndarray[Any, Any] = read[kind]()
    return pixels


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("form", ["list", "tensor"])
def test_the_typed_client_has_an_array(url: str, kind: str, form: str) -> None:
    with AtariEnv(base_url=url).sync() as env:
        env.reset(seed=1, game_name="breakout", obs_type=kind, obs_format=form)
        for _ in range(5):
            seen = env.step(AtariAction(action_id=RIGHT)).observation
    assert seen.screen_shape == SHAPES[kind]
    assert seen.pixels.dtype == np.uint8
    np.testing.assert_array_equal(seen.pixels, _straight_from_the_emulator(kind, 5))
    filled, empty = (seen.screen, seen.frame) if form == "list" else (seen.frame, seen.screen)
    assert filled.size == seen.pixels.size
    assert empty.size == 0


@pytest.mark.parametrize("kind", SHAPES)
def test_a_client_that_knows_json_alone_has_a_list_of_ints(url: str, kind: str) -> None:
    options = {"seed": 1, "game_name": "breakout", "obs_type": kind}
    with connect(url.replace("http", "ws") + "/ws", max_size=None) as socket:
        replies = []
        for message in (
            {"type": "reset", "data": options},
            {"type": "step", "data": {"action_id": RIGHT}},
        ):
            socket.send(json.dumps(message))
            replies.append(json.loads(socket.recv())["data"])
    seen = replies[1]["observation"]
    assert {type(number) for number in seen["screen"]} == {int}
    assert seen["screen_shape"] == SHAPES[kind]
    expected = _straight_from_the_emulator(kind, 1)
    assert seen["screen"] == expected.ravel().tolist()
    assert replies[1]["reward"] == 0.0
    assert seen["metadata"]["action_meanings"][RIGHT] == "Action.RIGHT"


@pytest.mark.parametrize("form", ["list", "tensor", "png"])
def test_every_protocol_carries_the_same(url: str, form: str) -> None:
    answers = []
    for protocols in ("v1", "v2+json", "v2+msgpack"):
        with AtariEnv(base_url=url, protocol=protocols).sync() as env:
            env.reset(seed=3, game_name="breakout", obs_format=form)
            answers.append(env.step(AtariAction(action_id=1)).observation)
    assert answers[0] == answers[1] == answers[2]


def test_a_client_of_no_types_reads_it_too(url: str) -> None:
    with GenericEnvClient(url) as env:
        seen = env.reset(seed=1, obs_type="ram").observation
        assert np.asarray(seen["screen"], np.uint8).shape == (128,)


def test_frames_of_the_past_stay_as_they_were() -> None:
    environment = AtariEnvironment("breakout")
    first = environment.reset(seed=1)
    kept = first.screen.copy()
    for _ in range(20):
        environment.step(AtariAction(action_id=1))
    np.testing.assert_array_equal(first.screen, kept)


@pytest.mark.parametrize("kind", ["rgb", "grayscale"])
def test_a_png_file_shows_the_screen(kind: str) -> None:
    environment = AtariEnvironment("breakout", obs_type=kind, obs_format="png")
    environment.reset(seed=1)
    for _ in range(5):
        seen = environment.step(AtariAction(action_id=RIGHT))
    expected = _straight_from_the_emulator(kind, 5)
    np.testing.assert_array_equal(_read_png(seen.png).reshape(expected.shape), expected)
    assert (seen.screen.size, seen.frame.size, seen.screen_shape) == (0, 0, SHAPES[kind])
    assert len(seen.png) < 5000
    with pytest.raises(ValueError, match="png"):
        _ = seen.pixels


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1, 1, 3), (5, 7, 3), (250, 160, 3)])
def test_pngs_of_every_size(shape: tuple[int, ...]) -> None:
    frame = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    np.testing.assert_array_equal(_read_png(png(frame)).reshape(shape), frame)


def _read_png(file: bytes) -> np.ndarray[Any, Any]:
    """The numbers in a PNG file without filters, whose checksums are right."""
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, rest = {}, file[8:]
    while rest:
        length = int.from_bytes(rest[:4], "big")
        name, content = rest[4:8], rest[8 : 8 + length]
        assert zlib.crc32(name + content) == int.from_bytes(rest[8 + length : 12 + length], "big")
        chunks[name] = content
        rest = rest[12 + length :]
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, kind = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, chunks[b"IHDR"][10:]) == (8, b"\0\0\0")
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert lines.shape[1] == 1 + width * {0: 1, 2: 3}[kind]
    assert not lines[:, 0].any()
    return lines[:, 1:]


def test_a_page_shows_the_screen_and_the_joystick() -> None:
    environment = AtariEnvironment("space_invaders", obs_type="ram")
    seen = environment.reset(seed=1)
    plain = seen.model_dump(mode="json")
    html = environment.render_web(plain)
    image = re.search(r'src="data:image/png;base64,([^"]+)"', html)
    assert image and _read_png(base64.b64decode(image[1])).shape == (210, 480)
    shown = Markup(html)
    assert shown.labels == ["The screen of Space Invaders: score 0, lives 3"]
    assert shown.words == "Game Space Invaders Score 0 Lives 3 Frame 0"
    assert environment.web_actions(plain) == [
        ("NOOP", {"action_id": 0}, "."),
        ("FIRE", {"action_id": 1}, " "),
        ("RIGHT", {"action_id": 2}, "ArrowRight"),
        ("LEFT", {"action_id": 3}, "ArrowLeft"),
        ("RIGHTFIRE", {"action_id": 4}),
        ("LEFTFIRE", {"action_id": 5}),
    ]
