"""What libleveret refuses, as exceptions."""

from __future__ import annotations

from typing import Dict, Type

import numpy as np

from ._library import BAD_ARGUMENT, BAD_FILE, BAD_LINE, NO_MEMORY, OK, library


class Error(Exception):
    """What libleveret refused, in its words."""


class BadLine(Error, ValueError):
    """A line is no example. `probabilities` has those of the others, and NaN in its place."""

    probabilities: np.ndarray


class _BadArgument(Error, ValueError):
    pass


class _BadFile(Error, OSError):
    pass


for _public in (Error, BadLine):
    _public.__module__ = "leveret"

_ERRORS: Dict[int, Type[Error]] = {
    BAD_ARGUMENT: _BadArgument,
    BAD_FILE: _BadFile,
    BAD_LINE: BadLine,
}


def check(code: int) -> None:
    if code == OK:
        return
    words = library.leveret_error_message().decode(errors="replace")
    if code == NO_MEMORY:
        raise MemoryError(words)
    raise _ERRORS.get(code, Error)(words)
