"""What callers give, as the library takes it. TypeError and ValueError say what is wrong with it:
behind these functions there is C, which believes what it is told."""

from __future__ import annotations

import ctypes
import json
import math
import numbers
import operator
import os
import shlex
from typing import Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

#: A feature, as leveret_feature of leveret/leveret.h: 12 bytes.
FEATURE = np.dtype([("space", np.uint32), ("hash", np.uint32), ("value", np.float32)])
#: The largest importance of an example, as in lines of text.
MOST_IMPORTANCE = np.float32(1e12)

Line = Union[str, bytes]
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
#: Values by the names of columns, as JSON has them.
Row = Dict[str, object]
Features = Union[np.ndarray, Iterable[Tuple[int, int, float]]]


def _type(value: object) -> str:
    return type(value).__name__


def text(value: Line, what: str) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeError(f"{what} is to be str or bytes, not {_type(value)}")


def many(values: Iterable, what: str) -> Iterable:
    """Something with an order, whose parts are meant: no letters, no keys."""
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{what} are several, as in a list, not one {_type(values)}")
    if isinstance(values, (dict, set, frozenset)):
        raise TypeError(f"{what} have an order, as in a list: a {_type(values)} has none")
    if isinstance(values, np.generic) or (isinstance(values, np.ndarray) and values.ndim == 0):
        raise TypeError(f"{what} are several, as in an array [n], not one {_type(values)}")
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{what} are several, as in a list, not {_type(values)}") from None


def lines(values: Iterable[Line], what: str) -> List[bytes]:
    """Each with its end."""
    return [
        text(line, f"{what} {i}").rstrip(b"\n") + b"\n"
        for i, line in enumerate(many(values, what + "s"))
    ]


def single_lines(values: Iterable[Line], what: str) -> List[bytes]:
    """The same, none of which is several."""
    found = lines(values, what)
    for i, line in enumerate(found):
        if line.find(b"\n") != len(line) - 1:
            raise ValueError(f"{what} {i} is several lines")
    return found


def _json_of(value: object) -> object:
    if isinstance(value, np.datetime64):
        return str(value)
    if hasattr(value, "item"):  # a number of NumPy, or what it has for a date
        return _plain(value.item())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a value of a row is a {_type(value)}, which has no place in JSON")


def _plain(value: object) -> object:
    """What is not equal to itself is missing: NaN, and what pandas has for it."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray) and value.ndim > 1:
        raise TypeError(f"a value of a row is an array of {value.ndim} dimensions")
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    equal = value == value
    return value if isinstance(equal, (bool, np.bool_)) and equal else None


def row(value: Row, what: str) -> bytes:
    """As a line of JSON."""
    if not isinstance(value, dict):
        raise TypeError(f"{what} is to be a dict of values by columns, not {_type(value)}")
    try:
        return json.dumps(_plain(value), default=_json_of).encode() + b"\n"
    except RecursionError:
        raise ValueError(f"{what} has values in values, too many of them") from None


def rows(values: Iterable[Row], what: str) -> List[bytes]:
    if hasattr(values, "to_dict") and hasattr(values, "columns"):  # a data frame
        values = values.to_dict("records")
    return [row(value, f"{what} {i}") for i, value in enumerate(many(values, what + "s"))]


def _c_string(value: bytes, what: str) -> bytes:
    if b"\0" in value:
        raise ValueError(f"{what} has a NUL in it")
    return value


def path(value: Path, what: str) -> bytes:
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} is to be str, bytes or os.PathLike, not {_type(value)}")
    return _c_string(os.fsencode(value), what)


def paths(values: Iterable[Path], what: str) -> List[bytes]:
    if isinstance(values, os.PathLike):
        raise TypeError(f"{what}s are several, as in a list, not one {_type(values)}")
    return [path(value, f"{what} {i}") for i, value in enumerate(many(values, what + "s"))]


def namespaces(value: Union[str, Iterable[str]]) -> bytes:
    """One string of names, or names."""
    if isinstance(value, str):
        return _c_string(text(value, "namespaces"), "namespaces")
    names = [text(name, f"namespace {i}") for i, name in enumerate(many(value, "namespaces"))]
    return _c_string(b",".join(names), "a namespace's name")


def options(value: Union[str, Iterable[str]]) -> bytes:
    """One string of options, as for a shell, or words."""
    if isinstance(value, str):
        return _c_string(text(value, "options"), "options")
    words = [text(word, f"option {i}") for i, word in enumerate(many(value, "options"))]
    return _c_string(shlex.join(os.fsdecode(word) for word in words).encode(), "an option")


def numbers_of(values: Sequence[float], what: str, count: Optional[int] = None) -> np.ndarray:
    """[n] float32 in one piece; `count` of them, where that is given."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{what} are numbers, and no masked array")
    # Before the parts of what has many are looked at.
    if count is not None and isinstance(values, (Sequence, np.ndarray)) and len(values) != count:
        raise ValueError(f"there are {len(values)} {what} of {count} examples")
    if isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        array = np.asarray(values)
    else:
        parts = list(many(values, what))
        for part in parts:
            if not isinstance(part, (numbers.Real, np.bool_)):
                raise TypeError(f"{what} are numbers, not {_type(part)}")
        try:
            array = np.array(parts, np.float64) if parts else np.empty(0, np.float64)
        except OverflowError:
            raise ValueError(f"{what} have a number that is too large") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} are numbers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{what} are numbers [n], not of {array.ndim} dimensions")
    if count is not None and len(array) != count:
        raise ValueError(f"there are {len(array)} {what} of {count} examples")
    # A copy: what another thread writes into theirs afterwards has not been looked at.
    with np.errstate(over="ignore"):
        return np.array(array, np.float32, order="C")


def check_clicks(labels: np.ndarray, importances: Optional[np.ndarray]) -> None:
    """All of them before the first is learned: a call takes them in parts."""
    wrong = ~(np.isnan(labels) | np.isin(labels, (1, 0, -1)))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"the label of example {at} is {labels[at]:g}: give 1, 0, -1, or NaN where none is known"
        )
    if importances is None:
        return
    wrong = ~((importances >= 0) & (importances <= MOST_IMPORTANCE))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"the importance of example {at} is {importances[at]:g}: give a number from 0 to {MOST_IMPORTANCE:g}"
        )


def check_order(ends: np.ndarray) -> None:
    if (ends[1:] < ends[:-1]).any():
        raise ValueError("an end must not be less than the one before")


def hash_of(value: int, what: str) -> int:
    number = _index(value, what)
    if not 0 <= number < 2**32:
        raise ValueError(f"{what} is to be from 0 to below 2**32")
    return number


def milliseconds(value: float, what: str) -> int:
    """Of seconds: 1 at least."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{what} must be a number, not {_type(value)}")
    if not 0 < value <= (2**32 - 1) / 1000:
        raise ValueError(f"{what} is to be above 0, and at most {2**32 // 1000}")
    return max(1, round(float(value) * 1000))


def flag(value: bool, what: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is to be True or False, not {_type(value)}")
    return bool(value)


def _index(value: int, what: str) -> int:
    if isinstance(value, np.ndarray):  # one of a single number would pass for it
        raise TypeError(f"{what} is to be an int, not an array")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is to be an int, not {_type(value)}") from None


def _value(value: float) -> float:
    if not isinstance(value, (float, int, numbers.Real)):
        raise TypeError(f"a feature's value must be a number, not {_type(value)}")
    try:
        number = ctypes.c_float(float(value)).value
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a feature's value is not finite in 32 bits")
    return number


def _triple(feature: Tuple[int, int, float]) -> Tuple[int, int, float]:
    if not isinstance(feature, (tuple, list, np.void)) or len(feature) != 3:
        raise TypeError(
            "a feature is a triple (space, hash, value), or features are an array [n] of the dtype "
            f"leveret.FEATURE; this is {_type(feature)}"
        )
    space, number, value = feature
    return hash_of(space, "a feature's space"), hash_of(number, "a feature's hash"), _value(value)


def features(values: Features) -> np.ndarray:
    """[n] of FEATURE, in one piece, each number where C may read it."""
    if not isinstance(values, np.ndarray):
        return np.array([_triple(feature) for feature in many(values, "features")], FEATURE)
    if values.dtype != FEATURE or values.ndim != 1 or isinstance(values, np.ma.MaskedArray):
        raise TypeError("features are an array [n] of the dtype leveret.FEATURE")
    rows = np.ascontiguousarray(values)
    return rows if rows.ctypes.data % 4 == 0 else rows.copy()


def candidates(
    values: Union[Features, Iterable[Features]], ends: Optional[Sequence[int]]
) -> Tuple[np.ndarray, np.ndarray]:
    """All features, [n] of FEATURE, and where those of each candidate end."""
    if ends is not None:
        rows = features(values)
        return rows, _ends(ends, len(rows))
    parts = [features(candidate) for candidate in many(values, "candidates")]
    rows = np.concatenate([np.empty(0, FEATURE), *parts])
    return rows, np.cumsum([len(part) for part in parts], dtype=np.uintp)


def _ends(ends: Sequence[int], most: int) -> np.ndarray:
    if not isinstance(ends, (np.ndarray, list, tuple)) or isinstance(ends, np.ma.MaskedArray):
        raise TypeError(f"ends are an array of numbers, not {_type(ends)}")
    if not isinstance(ends, np.ndarray):
        # NumPy would look into what has parts of its own, however many these are.
        for end in ends:
            if isinstance(end, (list, tuple, range, np.ndarray)):
                raise ValueError(f"ends are numbers [n] from 0 to {most}, that of features")
            if not isinstance(end, (int, np.integer)):
                raise TypeError(f"ends are whole numbers, not {_type(end)}")
    array = np.asarray(ends)
    if array.ndim != 1:
        raise ValueError(f"ends are numbers [n] from 0 to {most}, that of features")
    if array.size == 0:
        return np.empty(0, np.uintp)
    if array.dtype.kind == "O" and all(isinstance(end, int) for end in array):
        raise ValueError(f"ends are from 0 to {most}, that of features")  # beyond 64 bits
    if array.dtype.kind not in "iu":
        raise TypeError(f"ends are whole numbers, not {array.dtype}")
    if not 0 <= array.min() <= array.max() <= most:
        raise ValueError(f"ends are numbers [n] from 0 to {most}, that of features")
    # A copy: what another thread writes into theirs afterwards has not been looked at.
    return np.array(array, np.uintp)
