"""Scores with models of leveret(1), by libleveret.

    import leveret

    model = leveret.Model.open("model.lvt")
    model.predict(["|user u1 |ad a1", "|user u1 |ad a2"])       # array('f', [0.03, 0.01])

    with model.context("user") as request:
        request.set("|user u1")
        request.predict(["|ad a1", "|ad a2"])                   # the same, faster

Probabilities come as array.array('f'): numpy.asarray() takes it without a copy. A model may be used by
all threads at once, a Context by one at a time. Calls run without the interpreter's lock.

The library is found as any other (ld.so(8)), or by the environment variable LEVERET_LIBRARY.
"""

from __future__ import annotations

import ctypes
import os
import threading
from array import array
from typing import Iterable, Sequence, Tuple, Union

from ._library import (
    BAD_ARGUMENT,
    BAD_FILE,
    BAD_LINE,
    BY_FIELD,
    BY_NAMESPACE,
    NO_MEMORY,
    OK,
    Feature,
    library,
)

__all__ = ["BadLine", "Context", "Error", "Model", "version"]

Line = Union[str, bytes]
#: A feature: its field's number or its namespace's hash, its own hash, and its value.
FeatureTuple = Tuple[int, int, float]


class Error(Exception):
    """What libleveret refused, in its words."""


class BadLine(Error, ValueError):
    """A line is no example. `probabilities` has those of the others, and NaN in its place."""

    probabilities: "array[float]"


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


def _features(features: Iterable[FeatureTuple]) -> "tuple[ctypes.Array, int]":
    rows = [Feature(*feature) for feature in features]
    return (Feature * len(rows))(*rows), len(rows)


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

    def set_features(self, features: Iterable[FeatureTuple], by_field: bool = False) -> None:
        """The same as triples (namespace's hash or, `by_field`, field's number; hash; value)."""
        rows, count = _features(features)
        by = BY_FIELD if by_field else BY_NAMESPACE
        _check(library.leveret_set_context_features(self._open(), by, rows, count))

    def clear(self) -> None:
        """From now on candidates are all there is."""
        _check(library.leveret_clear_context(self._open()))

    def predict(self, candidates: Sequence[Line]) -> "array[float]":
        """n lines of VW text -> n probabilities. BadLine where some are no examples."""
        lines = [_bytes(line).rstrip(b"\n") for line in candidates]
        text = b"".join(line + b"\n" for line in lines)
        result = array("f", bytes(4 * len(lines)))
        address = result.buffer_info()[0] if lines else None
        try:
            _check(
                library.leveret_predict_lines(self._open(), text, len(text), address, len(lines))
            )
        except BadLine as error:
            error.probabilities = result
            raise
        return result

    def predict_features(
        self, candidates: Iterable[Iterable[FeatureTuple]], by_field: bool = False
    ) -> "array[float]":
        """n lists of triples, as set_features takes them -> n probabilities."""
        rows, ends = [], []
        for candidate in candidates:
            rows.extend(candidate)
            ends.append(len(rows))
        features, _ = _features(rows)
        result = array("f", bytes(4 * len(ends)))
        _check(
            library.leveret_predict_features(
                self._open(),
                BY_FIELD if by_field else BY_NAMESPACE,
                features,
                (ctypes.c_size_t * len(ends))(*ends),
                result.buffer_info()[0] if ends else None,
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
    """A model of `leveret train` or `leveret export`, which may be replaced by another file's."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        handle = ctypes.c_void_p()
        self._handle = None
        self._local = threading.local()
        _check(library.leveret_model_open(os.fsencode(path), ctypes.byref(handle)))
        self._handle = handle

    @classmethod
    def open(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """Reads a file and checks all of it."""
        return cls(path)

    def replace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Puts another file's model in its place. Contexts move on with their next request; where
        this fails, the model stays."""
        _check(library.leveret_model_replace(self._open(), os.fsencode(path)))

    def context(self, namespaces: Union[str, Iterable[str]]) -> Context:
        """A predictor for requests, the namespaces of whose contexts are named."""
        return Context(self, namespaces)

    def predict(self, lines: Sequence[Line]) -> "array[float]":
        """n lines of VW text -> n probabilities. BadLine where some are no examples."""
        return self._predictor().predict(lines)

    def predict_features(
        self, examples: Iterable[Iterable[FeatureTuple]], by_field: bool = False
    ) -> "array[float]":
        """n lists of triples (namespace's hash or, `by_field`, field's number; hash; value) -> n
        probabilities."""
        return self._predictor().predict_features(examples, by_field)

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
