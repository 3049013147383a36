"""Scores with models of leveret(1), by libleveret.

    import leveret

    model = leveret.Model.open("model.lvt")
    model.predict(["|user u1 |ad a1", "|user u1 |ad a2"])       # array([0.03, 0.01], dtype=float32)

    with model.context("user") as request:
        request.set("|user u1")
        request.predict(["|ad a1", "|ad a2"])                   # the same, faster

Without text, features are NumPy arrays of the dtype FEATURE, or iterables of triples (space, hash,
value): a hash of hash_feature(), and the namespace's hash of hash_namespace() or, with `by_field`, the
number of a field. Probabilities are NumPy arrays. A model may be used by all threads at once, a Context
by one at a time. Calls run without the interpreter's lock.

The library is found as any other (ld.so(8)), or by the environment variable LEVERET_LIBRARY.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Iterable, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import (
    BAD_ARGUMENT,
    BAD_FILE,
    BAD_LINE,
    BY_FIELD,
    BY_NAMESPACE,
    NO_MEMORY,
    OK,
    library,
)

__all__ = ["FEATURE", "BadLine", "Context", "Error", "Model", "version"]

#: A feature, as leveret_feature of leveret/leveret.h: 12 bytes.
FEATURE = np.dtype([("space", np.uint32), ("hash", np.uint32), ("value", np.float32)])

Line = Union[str, bytes]
Path = Union[str, "os.PathLike[str]"]
Features = Union[np.ndarray, Iterable[Tuple[int, int, float]]]


class Error(Exception):
    """What libleveret refused, in its words."""


class BadLine(Error, ValueError):
    """A line is no example. `probabilities` has those of the others, and NaN in its place."""

    probabilities: np.ndarray


class _BadArgument(Error, ValueError):
    pass


class _BadFile(Error, OSError):
    pass


_ERRORS = {BAD_ARGUMENT: _BadArgument, BAD_FILE: _BadFile, BAD_LINE: BadLine}


def _check(code: int) -> None:
    if code == OK:
        return
    words = library.leveret_error_message().decode(errors="replace")
    if code == NO_MEMORY:
        raise MemoryError(words)
    raise _ERRORS.get(code, Error)(words)


def _bytes(text: Line) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _features(features: Features) -> np.ndarray:
    """[n] of FEATURE, in one piece."""
    if not isinstance(features, np.ndarray):
        return np.array([tuple(feature) for feature in features], FEATURE)
    if features.dtype != FEATURE or features.ndim != 1:
        raise TypeError("features are an array [n] of the dtype leveret.FEATURE")
    return np.ascontiguousarray(features)


def _space(by_field: bool) -> int:
    return BY_FIELD if by_field else BY_NAMESPACE


def version() -> str:
    """The version of the library."""
    return library.leveret_version().decode()


class Context:
    """One thread's predictor: a context, and candidates for it. Made by Model.context()."""

    def __init__(self, model: "Model", namespaces: Union[str, Iterable[str]] = ()) -> None:
        names = namespaces if isinstance(namespaces, str) else ",".join(namespaces)
        handle = ctypes.c_void_p()
        self._handle = None
        _check(library.leveret_predictor_new(model._open(), names.encode(), ctypes.byref(handle)))
        self._handle = handle

    def set(self, line: Line) -> None:
        """The features that all candidates share, as a line of VW text."""
        text = _bytes(line)
        _check(library.leveret_set_context(self._open(), text, len(text)))

    def set_features(self, features: Features, by_field: bool = False) -> None:
        """The same without text: [n] features."""
        rows = _features(features)
        _check(
            library.leveret_set_context_features(
                self._open(), _space(by_field), rows.ctypes.data, len(rows)
            )
        )

    def clear(self) -> None:
        """From now on candidates are all there is."""
        _check(library.leveret_clear_context(self._open()))

    def predict(self, candidates: Sequence[Line]) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities. BadLine where some are no examples."""
        lines = [_bytes(line).rstrip(b"\n") for line in candidates]
        text = b"".join(line + b"\n" for line in lines)
        result = np.empty(len(lines), np.float32)
        try:
            _check(
                library.leveret_predict_lines(
                    self._open(), text, len(text), result.ctypes.data, len(lines)
                )
            )
        except BadLine as error:
            error.probabilities = result
            raise
        return result

    def predict_features(
        self,
        candidates: Union[Features, Iterable[Features]],
        ends: Optional[np.ndarray] = None,
        by_field: bool = False,
    ) -> np.ndarray:
        """The features of n candidates -> float32 [n], probabilities. Either n arrays or iterables;
        or one array of all features and `ends` [n]: candidate i has those from ends[i - 1] (the
        first from 0) to below ends[i]."""
        if ends is None:
            parts = [_features(candidate) for candidate in candidates]
            features = np.concatenate([np.empty(0, FEATURE), *parts])
            ends = np.cumsum([len(part) for part in parts], dtype=np.uintp)
        else:
            features = _features(candidates)
            ends = np.asarray(ends)
            if ends.ndim != 1 or (len(ends) > 0 and not 0 <= ends.min() <= ends.max() <= len(features)):
                raise ValueError(f"ends are numbers [n] from 0 to {len(features)}, that of features")
            ends = np.ascontiguousarray(ends, np.uintp)
        result = np.empty(len(ends), np.float32)
        _check(
            library.leveret_predict_features(
                self._open(),
                _space(by_field),
                features.ctypes.data,
                ends.ctypes.data,
                result.ctypes.data,
                len(ends),
            )
        )
        return result

    def close(self) -> None:
        """Frees it; it cannot be used any more."""
        handle, self._handle = self._handle, None
        if handle is not None:
            library.leveret_predictor_free(handle)

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise ValueError("the context is closed")
        return self._handle

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Model:
    """A model of `leveret train` or `leveret export`, which may be replaced by another file's, or
    patched, while others predict."""

    def __init__(self, path: Path) -> None:
        handle = ctypes.c_void_p()
        self._handle = None
        self._local = threading.local()
        _check(library.leveret_model_open(os.fsencode(path), ctypes.byref(handle)))
        self._handle = handle

    @classmethod
    def open(cls, path: Path) -> "Model":
        """Reads a file and checks all of it."""
        return cls(path)

    def replace(self, path: Path) -> None:
        """Puts another file's model in its place. Contexts move on with their next request; where
        this fails, the model stays."""
        _check(library.leveret_model_replace(self._open(), os.fsencode(path)))

    def patch(self, patches: Sequence[Path], to: Optional[Path] = None) -> None:
        """Puts in its place what a chain of patches of `leveret diff`, one after the other, makes of
        it, and saves that as `to`, too, where that is given. Those at the front that it has behind it
        are passed over. Where this fails, the model stays, and a file `to` as well."""
        names = [os.fsencode(path) for path in patches]
        chain = (ctypes.c_char_p * len(names))(*names)
        saved = None if to is None else os.fsencode(to)
        _check(library.leveret_model_patch(self._open(), chain, len(names), saved))

    def context(self, namespaces: Union[str, Iterable[str]]) -> Context:
        """A predictor for requests, the namespaces of whose contexts are named."""
        return Context(self, namespaces)

    def predict(self, lines: Sequence[Line]) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities. BadLine where some are no examples."""
        return self._predictor().predict(lines)

    def predict_features(
        self,
        examples: Union[Features, Iterable[Features]],
        ends: Optional[np.ndarray] = None,
        by_field: bool = False,
    ) -> np.ndarray:
        """The features of n examples -> float32 [n], probabilities, as Context.predict_features."""
        return self._predictor().predict_features(examples, ends, by_field)

    def hash_namespace(self, name: Line) -> int:
        """The hash of a namespace by its name."""
        return self._hash(library.leveret_hash_namespace, name)

    def hash_feature(self, namespace_hash: int, name: Line) -> int:
        """The hash of a feature by its name, within the namespace of this hash."""
        return self._hash(library.leveret_hash_feature, name, namespace_hash)

    @property
    def field_count(self) -> int:
        """Fields are numbered from 0 to below it, as `leveret inspect` shows them."""
        count = ctypes.c_uint32()
        _check(library.leveret_field_count(self._open(), ctypes.byref(count)))
        return count.value

    def close(self) -> None:
        """Gives the model up; contexts that are left keep theirs."""
        handle, self._handle = self._handle, None
        self._local = threading.local()
        if handle is not None:
            library.leveret_model_close(handle)

    def _hash(self, function, name: Line, *before: int) -> int:
        text, value = _bytes(name), ctypes.c_uint32()
        _check(function(self._open(), *before, text, len(text), ctypes.byref(value)))
        return value.value

    def _predictor(self) -> Context:
        """This thread's own."""
        self._open()
        if not hasattr(self._local, "predictor"):
            self._local.predictor = Context(self)
        return self._local.predictor

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise ValueError("the model is closed")
        return self._handle

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
