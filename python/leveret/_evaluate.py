"""What predictions are worth."""

from __future__ import annotations

import ctypes
from typing import NamedTuple, Optional, Sequence

import numpy as np

from . import _arguments
from ._errors import check
from ._library import MetricsStruct, library


class Metrics(NamedTuple):
    """As `leveret evaluate --json` tells them; NaN where a figure has no value. Means are weighted by
    importance."""

    examples: int  #: with a label, and an importance above 0
    weight: float  #: sum of importances
    logloss: float  #: natural logarithm
    auc: float  #: area under the ROC curve
    ne: float  #: normalised entropy: logloss / entropy of base_rate
    rig: float  #: relative information gain: 1 - ne
    calibration: float  #: sum of predictions / number of clicks
    base_rate: float  #: clicks / weight
    mean_prediction: float
    auc_error: float  #: 0 where auc is exact, else the bound of its error
    not_finite: int  #: predictions that are NaN or infinite: in no other figure


Metrics.__module__ = "leveret"


def metrics_of(function, *arguments: object) -> Metrics:
    found = MetricsStruct()
    check(function(*arguments, ctypes.byref(found)))
    return Metrics(**{name: getattr(found, name) for name in Metrics._fields})


def evaluate(
    labels: Sequence[float],
    predictions: Sequence[float],
    importances: Optional[Sequence[float]] = None,
) -> Metrics:
    """Labels [n] (1: a click; 0 or -1: none; NaN: not known), probabilities [n], importances [n] (1
    each where there are none) -> what `leveret evaluate` tells of them. ValueError: one is finite and
    not from 0 to 1, as log-odds are.

    >>> import leveret
    >>> metrics = leveret.evaluate([1, 0, 0, 1], [0.75, 0.25, 0.5, 0.5])
    >>> metrics.auc, round(metrics.logloss, 6), metrics.examples
    (0.875, 0.490415, 4)
    """
    count = len(labels) if isinstance(labels, (Sequence, np.ndarray)) else None
    wanted = _arguments.numbers_of(predictions, "predictions", count)
    known = _arguments.numbers_of(labels, "labels", len(wanted))
    weights = (
        None
        if importances is None
        else _arguments.numbers_of(importances, "importances", len(wanted))
    )
    return metrics_of(
        library.leveret_evaluate,
        known.ctypes.data,
        None if weights is None else weights.ctypes.data,
        wanted.ctypes.data,
        len(wanted),
    )
