"""Playing environments of many kinds: what is filled in arrives, what comes back is shown."""

import re

from playwright.sync_api import expect

from blackjack_env.server import BlackJackEnvironment
from coding_env.server.coding_environment import PythonCodeActEnv
from echo_env.server.echo_environment import EchoEnvironment
from game_2048_env.server.game_2048_environment import Game2048Environment
from tests.web.conftest import Visit
from tests.web.places import served_page
from tests.web.worlds import Drawing, Painting


def test_echo_answers(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address)
        expect(visitor.status).to_have_text("not connected")
        visitor.reset()
        visitor.step(message="hello there")
        visitor.sees("hello there")
        expect(visitor.entries).to_have_count(2)


def test_the_address_without_the_page_leads_to_it(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address.removesuffix("web/"))
        assert visitor.page.url == address


def test_blackjack_is_played_by_its_buttons(visit: Visit) -> None:
    with served_page(BlackJackEnvironment) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.press("Stand")
        visitor.sees("episode over")
        visitor.is_told("The episode is over.")


def test_code_is_run_and_its_failure_shown(visit: Visit) -> None:
    with served_page(PythonCodeActEnv) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step(code="print(6 * 7)")
        visitor.sees("42")
        visitor.step(code="1 / 0")
        visitor.sees("ZeroDivisionError")


def test_a_nested_form_sends_what_it_shows(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.fill("Title", "a box")
        visitor.actions.get_by_role("radio", name="dotted").check()
        visitor.actions.get_by_role("button", name="Set Shape").click()
        visitor.choose_kind("Shape", "box")
        visitor.fill("Width", 7)
        visitor.fill("Filled", True)
        visitor.step()
        visitor.sees(re.compile("width.*7"))
        visitor.sees("dotted")
        visitor.sees(re.compile("filled.*true"))


def test_what_the_schema_forbids_is_not_sent(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step_button.click()
        title = visitor.field("Title")
        expect(title).to_have_attribute("aria-invalid", "true")
        expect(title).to_be_focused()
        expect(visitor.entries).to_have_count(1)


def test_what_only_the_environment_refuses_is_told(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step(Title="forbidden")
        visitor.is_told("nobody may draw that")
        visitor.step(Title="allowed")
        visitor.sees("allowed")


def test_faults_that_the_server_finds_are_shown_at_the_field(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.write_json('{"title": "x", "style": "wavy"}')
        visitor.step_button.click()
        expect(visitor.actions).to_contain_text(re.compile("solid.*dotted"))
        visitor.write_json('{"title": "from JSON", "points": [1, 2, 3]}')
        visitor.step()
        visitor.sees("from JSON")
        visitor.sees("reward +3")


def test_a_reset_takes_the_environments_own_options(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        visitor.reset(**{"Seed": 7, "Paper": "ruled", "Episode Id": "sheet-1"})
        visitor.sees(re.compile("seed.*7"))
        visitor.sees("ruled")
        visitor.sees("sheet-1")


def test_pictures_are_drawn(visit: Visit) -> None:
    with served_page(Painting) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step(Red=250)
        canvas = visitor.observation.locator("canvas").first
        expect(canvas).to_be_visible()
        pixel = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data]"
        assert canvas.evaluate(pixel) == [250, 0, 0, 255]
        image = visitor.observation.locator("img").first
        expect(image).to_be_visible()
        assert image.evaluate("image => image.naturalWidth") == 32


def test_the_keyboard_is_enough(visit: Visit) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address)
        keyboard = visitor.page.keyboard
        visitor.reset_button.focus()
        keyboard.press("Enter")
        visitor.sees("plain")
        visitor.field("Title").focus()
        keyboard.type("by hand")
        keyboard.press("Control+Enter")
        visitor.sees("by hand")
        expect(visitor.entries).to_have_count(2)


def test_what_was_sent_is_recalled(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.step(Message="first")
        visitor.step(Message="second")
        message = visitor.field("Message")
        message.focus()
        message.fill("")
        visitor.page.keyboard.press("ArrowUp")
        expect(message).to_have_value("second")
        visitor.page.keyboard.press("ArrowUp")
        expect(message).to_have_value("first")


def test_2048_is_played_by_its_keys(visit: Visit) -> None:
    with served_page(Game2048Environment) as address:
        visitor = visit(address)
        visitor.reset(Seed=1)
        move = next(move for move in ("Left", "Down", "Right", "Up") if visitor.may(move))
        visitor.page.locator("h1").click()
        visitor.press_key(f"Arrow{move}")
        expect(visitor.entries.last).to_contain_text(move.lower())
        visitor.observation.frame_locator("iframe").locator("body").click()
        again = next(move for move in ("Left", "Down", "Right", "Up") if visitor.may(move))
        visitor.press_key(f"Arrow{again}")
        expect(visitor.entries).to_have_count(3)
        visitor.actions.get_by_label("Play by keys").uncheck()
        visitor.page.locator("h1").click()
        visitor.page.keyboard.press("ArrowDown")
        visitor.press("up|right|down|left")
        expect(visitor.entries).to_have_count(4)


def test_a_tool_is_called_from_its_own_form(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.open_tab("Tools")
        visitor.fill("Message", "by a tool")
        visitor.call("echo_message")
        visitor.sees("by a tool")


def test_what_is_said_in_the_chat_is_answered(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address)
        visitor.reset()
        visitor.open_tab("Chat")
        box = visitor.field("Say something")
        box.fill("how are you")
        box.press("Enter")
        visitor.sees("how are you")
        expect(visitor.entries).to_have_count(2)
