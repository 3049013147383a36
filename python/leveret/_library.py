"""libleveret, found and loaded; its functions with their types (leveret/leveret.h)."""

from __future__ import annotations

import ctypes
import os
import sysconfig
from typing import Iterator

_ABI_VERSION = 1
_NAME = "libleveret.so.0"

OK, BAD_ARGUMENT, BAD_FILE, BAD_LINE, NO_MEMORY, FAILED, STOPPED = range(7)
BY_FIELD, BY_NAMESPACE = range(2)


class MetricsStruct(ctypes.Structure):
    """leveret_metrics"""

    _fields_ = [("examples", ctypes.c_uint64), ("not_finite", ctypes.c_uint64)] + [
        (name, ctypes.c_double)
        for name in (
            "weight",
            "logloss",
            "auc",
            "auc_error",
            "ne",
            "rig",
            "calibration",
            "base_rate",
            "mean_prediction",
        )
    ]


def _places() -> Iterator[str]:
    """Where the library may be, the likelier first: beside the package, where the loader looks, where
    `cmake --install` puts it without a prefix, which the loader may not know of yet (ldconfig(8))."""
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME)
    yield _NAME
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    for folder in "lib", f"lib/{multiarch}", "lib64":
        yield os.path.join("/usr/local", folder, _NAME)


def _load(path: str) -> ctypes.CDLL:
    """Throws OSError where there is none, ImportError where it is another one."""
    library = ctypes.CDLL(path)
    try:
        version = library.leveret_abi_version()
        if version != _ABI_VERSION:
            raise ImportError(
                f"{path} has the binary interface {version}, and {_ABI_VERSION} is needed"
            )
        _declare(library)
    except AttributeError as error:
        raise ImportError(f"{path} lacks a function of libleveret: {error}") from None
    return library


def _declare(library: ctypes.CDLL) -> None:
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    out = ctypes.POINTER(ctypes.c_void_p)
    numbers = ctypes.POINTER(ctypes.c_uint32)
    long_number = ctypes.POINTER(ctypes.c_uint64)
    for name, arguments in {
        "model_open": [ctypes.c_char_p, out],
        "model_replace": [pointer, ctypes.c_char_p],
        "model_patch": [pointer, ctypes.POINTER(ctypes.c_char_p), size, ctypes.c_char_p],
        "model_watch": [pointer, ctypes.c_char_p, ctypes.c_uint],
        "model_watched": [pointer, long_number, ctypes.c_char_p, size],
        "model_fingerprint": [pointer, ctypes.c_char_p],
        "model_sequence": [pointer, long_number],
        "predictor_fingerprint": [pointer, ctypes.c_char_p],
        "predictor_sequence": [pointer, long_number],
        "hash_namespace": [pointer, ctypes.c_char_p, size, numbers],
        "hash_feature": [pointer, ctypes.c_uint32, ctypes.c_char_p, size, numbers],
        "field_count": [pointer, numbers],
        "predictor_new": [pointer, ctypes.c_char_p, out],
        "set_context": [pointer, ctypes.c_char_p, size],
        "set_context_features": [pointer, ctypes.c_int, pointer, size],
        "clear_context": [pointer],
        "predict_lines": [pointer, ctypes.c_char_p, size, pointer, size],
        "set_context_row": [pointer, ctypes.c_char_p, size],
        "predict_rows": [pointer, ctypes.c_char_p, size, pointer, size],
        "predict_features": [pointer, ctypes.c_int, pointer, pointer, pointer, size],
        "learner_open": [ctypes.c_char_p, out],
        "learner_resume": [ctypes.c_char_p, ctypes.c_char_p, out],
        "learner_learn_lines": [pointer, ctypes.c_char_p, size, pointer, size],
        "learner_learn_features": [pointer, pointer, pointer, pointer, pointer, pointer, size],
        "learner_predict_lines": [pointer, ctypes.c_char_p, size, pointer, size],
        "learner_predict_features": [pointer, pointer, pointer, pointer, size],
        "learner_hash_namespace": [pointer, ctypes.c_char_p, size, numbers],
        "learner_hash_feature": [pointer, ctypes.c_uint32, ctypes.c_char_p, size, numbers],
        "learner_save": [pointer, ctypes.c_char_p],
        "learner_lines": [pointer, long_number],
        "learner_metrics": [pointer, ctypes.POINTER(MetricsStruct)],
        "evaluate": [pointer, pointer, pointer, size, ctypes.POINTER(MetricsStruct)],
    }.items():
        function = getattr(library, "leveret_" + name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    for name in ("model_close", "predictor_free", "learner_close"):
        function = getattr(library, "leveret_" + name)
        function.argtypes = [pointer]
        function.restype = None
    for name in ("error_message", "version"):
        getattr(library, "leveret_" + name).restype = ctypes.c_char_p


def _find() -> ctypes.CDLL:
    named = os.environ.get("LEVERET_LIBRARY")
    failed = []
    for path in [named] if named else _places():
        try:
            return _load(path)
        except (OSError, ImportError) as error:
            failed.append(str(error) if path in str(error) else f"{path}: {error}")
    advice = (
        "the environment variable LEVERET_LIBRARY names another file, or none"
        if named
        else "install it (cmake --install build), run ldconfig, or name the file by the environment "
        "variable LEVERET_LIBRARY"
    )
    raise ImportError("\n  ".join([f"libleveret cannot be loaded: {advice}", *failed]))


library = _find()
