"""Scores with models of leveret(1), and learns them, by libleveret.

    import leveret

    model = leveret.Model.open("model.lvt")
    model.predict(["|user u1 |ad a1", "|user u1 |ad a2"])       # array([0.03, 0.01], dtype=float32)

    with model.context("user") as request:
        request.set("|user u1")
        request.predict(["|ad a1", "|ad a2"])                   # the same, faster

    model.predict_rows([{"age": 42, "city": None}])             # of a model that has learned raw rows

    learner = leveret.Learner("--ffm_k 8")
    learner.learn(["1 |user u1 |ad a1", "-1 |user u1 |ad a2"])  # predicted, each before it is learned
    learner.save("model.lvt")                                   # as leveret train --ffm_k 8 saves it

    leveret.LeveretClassifier().fit(frame, clicks)              # of data frames, for scikit-learn
    leveret.evaluate(labels, probabilities).logloss             # as leveret evaluate tells it

Without text, features are NumPy arrays of the dtype FEATURE, or iterables of triples (space, hash,
value): a hash of hash_feature(), and the namespace's hash of hash_namespace() or, with `by_field`, the
number of a field. Probabilities are NumPy arrays. A model may be used by all threads at once, a Context
or a Learner by one at a time. Calls run without the interpreter's lock.

A wrong type is a TypeError, a wrong value a ValueError, and what libleveret refuses an Error. A Context
or Learner that two threads use at once, and what is closed while it works, are a RuntimeError.

The library is the file that the environment variable LEVERET_LIBRARY names; else one beside this
package, one that ld.so(8) finds, or one in /usr/local.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Iterable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arguments
from ._arguments import FEATURE, Features, Line, Path, Row
from ._errors import BadLine, Error
from ._errors import check as _check
from ._evaluate import Metrics, evaluate
from ._handle import Alone, Handle, Owner, Running
from ._learner import Learner
from ._library import BY_FIELD, BY_NAMESPACE, library

__all__ = [
    "FEATURE",
    "BadLine",
    "Context",
    "Error",
    "Learner",
    "LeveretClassifier",
    "Metrics",
    "Model",
    "evaluate",
    "version",
]


_NO_SEQUENCE = 2**64 - 1


def _space(by_field: bool) -> int:
    return BY_FIELD if _arguments.flag(by_field, "by_field") else BY_NAMESPACE


def _fingerprint(function, handle: Handle) -> str:
    digits = ctypes.create_string_buffer(33)
    _check(function(handle, digits))
    return digits.value.decode()


def _sequence(function, handle: Handle) -> Optional[int]:
    number = ctypes.c_uint64()
    _check(function(handle, ctypes.byref(number)))
    return None if number.value == _NO_SEQUENCE else number.value


def version() -> str:
    """The version of the library."""
    return library.leveret_version().decode()


def __getattr__(name: str):
    if name != "LeveretClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .classifier import LeveretClassifier  # not before it is wanted: scikit-learn takes a second

    return LeveretClassifier


class Context(Alone):
    """One thread's predictor: a context, and candidates for it. Made by Model.context()."""

    _what = "context"

    def __init__(self, model: "Model", namespaces: Union[str, Iterable[str]] = ()) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model is to be a Model, not {type(model).__name__}")
        names, pointer = _arguments.namespaces(namespaces), ctypes.c_void_p()
        _check(library.leveret_predictor_new(model._open(), names, ctypes.byref(pointer)))
        self._handle = Handle(pointer, library.leveret_predictor_free)

    def set(self, line: Line) -> None:
        """The features that all candidates share, as a line of VW text."""
        text = _arguments.text(line, "the context")
        handle = self._alone()
        with handle.lock:
            _check(library.leveret_set_context(handle, text, len(text)))

    def set_row(self, row: Row) -> None:
        """The columns that all candidates share, of a model that has learned raw rows."""
        text = _arguments.row(row, "the context")
        handle = self._alone()
        with handle.lock:
            _check(library.leveret_set_context_row(handle, text, len(text)))

    def set_features(self, features: Features, by_field: bool = False) -> None:
        """The same without text: [n] features."""
        space, rows = _space(by_field), _arguments.features(features)
        handle = self._alone()
        with handle.lock:
            _check(
                library.leveret_set_context_features(
                    handle, space, rows.ctypes.data, len(rows)
                )
            )

    def clear(self) -> None:
        """From now on candidates are all there is."""
        handle = self._alone()
        with handle.lock:
            _check(library.leveret_clear_context(handle))

    def predict(self, candidates: Sequence[Line]) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities. BadLine where some are no examples."""
        return self._predict(library.leveret_predict_lines, _arguments.lines(candidates, "line"))

    def predict_rows(self, candidates: Iterable[Row]) -> np.ndarray:
        """n rows -> float32 [n], probabilities, of a model that has learned raw rows. A row is a dict of
        values by the names of columns: strings, numbers, booleans, None (missing), lists, dates, dicts.
        BadLine where some have values that are not of their columns' kinds."""
        return self._predict(library.leveret_predict_rows, _arguments.rows(candidates, "row"))

    def _predict(self, function, lines: Sequence[bytes]) -> np.ndarray:
        text = b"".join(lines)
        result = np.empty(len(lines), np.float32)
        handle = self._alone()
        with handle.lock:
            try:
                _check(function(handle, text, len(text), result.ctypes.data, len(lines)))
            except BadLine as error:
                error.probabilities = result
                raise
        return result

    def predict_features(
        self,
        candidates: Union[Features, Iterable[Features]],
        ends: Optional[Sequence[int]] = None,
        by_field: bool = False,
    ) -> np.ndarray:
        """The features of n candidates -> float32 [n], probabilities. Either n arrays or iterables;
        or one array of all features and `ends` [n]: candidate i has those from ends[i - 1] (the
        first from 0) to below ends[i]."""
        space, (features, stops) = _space(by_field), _arguments.candidates(candidates, ends)
        result = np.empty(len(stops), np.float32)
        handle = self._alone()
        with handle.lock:
            _check(
                library.leveret_predict_features(
                    handle,
                    space,
                    features.ctypes.data,
                    stops.ctypes.data,
                    result.ctypes.data,
                    len(stops),
                )
            )
        return result

    @property
    def fingerprint(self) -> str:
        """Of the model that has answered the last request; before the first, of the model that the
        context was made with."""
        handle = self._alone()
        with handle.lock:
            return _fingerprint(library.leveret_predictor_fingerprint, handle)

    @property
    def sequence(self) -> Optional[int]:
        """How many examples that model has learned; None where its file does not tell."""
        handle = self._alone()
        with handle.lock:
            return _sequence(library.leveret_predictor_sequence, handle)


class Model(Owner):
    """A model of `leveret train` or `leveret export`, which may be replaced by another file's, or
    patched, while others predict."""

    _what = "model"

    def __init__(self, path: Path) -> None:
        self._local = threading.local()
        self._running = Running()
        pointer = ctypes.c_void_p()
        _check(library.leveret_model_open(_arguments.path(path, "path"), ctypes.byref(pointer)))
        self._handle = Handle(pointer, library.leveret_model_close)

    @classmethod
    def open(cls, path: Path) -> "Model":
        """Reads a file and checks all of it."""
        return cls(path)

    def replace(self, path: Path) -> None:
        """Puts another file's model in its place. Contexts move on with their next request; where
        this fails, the model stays."""
        self._call(library.leveret_model_replace, _arguments.path(path, "path"))

    def patch(self, patches: Sequence[Path], to: Optional[Path] = None) -> None:
        """Puts in its place what a chain of patches of `leveret diff`, one after the other, makes of
        it, and saves that as `to`, too, where that is given; it may be the model's own file, but none
        of the patches, and no file of another kind. Those at the front that it has behind it are passed over. Where this fails, the
        model stays, and a file `to` as well."""
        names = _arguments.paths(patches, "patch")
        saved = None if to is None else _arguments.path(to, "to")
        self._call(
            library.leveret_model_patch, (ctypes.c_char_p * len(names))(*names), len(names), saved
        )

    def watch(self, path: Optional[Path], seconds: float = 1.0) -> None:
        """Takes new models from this file, or folder of `leveret publish`, from now on, as `leveret predict --watch` does: it
        looks before it returns, and then a thread of the library every so many seconds. What cannot be
        used leaves the model and is no error here: `watched` tells of it. Ends the watch before; None
        only that."""
        name = None if path is None else _arguments.path(path, "path")
        self._call(library.leveret_model_watch, name, _arguments.milliseconds(seconds, "seconds"))

    @property
    def watched(self) -> Tuple[int, str]:
        """How many models the watch has put in the place, and what is wrong with what it has found
        last; "" where nothing is. ValueError where there is no watch."""
        taken, problem = ctypes.c_uint64(), ctypes.create_string_buffer(4096)
        _check(
            library.leveret_model_watched(
                self._open(), ctypes.byref(taken), problem, len(problem)
            )
        )
        return taken.value, problem.value.decode(errors="replace")

    @property
    def fingerprint(self) -> str:
        """Of the model that is there now, as `leveret inspect` tells it: equal for equal models."""
        return _fingerprint(library.leveret_model_fingerprint, self._open())

    @property
    def sequence(self) -> Optional[int]:
        """How many examples it has learned; None where its file does not tell."""
        return _sequence(library.leveret_model_sequence, self._open())

    def context(self, namespaces: Union[str, Iterable[str]]) -> Context:
        """A predictor for requests, the namespaces of whose contexts are named."""
        return Context(self, namespaces)

    def predict(self, lines: Sequence[Line]) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities. BadLine where some are no examples."""
        return self._with_predictor(Context.predict, lines)

    def predict_rows(self, rows: Iterable[Row]) -> np.ndarray:
        """n rows -> float32 [n], probabilities, as Context.predict_rows."""
        return self._with_predictor(Context.predict_rows, rows)

    def predict_features(
        self,
        examples: Union[Features, Iterable[Features]],
        ends: Optional[Sequence[int]] = None,
        by_field: bool = False,
    ) -> np.ndarray:
        """The features of n examples -> float32 [n], probabilities, as Context.predict_features."""
        return self._with_predictor(Context.predict_features, examples, ends, by_field)

    def hash_namespace(self, name: Line) -> int:
        """The hash of a namespace by its name."""
        return self._hash(library.leveret_hash_namespace, name)

    def hash_feature(self, namespace_hash: int, name: Line) -> int:
        """The hash of a feature by its name, within the namespace of this hash."""
        number = _arguments.hash_of(namespace_hash, "namespace_hash")
        return self._hash(library.leveret_hash_feature, name, number)

    @property
    def field_count(self) -> int:
        """Fields are numbered from 0 to below it, as `leveret inspect` shows them."""
        count = ctypes.c_uint32()
        _check(library.leveret_field_count(self._open(), ctypes.byref(count)))
        return count.value

    def close(self) -> None:
        """Gives the model up; contexts that are left keep theirs. RuntimeError while another call of
        the model runs."""
        super().close()
        self._local = threading.local()

    def _hash(self, function, name: Line, *before: int) -> int:
        text, value = _arguments.text(name, "name"), ctypes.c_uint32()
        _check(function(self._open(), *before, text, len(text), ctypes.byref(value)))
        return value.value

    def _call(self, function, *arguments: object) -> None:
        handle = self._open()
        self._running.during(lambda: _check(function(handle, *arguments)))

    def _with_predictor(self, work, *arguments: object) -> np.ndarray:
        """`work` with this thread's predictor; a signal handler that interrupts it and comes here gets another one."""
        self._open()
        local = self._local
        predictor = local.__dict__.pop("predictor", None) or Context(self)
        try:
            return self._running.during(work, predictor, *arguments)
        finally:
            local.predictor = predictor

    def _busy(self) -> bool:
        return self._handle is not None and bool(self._running)
