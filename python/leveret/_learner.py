"""Learning."""

from __future__ import annotations

import ctypes
import re
import time
from typing import Callable, Iterable, Optional, Sequence, Union

import numpy as np

from . import _arguments
from ._arguments import FEATURE, Features, Line, Path
from ._errors import BadLine, check
from ._evaluate import Metrics, metrics_of
from ._handle import Alone, Handle
from ._library import library

Options = Union[str, Iterable[str]]
Progress = Callable[[int, int], object]


class _Parts:
    """[0, count) in parts that take some hundredths of a second each: between two of them Python has
    its turn, and so have Ctrl-C and progress functions."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._size = 1024
        self._end = 0
        self._began = 0.0

    def __iter__(self) -> "_Parts":
        return self

    def __next__(self) -> slice:
        now = time.monotonic()
        if self._end > 0:
            if now - self._began < 0.025:
                self._size = min(2 * self._size, 1 << 22)
            elif now - self._began > 0.1:
                self._size = max(self._size // 2, 16)
        if self._end >= self._count:
            raise StopIteration
        self._began = now
        begin, self._end = self._end, min(self._count, self._end + self._size)
        return slice(begin, self._end)


def _counted_on(error: BadLine, before: int) -> BadLine:
    """The same error, its line counted from `before` lines further in front."""
    words = re.sub(
        r"^(line|array) (\d+)", lambda m: f"{m[1]} {int(m[2]) + before}", str(error)
    )
    return BadLine(words)


class Learner(Alone):
    """Learns a model as `leveret train` does, from lines or arrays, and predicts each example before it
    learns it. With the same options and lines the saved file is the program's, byte for byte, but for
    several threads.

    >>> import leveret
    >>> learner = leveret.Learner("--ffm_k 2 --hidden none")
    >>> predicted = learner.learn(["1 |user u1 |ad a1", "-1 |user u1 |ad a2"] * 50)
    >>> len(predicted), float(predicted[0]), bool(predicted[98] > 0.9 > 0.1 > predicted[99])
    (100, 0.5, True)
    >>> learner.metrics.examples
    100
    >>> one, other = learner.predict(["|user u2 |ad a1", "|user u2 |ad a2"])
    >>> bool(one > other)
    True

    Of one thread at a time. Ctrl-C ends a call between two examples: what was learned stays, `lines`
    says how many came, and the learner goes on with its next call.
    """

    _what = "learner"

    def __init__(self, options: Options = "") -> None:
        """A new model. `options`: those of `leveret train` about the model and how it learns, and
        --threads, --pin and --max_memory, as one string or as words."""
        words, pointer = _arguments.options(options), ctypes.c_void_p()
        check(library.leveret_learner_open(words, ctypes.byref(pointer)))
        self._handle = Handle(pointer, library.leveret_learner_close)

    @classmethod
    def resume(cls, path: Path, options: Options = "") -> "Learner":
        """Goes on with the model of a file, exactly there. Options of learning may be others."""
        name, words = _arguments.path(path, "path"), _arguments.options(options)
        pointer = ctypes.c_void_p()
        check(library.leveret_learner_resume(name, words, ctypes.byref(pointer)))
        learner = cls.__new__(cls)
        learner._handle = Handle(pointer, library.leveret_learner_close)
        return learner

    def learn(self, lines: Iterable[Line], progress: Optional[Progress] = None) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities, of which each was made before its line was
        learned; NaN of a blank line. BadLine where some are no examples, behind which the others are
        learned. `progress` is told, some times a second, how many lines are learned, and n; what it
        raises ends the call there."""
        text = _arguments.single_lines(lines, "line")

        def learn_part(handle: Handle, part: slice, result: np.ndarray) -> int:
            joined = b"".join(text[part])
            return library.leveret_learner_learn_lines(
                handle, joined, len(joined), result.ctypes.data, len(result)
            )

        return self._learn(learn_part, len(text), progress)

    def learn_features(
        self,
        labels: Sequence[float],
        examples: Union[Features, Iterable[Features]],
        ends: Optional[Sequence[int]] = None,
        importances: Optional[Sequence[float]] = None,
        progress: Optional[Progress] = None,
    ) -> np.ndarray:
        """The same without text: labels [n] (1: a click; 0 or -1: none; NaN: not known), the features of
        n examples as Context.predict_features has them, importances [n] (1 each where there are none)
        -> float32 [n]. A feature's space is a namespace's hash, of hash_namespace() of this learner."""
        features, stops = _arguments.candidates(examples, ends)
        known = _arguments.numbers_of(labels, "labels", len(stops))
        weights = (
            None
            if importances is None
            else _arguments.numbers_of(importances, "importances", len(stops))
        )
        _arguments.check_order(stops)
        _arguments.check_clicks(known, weights)

        def learn_part(handle: Handle, part: slice, result: np.ndarray) -> int:
            begin = int(stops[part.start - 1]) if part.start > 0 else 0
            ends_here = np.ascontiguousarray(stops[part] - np.uintp(begin))
            return library.leveret_learner_learn_features(
                handle,
                known[part].ctypes.data,
                None if weights is None else weights[part].ctypes.data,
                features.ctypes.data + begin * FEATURE.itemsize,
                ends_here.ctypes.data,
                result.ctypes.data,
                len(result),
            )

        return self._learn(learn_part, len(stops), progress)

    def predict(self, lines: Sequence[Line]) -> np.ndarray:
        """n lines of VW text -> float32 [n], probabilities by the model as it is now; nothing is learned.
        BadLine where some are no examples."""
        parts = _arguments.lines(lines, "line")
        text, result = b"".join(parts), np.empty(len(parts), np.float32)
        handle = self._alone()
        with handle.lock:
            try:
                check(
                    library.leveret_learner_predict_lines(
                        handle, text, len(text), result.ctypes.data, len(result)
                    )
                )
            except BadLine as error:
                error.probabilities = result
                raise
        return result

    def predict_features(
        self, examples: Union[Features, Iterable[Features]], ends: Optional[Sequence[int]] = None
    ) -> np.ndarray:
        """The features of n examples -> float32 [n], as predict."""
        features, stops = _arguments.candidates(examples, ends)
        result = np.empty(len(stops), np.float32)
        handle = self._alone()
        with handle.lock:
            check(
                library.leveret_learner_predict_features(
                    handle, features.ctypes.data, stops.ctypes.data, result.ctypes.data, len(stops)
                )
            )
        return result

    def hash_namespace(self, name: Line) -> int:
        """The hash of a namespace by its name; features may be of it from then on."""
        return self._hash(library.leveret_learner_hash_namespace, name)

    def hash_feature(self, namespace_hash: int, name: Line) -> int:
        """The hash of a feature by its name, within the namespace of this hash."""
        number = _arguments.hash_of(namespace_hash, "namespace_hash")
        return self._hash(library.leveret_learner_hash_feature, name, number)

    def save(self, path: Path) -> None:
        """Saves the model, whole or not at all: the file of `leveret train -f`. The learner goes on."""
        name = _arguments.path(path, "path")
        handle = self._alone()
        with handle.lock:
            check(library.leveret_learner_save(handle, name))

    @property
    def lines(self) -> int:
        """Lines and examples that all calls have taken: learned, blank or bad."""
        count = ctypes.c_uint64()
        handle = self._alone()
        with handle.lock:
            check(library.leveret_learner_lines(handle, ctypes.byref(count)))
        return count.value

    @property
    def metrics(self) -> Metrics:
        """What it predicted before it learned was worth, as `leveret train` tells it."""
        handle = self._alone()
        with handle.lock:
            return metrics_of(library.leveret_learner_metrics, handle)

    def _learn(
        self,
        learn_part: Callable[[Handle, slice, np.ndarray], int],
        count: int,
        progress: Optional[Progress],
    ) -> np.ndarray:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is to be a function, not {type(progress).__name__}")
        result = np.full(count, np.nan, np.float32)
        bad: Optional[BadLine] = None
        handle = self._alone()
        for part in _Parts(count):
            with handle.lock:
                try:
                    check(learn_part(handle, part, result[part]))
                except BadLine as error:
                    bad = bad or _counted_on(error, part.start)
            if progress is not None:
                progress(part.stop, count)
        if bad is not None:
            bad.probabilities = result
            raise bad
        return result

    def _hash(self, function, name: Line, *before: int) -> int:
        text, value = _arguments.text(name, "name"), ctypes.c_uint32()
        handle = self._alone()
        with handle.lock:
            check(function(handle, *before, text, len(text), ctypes.byref(value)))
        return value.value
