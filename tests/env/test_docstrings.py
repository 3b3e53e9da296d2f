"""What is read out of docstrings."""

from collections.abc import Callable

from openenv.env.docstrings import Docstring


def place(box: str) -> None:
    """Places a box where
    nothing else is.

    A place is told by its row, counted from the top, and by its column, or as an id: 0 (left),
    1 (right), *or* both, from
    - not to -
    what is known:

    - the row of a box that
      is wide
    - its column

    1. first
    2. then

    | a | b |
    | - | - |

        indented
        code

    ```python
    a = 1

    b = 2
    ```
    After code
    it stays.

    After a blank line
    it flows.

    >>> place("a")
    'one'
    'two'

    Args:
        box: what is placed,
            with its items.

    Returns:
        Nothing, which
        stays as it is.
    """


TEXT = """\
Places a box where nothing else is.

A place is told by its row, counted from the top, and by its column, or as an id: 0 (left), \
1 (right), *or* both, from
- not to -
what is known:

- the row of a box that
  is wide
- its column

1. first
2. then

| a | b |
| - | - |

    indented
    code

```python
a = 1

b = 2
```
After code
it stays.

After a blank line it flows.

>>> place("a")
'one'
'two'

Returns:
    Nothing, which
    stays as it is."""


def untold() -> None: ...


def test_a_paragraph_is_a_line_and_what_is_laid_out_stays() -> None:
    said = Docstring.of(place)
    assert said.text == TEXT
    assert said.arguments == {"box": "what is placed, with its items."}


def test_what_has_no_docstring_says_nothing() -> None:
    function: Callable[..., None] = untold
    assert Docstring.of(function) == Docstring()
