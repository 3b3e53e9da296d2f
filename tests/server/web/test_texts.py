"""What people read on a page: an environment's card, its README, how to begin, its forms."""

import sys
from collections.abc import Iterator
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, field_validator, model_validator

from openenv import Action, CallToolAction, Environment, Observation
from openenv.core.env_server.serialization import deserialize_action_with_preprocessing
from openenv.core.env_server.web_interface import (
    EnvironmentMetadata,
    get_quick_start_markdown,
    load_environment_metadata,
)
from openenv.server.readme import LARGEST_BYTES
from openenv.server.web.action_fields import action_fields
from tests.server.test_card_of_package import WORLD
from tests.serving import serving

FRONT_MATTER = "---\ntitle: World\nsdk: docker\ntags:\n  - openenv\n---\n\n"
PACKAGE = "readable_env"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a manifest, and an environment in `server/`; no README anywhere."""
    folder = tmp_path / PACKAGE
    (folder / "server").mkdir(parents=True)
    for place in (folder, folder / "server"):
        (place / "__init__.py").touch()
    (folder / "server" / "world.py").write_text(WORLD)
    (folder / "openenv.yaml").write_text("name: readable_env\ndescription: A world.\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def world() -> Any:
    return import_module(f"{PACKAGE}.server.world").World


class TestReadme:
    """Where it is found, and what is shown of it."""

    def test_none_is_fine(self, package: Path) -> None:
        assert load_environment_metadata(world()) == EnvironmentMetadata(
            name="World", description="A world.", version="1.0.0"
        )

    def test_beside_the_manifest_without_front_matter(self, package: Path) -> None:
        (package / "README.md").write_text(f"{FRONT_MATTER}# A world\n\nOf its own.\n")
        assert load_environment_metadata(world()).readme_content == "# A world\n\nOf its own.\n"

    @pytest.mark.parametrize("path", ["/metadata", "/web/metadata"])
    def test_servers_tell_it(self, package: Path, path: str) -> None:
        (package / "README.md").write_text(f"{FRONT_MATTER}# A world\n")
        with serving(world(), env_name="own", web=True) as served:
            card = served.http("GET", path).json()
        assert (card["name"], card["description"]) == ("own", "A world.")
        assert card["readme_content"] == "# A world\n"

    def test_the_one_that_is_named_comes_first(
        self, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (package / "README.md").write_text("beside")
        (tmp_path / "named.md").write_text("named")
        monkeypatch.setenv("ENV_README_PATH", str(tmp_path / "named.md"))
        assert load_environment_metadata(world()).readme_content == "named"
        monkeypatch.setenv("ENV_README_PATH", str(tmp_path / "missing.md"))
        assert load_environment_metadata(world()).readme_content == "beside"

    def test_in_a_directory_of_environments(self, package: Path, tmp_path: Path) -> None:
        (tmp_path / "envs" / "other_env").mkdir(parents=True)
        (tmp_path / "envs" / "other_env" / "README.md").write_text("other")
        assert load_environment_metadata(world(), "other_env").readme_content == "other"
        assert load_environment_metadata(world(), "../other_env").readme_content is None

    @pytest.mark.parametrize("name", [PACKAGE, f"openenv_{PACKAGE}"])
    def test_of_the_wheel_that_brought_the_package(
        self, package: Path, tmp_path: Path, name: str
    ) -> None:
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n\n{FRONT_MATTER}# In a wheel\n"
        )
        assert load_environment_metadata(world()).readme_content == "# In a wheel\n"

    def test_it_is_bounded_and_need_not_be_text(self, package: Path) -> None:
        (package / "README.md").write_bytes(b"\xff" + b"x" * LARGEST_BYTES)
        readme = load_environment_metadata(world()).readme_content
        assert readme is not None
        assert len(readme) <= LARGEST_BYTES

    def test_a_directory_of_that_name_is_none(self, package: Path) -> None:
        (package / "README.md").mkdir()
        assert load_environment_metadata(world()).readme_content is None

    @pytest.mark.parametrize("text", ["---\ntitle: x", FRONT_MATTER, f"\n{FRONT_MATTER}"])
    def test_front_matter_alone_is_no_description(self, text: str) -> None:
        class Told(_World):
            def get_metadata(self) -> EnvironmentMetadata:
                return EnvironmentMetadata(name="told", description=text)

        with serving(Told) as served:
            card = served.http("GET", "/metadata").json()
        assert card["description"] == "told environment"

    def test_a_rule_is_no_front_matter(self) -> None:
        class Ruled(_World):
            def get_metadata(self) -> EnvironmentMetadata:
                return EnvironmentMetadata(name="x", description="one\n---\ntwo\n---\nthree")

        assert load_environment_metadata(Ruled()).description == "one\n---\ntwo\n---\nthree"


class _World(Environment[Action, Observation]):
    def reset(self, **options: Any) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        return Observation()


class Kept(_World):
    """A world that is kept."""

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="own", description="mine", author="me")


def test_cards_of_classes_factories_and_instances() -> None:
    def make() -> Kept:
        return Kept()

    assert load_environment_metadata(Kept).name == "Kept"
    assert load_environment_metadata(make).name == "Kept"
    assert load_environment_metadata(partial(Kept)).name == "Kept"
    assert load_environment_metadata(len, "named").name == "named"  # type: ignore[arg-type]
    assert load_environment_metadata(Kept).description == "A world that is kept."
    assert load_environment_metadata(Kept(), "named").author == "me"


class Colour(Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    """A nested model."""

    a: int = 1


class Everything(Action):
    """A field of each kind."""

    name: str = Field(description="who", min_length=1, max_length=10, pattern="^a")
    message: str = ""
    story: str = Field(default="", max_length=5000)
    count: int = Field(default=1, ge=0, le=5)
    perhaps: float | None = None
    flag: bool
    kind: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    tokens: list[int] = Field(default_factory=list)
    inner: Inner = Inner()


class TestActionFields:
    """An action's fields for a form."""

    def test_kinds(self) -> None:
        fields = action_fields(Everything)
        assert {field["name"]: field["type"] for field in fields} == {
            "name": "text",
            "message": "textarea",
            "story": "textarea",
            "count": "number",
            "perhaps": "number",
            "flag": "checkbox",
            "kind": "select",
            "colour": "select",
            "tokens": "tensor",
            "inner": "text",
        }

    def test_everything_about_a_field(self) -> None:
        fields = {field["name"]: field for field in action_fields(Everything)}
        assert fields["name"] == {
            "name": "name",
            "type": "text",
            "required": True,
            "description": "who",
            "default_value": None,
            "choices": None,
            "min_value": None,
            "max_value": None,
            "min_length": 1,
            "max_length": 10,
            "pattern": "^a",
            "placeholder": "Enter name...",
            "help_text": "who",
        }
        assert fields["count"]["min_value"] == 0
        assert fields["count"]["max_value"] == 5
        assert fields["count"]["default_value"] == 1
        assert fields["kind"]["choices"] == ["a", "b"]
        assert fields["colour"]["choices"] == ["red", "blue"]
        assert fields["colour"]["default_value"] == "red"

    def test_calls_of_tools_and_unions(self) -> None:
        names = [field["name"] for field in action_fields(CallToolAction)]
        assert names == ["tool_name", "arguments"]
        assert action_fields(Everything | CallToolAction) == []


def test_how_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_HOST", "me-world.hf.space")
    card = EnvironmentMetadata(name="world", description="")
    text = get_quick_start_markdown(card, Everything, Observation)
    assert "### Connect to world" in text
    assert 'address = "https://me-world.hf.space"\n' in text
    assert "action = ...  # one that its schema lets pass" in text  # its name has a pattern
    compile(_program(text), "quick start", "exec")
    monkeypatch.delenv("SPACE_HOST")
    text = get_quick_start_markdown(card, Everything, Observation)
    assert 'address = "http://localhost:8000"  # or where this server listens' in text


def _program(text: str) -> str:
    return text.partition("```python\n")[2].partition("```")[0]


class Ingredient(BaseModel):
    """What goes into a dish."""

    name: str
    grams: int = Field(gt=0)
    organic: bool = False


class Fried(BaseModel):
    """One way."""

    kind: Literal["fried"] = "fried"
    minutes: float = Field(ge=2)


class Boiled(BaseModel):
    """Another."""

    kind: Literal["boiled"] = "boiled"


class Cook(Action):
    """An action of lists, models and a union."""

    dish: Literal["soup", "stew"]
    ingredients: list[Ingredient] = Field(min_length=2)
    method: Fried | Boiled = Field(discriminator="kind")
    place: tuple[int, str]
    chef: str | None
    spices: list[str]
    note: str = "none"


class Choosing(Action):
    """One that needs nothing by its schema, and something by its own rule."""

    colour: Colour | None = None
    count: int | None = Field(default=None, lt=-3)

    @model_validator(mode="after")
    def _one(self) -> "Choosing":
        if self.colour is None and self.count is None:
            raise ValueError("give one of the two")
        return self


class Endless(Action):
    """One of which there is none."""

    inner: "Endless"


class Planting(Action):
    """One that holds more of its kind, or nothing."""

    left: "Planting | None"
    right: "Planting | None"


class Failing(Action):
    """One whose own rule fails."""

    name: str

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        return {"ann": "Ann"}[name]


BARE = {"left": None, "right": None}
COOKED = {
    "dish": "soup",
    "ingredients": [{"name": "hello", "grams": 1}] * 2,
    "method": {"kind": "fried", "minutes": 2},
    "place": [1, "hello"],
    "chef": "hello",
    "spices": [],
}


@pytest.mark.parametrize(
    ("action_cls", "shown"),
    [
        (Cook, COOKED),
        (Cook | CallToolAction, COOKED),
        (Choosing, {"colour": "red"}),
        (CallToolAction, {"type": "call_tool", "tool_name": "hello"}),
        (Planting, {"left": BARE, "right": BARE}),
        (Endless, ...),
        (Failing, ...),
    ],
)
def test_the_action_to_begin_with_is_taken(action_cls: Any, shown: Any) -> None:
    card = EnvironmentMetadata(name="world", description="")
    text = get_quick_start_markdown(card, action_cls, Observation)
    [line] = [each for each in _program(text).splitlines() if each.startswith("action = ")]
    seen: dict[str, Any] = {}
    exec(line, seen)
    assert seen["action"] == shown
    if shown is not ...:
        TypeAdapter(action_cls).validate_python(shown)


class Read(Action):
    """What forms write as text."""

    tokens: list[int] = Field(default_factory=list)
    action_id: int = 0


class TestPreprocessing:
    """Actions from what a form gave."""

    @pytest.mark.parametrize("text", ["[1, 2]", "1,2", " 1, 2 ", [1, 2]])
    def test_tokens(self, text: Any) -> None:
        assert deserialize_action_with_preprocessing({"tokens": text}, Read).tokens == [1, 2]

    def test_no_tokens(self) -> None:
        assert deserialize_action_with_preprocessing({"tokens": ""}, Read).tokens == []

    @pytest.mark.parametrize("text", ["7", " 7 ", 7])
    def test_an_action_id(self, text: Any) -> None:
        assert deserialize_action_with_preprocessing({"action_id": text}, Read).action_id == 7

    def test_arguments(self) -> None:
        call = {"type": "call_tool", "tool_name": "t", "arguments": '{"a": 1}'}
        made = deserialize_action_with_preprocessing(call, CallToolAction)
        assert made == CallToolAction(tool_name="t", arguments={"a": 1})

    @pytest.mark.parametrize(
        "data", [{"tokens": "bad"}, {"action_id": "x"}, {"action_id": "1.5"}, {"tokens": "[1"}]
    )
    def test_what_cannot_be_read_is_refused(self, data: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=next(iter(data))):
            deserialize_action_with_preprocessing(data, Read)

    def test_tensors_where_the_class_wants_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Tensor(list[int]):
            """As PyTorch's, which takes seconds to import."""

        class Tensors(Action):
            tokens: Tensor

        torch: Any = ModuleType("torch")
        torch.Tensor, torch.long = Tensor, "long"
        torch.tensor = lambda values, dtype: Tensor(values)
        monkeypatch.setitem(sys.modules, "torch", torch)
        made = deserialize_action_with_preprocessing({"tokens": "1,2"}, Tensors)
        assert made.tokens == Tensor([1, 2])
        assert isinstance(made.tokens, Tensor)
