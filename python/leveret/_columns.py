"""Columns of tables as features: each is a namespace, as `leveret convert csv` makes them."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ._arguments import FEATURE

#: How a number v becomes a feature: log2bucket, a token (b0; bN with N = 1 + floor(log2 |v|) from 1 on, fN with
#: N = -floor(log2 |v|) below; b-N, f-N where it is negative); value, sign(v) ln(1 + |v|); or both.
FORMS = ("log2bucket", "value", "both")

_ESCAPED = re.compile(r"[\x00-\x20\x7f|:%]")


def escaped(text: str) -> str:
    """Without what means something in VW text."""
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


class Table(NamedTuple):
    """[rows, columns], by column."""

    names: Optional[List[str]]  #: None: it has none
    columns: List[np.ndarray]
    rows: int


def table_of(X: object) -> Table:
    """A data frame, or what NumPy makes an array [rows, columns] of."""
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix; give a data frame or an array (X.toarray())")
    if hasattr(X, "columns") and hasattr(X, "shape"):
        names = [name if isinstance(name, str) else str(name) for name in X.columns]
        if len(set(names)) < len(names):
            raise ValueError("two columns of X have the same name")
        columns = [_array_of(X[name]) for name in X.columns]
        texts = all(isinstance(name, str) for name in X.columns)
        return _checked(Table(names if texts else None, columns, int(X.shape[0])))
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array "
            "instead. Reshape your data: X is a data frame, or an array [rows, columns]"
        )
    return _checked(Table(None, [_array_of(array[:, i]) for i in range(array.shape[1])], len(array)))


def _array_of(column: object) -> np.ndarray:
    """[rows]: numbers, or objects as they came: a category is told by what was fitted, not by what this
    table has."""
    if str(getattr(column, "dtype", "")) == "category":  # of pandas: categories, also where they are numbers
        texts = [*map(_text_of, column.cat.categories), None]
        return np.array([texts[code] for code in column.cat.codes], object)  # -1: missing
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if array.dtype.kind in "iuf":
        return array
    array = array.astype(object)
    for value in array:
        if isinstance(value, (dict, list, set, tuple, np.ndarray)):
            raise TypeError(
                f"a value of X is a {type(value).__name__}: argument must be a string or a number"
            )
    return array


def _are_numbers(array: np.ndarray) -> bool:
    if array.dtype.kind in "iuf":
        return True
    present = [value for value in array if not _is_missing(value)]
    return bool(present) and all(map(_is_number, present))


def _numbers_of(array: np.ndarray) -> np.ndarray:
    """float64; what is missing is NaN."""
    if array.dtype.kind not in "iuf":
        array = np.array([np.nan if _is_missing(value) else value for value in array], object)
    return array.astype(np.float64)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _checked(table: Table) -> Table:
    if table.rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is "
            "required."
        )
    if not table.columns:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({table.rows}, 0)) while a minimum of 1 is required."
        )
    for column in table.columns:
        if _are_numbers(column) and np.isinf(_numbers_of(column)).any():
            raise ValueError("Input X contains infinity")
    return table


def _is_missing(value: object) -> bool:
    """None, NaN, and what other libraries have for them, which do not equal themselves."""
    if value is None or (isinstance(value, str) and not value):
        return True
    equal = value == value
    return not (isinstance(equal, (bool, np.bool_)) and bool(equal))


class Hasher(NamedTuple):
    namespace: Callable[[str], int]
    feature: Callable[[int, str], int]


class Columns:
    """What is known of the columns of a model: names, and which of them are numbers. Features of a table
    are made by a Hasher, a learner's or a model's."""

    def __init__(self, table: Table, form: str) -> None:
        self.names = table.names or [f"x{i}" for i in range(len(table.columns))]
        self.are_numbers = [_are_numbers(column) for column in table.columns]
        self.form = form

    def features(self, table: Table, hasher: Hasher) -> Tuple[np.ndarray, np.ndarray]:
        """Of each row those of its columns, in their order: features [n] of FEATURE, ends [rows]."""
        rows, places = [], []
        for name, is_number, column in zip(self.names, self.are_numbers, table.columns):
            space = hasher.namespace(escaped(name))
            parts = (
                self._of_numbers(name, column, space, hasher)
                if is_number
                else [_of_categories(column, space, hasher)]
            )
            for at, hashes, values in parts:
                made = np.empty(len(at), FEATURE)
                made["space"], made["hash"], made["value"] = space, hashes, values
                rows.append(made)
                places.append(at)
        order = np.argsort(np.concatenate(places), kind="stable")
        counts = np.bincount(np.concatenate(places), minlength=table.rows)
        return np.concatenate(rows)[order], np.cumsum(counts)

    def _of_numbers(
        self, name: str, column: np.ndarray, space: int, hasher: Hasher
    ) -> List[Tuple[np.ndarray, np.ndarray, np.ndarray]]:
        try:
            numbers = _numbers_of(column)
        except (TypeError, ValueError):
            raise ValueError(f"column {name!r} had numbers when it was fitted, and has others now") from None
        at = np.flatnonzero(~np.isnan(numbers))
        numbers, parts = numbers[at], []
        if self.form != "value":
            parts.append((at, _hashes(_buckets(numbers), space, hasher), 1.0))
        if self.form != "log2bucket":
            some = numbers != 0
            values = np.copysign(np.log1p(np.abs(numbers[some])), numbers[some])
            parts.append((at[some], hasher.feature(space, "v"), values))
        return parts


def _of_categories(
    column: np.ndarray, space: int, hasher: Hasher
) -> Tuple[np.ndarray, np.ndarray, float]:
    at = [i for i, value in enumerate(column) if not _is_missing(value)]
    texts = [escaped(_text_of(column[i])) for i in at]
    known: Dict[str, int] = {}
    for text in texts:
        if text not in known:
            known[text] = hasher.feature(space, text)
    return np.array(at, np.intp), np.array([known[text] for text in texts], np.uint32), 1.0


def _text_of(value: object) -> str:
    """Of a category. Numbers among them are the same whole, as text and beside missing ones, which make
    them floats."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _buckets(numbers: np.ndarray) -> np.ndarray:
    """[n, 3] whole numbers: whether it is below 1, its N, whether it is negative."""
    # |v| = m * 2^exponent with m from 1/2 to below 1, so that floor(log2 |v|) = exponent - 1.
    _, exponents = np.frexp(np.abs(numbers))
    is_small = (np.abs(numbers) < 1) & (numbers != 0)
    number = np.where(is_small, 1 - exponents, exponents)
    number[numbers == 0] = 0
    return np.stack([is_small, number, numbers < 0], axis=1).astype(np.int64)


def _hashes(buckets: np.ndarray, space: int, hasher: Hasher) -> np.ndarray:
    if len(buckets) == 0:
        return np.empty(0, np.uint32)
    unique, which = np.unique(buckets, axis=0, return_inverse=True)
    names = [f"{'f' if small else 'b'}{'-' if negative else ''}{n}" for small, n, negative in unique]
    return np.array([hasher.feature(space, name) for name in names], np.uint32)[which.reshape(-1)]
