"""Names of parametrised tests, the same in every process."""

import re


def named(value: object) -> str:
    """What `repr` says, without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
