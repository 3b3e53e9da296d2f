"""A source file cut in two: both halves hold what they need, and the author's words."""

from textwrap import dedent

import pytest

from openenv.project.errors import ProjectError
from openenv.project.split import Halves, chunks, halve


def cut(source: str, *roots: str, never: str = "World") -> Halves:
    halves = halve(chunks(dedent(source)), roots or ("Move", "Seen"), never, "my.models")
    for half in (halves.models, halves.rest):
        compile(half, "half", "exec")
    return halves


SIMPLE = '''\
    """The docstring."""

    import random
    from openenv import Action, Environment, Observation

    # What is done.
    class Move(Action):
        by: int = 1  # a step


    class Seen(Observation):
        pass


    class World(Environment[Move, Seen]):
        def reset(self) -> Seen:
            return Seen(metadata={"x": random.random()})
'''


def test_the_types_go_to_one_half_and_the_rest_to_the_other() -> None:
    halves = cut(SIMPLE)
    assert halves.shared == ("Move", "Seen")
    assert halves.models == dedent("""\
        from openenv import Action, Observation

        # What is done.
        class Move(Action):
            by: int = 1  # a step


        class Seen(Observation):
            pass
        """)
    assert "random" not in halves.models
    assert halves.rest.startswith('"""The docstring."""\n\nimport random\n')
    assert "from openenv import Environment\nfrom my.models import Move, Seen\n" in halves.rest


def test_what_the_types_need_comes_along_and_nothing_else() -> None:
    halves = cut("""\
        from __future__ import annotations
        from enum import Enum
        from openenv import Action, Observation
        LIMIT = 3
        OTHER = 4
        def low(): return LIMIT
        def high(): return OTHER
        class Suit(Enum):
            A = low()
        class Move(Action):
            suit: Suit = Suit.A
            detail: "Detail | None" = None
        class Detail(Action):
            pass
        class Seen(Observation):
            pass
        class World:
            limit = LIMIT + high()
        """)
    assert [name for name in ("LIMIT", "low", "Suit", "Detail") if name not in halves.models] == []
    assert [name for name in ("OTHER", "high", "World") if name in halves.models] == []
    assert halves.shared == ("LIMIT",)
    assert halves.models.startswith("from __future__ import annotations\n")
    assert halves.rest.startswith("from __future__ import annotations\n")
    assert "Enum" not in halves.rest


def test_statements_about_the_types_alone_follow_them() -> None:
    halves = cut("""\
        class Move: pass
        class Seen: pass
        Move.rebuild()
        registry = {}
        registry["move"] = Move
        class World: pass
        print("hello")
        """)
    assert "Move.rebuild()" in halves.models
    assert "registry" not in halves.models
    assert 'registry["move"] = Move' in halves.rest
    assert 'print("hello")' in halves.rest


def test_conditional_imports_go_where_they_are_used() -> None:
    halves = cut("""\
        from typing import TYPE_CHECKING
        try:
            import numpy as np
        except ImportError:
            np = None
        if TYPE_CHECKING:
            from elsewhere import Thing
        class Move: pass
        class Seen:
            thing: "Thing"
        class World:
            zero = np
        """)
    assert "import numpy" not in halves.models and "import numpy" in halves.rest
    assert "import Thing" in halves.models and "import Thing" not in halves.rest
    assert "import TYPE_CHECKING" in halves.models


def test_an_import_that_nobody_uses_stays_for_what_it_does() -> None:
    halves = cut("import registers_things\nclass Move: pass\nclass Seen: pass\nclass World: pass\n")
    assert "registers_things" not in halves.models
    assert "import registers_things" in halves.rest


def test_statements_that_share_a_line_stay_together() -> None:
    halves = cut("class Seen: pass\na = 1; b = 2\nclass Move:\n    n = b\nclass World: pass\n")
    assert "a = 1; b = 2" in halves.models
    assert "a = 1" not in halves.rest


def test_comments_at_the_end_and_above_an_import_are_kept() -> None:
    halves = cut("""\
        # The licence.
        from enum import Enum, auto
        class Move: pass
        class Seen: pass
        class World(Enum): pass
        # The end.
        """)
    assert halves.rest.startswith("# The licence.\n")
    assert halves.rest.endswith("# The end.\n")


def test_types_that_need_the_environment_cannot_be_parted_from_it() -> None:
    with pytest.raises(ProjectError, match=r"Move and Seen need World, which needs them"):
        cut("class World: pass\nclass Move:\n    world: World\nclass Seen: pass\n")


def test_without_types_of_its_own_there_is_no_first_half() -> None:
    halves = halve(chunks("import this\nclass World: pass\n"), (), "World", "my.models")
    assert halves.models == ""
    assert halves.shared == ()


def test_lines_are_those_that_python_counts() -> None:
    halves = cut(
        'x = "a\x0cb\u2028c"\n\x0c\nclass Move: pass\nclass Seen: pass\nclass World: pass\n'
    )
    assert halves.models == "\x0c\nclass Move: pass\nclass Seen: pass\n"
