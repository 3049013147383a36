"""A learner of two classes with the interface of scikit-learn, which need not be installed."""

from __future__ import annotations

import contextlib
import inspect
import os
from typing import Any, BinaryIO, Dict, Iterator, Optional, Sequence, Tuple

import numpy as np

from ._arguments import Path
from ._columns import FORMS, Columns, Hasher, Table, table_of
from ._learner import Learner

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d
except ImportError:

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """As scikit-learn's."""

    class ClassifierMixin:  # type: ignore[no-redef]
        """What scikit-learn asks of an estimator."""

        def score(self, X: object, y: object, sample_weight: Optional[Sequence[float]] = None) -> float:
            """The share of rows whose class is predicted."""
            hits = np.asarray(self.predict(X)) == np.asarray(y)  # type: ignore[attr-defined]
            return float(np.average(hits, weights=sample_weight))

    class BaseEstimator:  # type: ignore[no-redef]
        """What scikit-learn asks of an estimator."""

        def get_params(self, deep: bool = True) -> Dict[str, Any]:
            names = list(inspect.signature(type(self).__init__).parameters)[1:]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> "BaseEstimator":
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

    def check_classification_targets(y: np.ndarray) -> None:  # type: ignore[no-redef]
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous")

    def column_or_1d(y: object, *, warn: bool = False) -> np.ndarray:  # type: ignore[no-redef]
        array = np.asarray(y)
        if array.ndim == 2 and array.shape[1] == 1:
            return array[:, 0]
        if array.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
        return array


class LeveretClassifier(ClassifierMixin, BaseEstimator):
    """Learns in one pass, or in `passes`, over rows in their order.

    Each column of a data frame is a namespace of its name (of an array: x0, x1, …), and so a field.
    Numbers become features as `leveret convert csv --numeric_as` makes them (`numeric_as`: log2bucket,
    value or both); anything else is a category, its text the feature. So an id that is stored as a number
    needs pandas' type category, or str. What is missing (None, NaN, "") has no feature. `options` are those of `leveret train` about the model and how it learns.

    >>> import numpy as np, leveret
    >>> X = np.array([["u1", "a1"], ["u1", "a2"], ["u2", "a1"], ["u2", "a2"]] * 50, dtype=object)
    >>> y = np.array(["bought", "not", "bought", "not"] * 50)
    >>> classifier = leveret.LeveretClassifier(options="--ffm_k 2 --hidden none").fit(X, y)
    >>> classifier.classes_.tolist(), classifier.predict([["u1", "a1"], ["u3", "a2"]]).tolist()
    (['bought', 'not'], ['bought', 'not'])
    >>> classifier.predict_proba(X[:1]).shape
    (1, 2)

    `partial_fit` goes on with what comes next; its first call may name all `classes`. `learner_` is the
    Learner, `save` writes the model for `leveret predict` and `leveret serve`, to which class
    `classes_[1]` is a click.
    """

    def __init__(self, options: str = "", *, numeric_as: str = "log2bucket", passes: int = 1) -> None:
        self.options = options
        self.numeric_as = numeric_as
        self.passes = passes

    def fit(
        self, X: object, y: object, sample_weight: Optional[Sequence[float]] = None
    ) -> "LeveretClassifier":
        """Begins anew and learns rows [n] of their classes [n], weighted by `sample_weight` [n]."""
        table, targets = _rows_of(X, y)
        self._begin(table, np.unique(targets))
        if not isinstance(self.passes, (int, np.integer)) or self.passes < 1:
            raise ValueError(f"passes is {self.passes!r}, and is to be a whole number from 1 on")
        for _ in range(self.passes):
            self._learn(table, targets, sample_weight)
        return self

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: Optional[Sequence[object]] = None,
        sample_weight: Optional[Sequence[float]] = None,
    ) -> "LeveretClassifier":
        """Learns more rows."""
        table, targets = _rows_of(X, y)
        if not hasattr(self, "learner_"):
            self._begin(table, np.unique(targets if classes is None else np.asarray(classes)))
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes are {classes!r}, and were {self.classes_!r} in the first call")
        self._check_columns(table)
        self._learn(table, targets, sample_weight)
        return self

    def predict_proba(self, X: object) -> np.ndarray:
        """Rows [n] -> float64 [n, 2], probabilities of the classes, in the order of `classes_`."""
        positive = self._probabilities(X)
        return np.stack([1 - positive, positive], axis=1)

    def decision_function(self, X: object) -> np.ndarray:
        """Rows [n] -> float64 [n], log-odds of `classes_[1]`."""
        positive = np.clip(self._probabilities(X), 1e-12, 1 - 1e-12)
        return np.log(positive / (1 - positive))

    def predict(self, X: object) -> np.ndarray:
        """Rows [n] -> classes [n]."""
        positive = self._probabilities(X)
        return self.classes_[(positive > 0.5).astype(np.intp)]

    def save(self, path: Path) -> None:
        """Saves the model, as Learner.save."""
        self._check_fitted()
        self.learner_.save(path)

    def _begin(self, table: Table, classes: np.ndarray) -> None:
        if self.numeric_as not in FORMS:
            raise ValueError(f"numeric_as is {self.numeric_as!r}, and is to be one of {', '.join(FORMS)}")
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: y has {len(classes)} classes, and leveret "
                "learns two"
            )
        if len(classes) < 2:
            raise ValueError(
                f"y has one class, {classes.tolist()!r}, and two are to be told apart; partial_fit takes "
                "`classes`"
            )
        self.learner_ = Learner(self.options)
        self.options_ = self.options  # those that it learns by, whatever is set for the next fit
        self.columns_ = Columns(table, self.numeric_as)
        self.classes_ = classes
        self.n_features_in_ = len(table.columns)
        self.__dict__.pop("feature_names_in_", None)
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _learn(
        self, table: Table, targets: np.ndarray, sample_weight: Optional[Sequence[float]]
    ) -> None:
        if not np.isin(targets, self.classes_).all():
            raise ValueError(f"y has classes that are not {self.classes_.tolist()!r}")
        weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        if weights is not None and weights.shape != (table.rows,):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(table.rows,)}!")
        features, ends = self.columns_.features(table, self._hasher())
        labels = (targets == self.classes_[1]).astype(np.float32)
        self.learner_.learn_features(labels, features, ends, importances=weights)

    def _probabilities(self, X: object) -> np.ndarray:
        self._check_fitted()
        table = table_of(X)
        self._check_columns(table)
        features, ends = self.columns_.features(table, self._hasher())
        return self.learner_.predict_features(features, ends).astype(np.float64)

    def _hasher(self) -> Hasher:
        return Hasher(self.learner_.hash_namespace, self.learner_.hash_feature)

    def _check_fitted(self) -> None:
        if not hasattr(self, "learner_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def _check_columns(self, table: Table) -> None:
        if len(table.columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(table.columns)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        names = getattr(self, "feature_names_in_", None)
        if names is not None and table.names is not None and list(names) != table.names:
            raise ValueError(
                "The feature names should match those that were passed during fit: "
                f"{list(names)}, and these are {table.names}"
            )

    def __getstate__(self) -> Dict[str, Any]:
        """With the model's file in place of the learner."""
        state = dict(self.__dict__)
        if "learner_" in state:
            with _file_in_memory() as (path, file):
                state.pop("learner_").save(path)
                file.seek(0)
                state["_model"] = file.read()
        return state

    def __setstate__(self, state: Dict[str, Any]) -> None:
        model = state.pop("_model", None)
        self.__dict__.update(state)
        if model is None:
            return
        with _file_in_memory() as (path, file):
            file.write(model)
            file.flush()
            self.learner_ = Learner.resume(path, self.options_)

    def _more_tags(self) -> Dict[str, Any]:
        why = "rows are learned one after the other: their order counts, and each is counted"
        return {
            "binary_only": True,
            "allow_nan": True,
            "_xfail_checks": {"check_sample_weights_invariance": why},
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # of scikit-learn 1.6 and later
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags


@contextlib.contextmanager
def _file_in_memory() -> Iterator[Tuple[str, BinaryIO]]:
    """The path of a file that is in no folder, and the file."""
    with os.fdopen(os.memfd_create("leveret"), "w+b") as file:
        yield f"/proc/self/fd/{file.fileno()}", file


def _rows_of(X: object, y: object):
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    table = table_of(X)
    targets = column_or_1d(y, warn=True)
    if targets.dtype.kind == "f" and not np.isfinite(targets).all():
        raise ValueError("Input y contains NaN or infinity")
    check_classification_targets(targets)
    if len(targets) != table.rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{table.rows}, {len(targets)}]"
        )
    return table, targets


LeveretClassifier.__module__ = "leveret"
