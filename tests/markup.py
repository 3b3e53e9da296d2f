"""HTML taken apart, and what a page that is shown in a frame must not have in it."""

from html.parser import HTMLParser
from typing import Any

VOID = {"img", "br", "hr"}
NEVER = {"script", "iframe", "object", "embed", "link", "meta", "base", "form"}
SOURCES = {"src", "href", "action", "srcset", "xlink:href"}


class Markup(HTMLParser):
    """What is in a piece of HTML, which is well-formed and runs and fetches nothing.

    Attributes:
        tags: the elements' names in their order.
        words: the text that is read, without styles.
        labels: what pictures and regions are for those who do not see them.
        classes: the classes of every element that has some.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.labels: list[str] = []
        self.classes: list[str] = []
        self._open: list[str] = []
        self._text: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"not closed: {self._open}"

    @property
    def words(self) -> str:
        """The text that is read."""
        return " ".join(" ".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        assert tag not in NEVER, f"<{tag}>"
        assert len(known) == len(attrs), f"an attribute twice in <{tag}>"
        for name, value in known.items():
            assert not name.startswith("on"), f"{name} in <{tag}>"
            assert name not in SOURCES or (value or "").startswith("data:image/"), f"{name}={value}"
        self.tags.append(tag)
        self.labels += [known[name] or "" for name in ("aria-label", "alt") if name in known]
        self.classes += [known["class"] or ""] if "class" in known else []
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            assert "url(" not in data and "@import" not in data
        else:
            self._text.append(data)


def view_of(environment: Any, observation: Any) -> Markup:
    """How an environment shows an observation, as its server asks for it."""
    return Markup(environment.render_web(observation.model_dump(mode="json")))


def buttons_of(environment: Any, observation: Any) -> list[Any]:
    """What an environment offers to do after an observation."""
    buttons: list[Any] = environment.web_actions(observation.model_dump(mode="json"))
    return buttons
