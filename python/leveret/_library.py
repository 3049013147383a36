"""libleveret, loaded; its functions with their types (leveret/leveret.h)."""

from __future__ import annotations

import ctypes
import os

_ABI_VERSION = 1

OK, BAD_ARGUMENT, BAD_FILE, BAD_LINE, NO_MEMORY, FAILED = range(6)
BY_FIELD, BY_NAMESPACE = range(2)


def _load() -> ctypes.CDLL:
    path = os.environ.get("LEVERET_LIBRARY", "libleveret.so.0")
    library = ctypes.CDLL(path)
    if library.leveret_abi_version() != _ABI_VERSION:
        raise ImportError(
            f"{path} has the binary interface {library.leveret_abi_version()}, and "
            f"{_ABI_VERSION} is needed; LEVERET_LIBRARY names another file"
        )
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    out = ctypes.POINTER(ctypes.c_void_p)
    numbers = ctypes.POINTER(ctypes.c_uint32)
    for name, arguments in {
        "model_open": [ctypes.c_char_p, out],
        "model_replace": [pointer, ctypes.c_char_p],
        "model_patch": [pointer, ctypes.POINTER(ctypes.c_char_p), size, ctypes.c_char_p],
        "hash_namespace": [pointer, ctypes.c_char_p, size, numbers],
        "hash_feature": [pointer, ctypes.c_uint32, ctypes.c_char_p, size, numbers],
        "field_count": [pointer, numbers],
        "predictor_new": [pointer, ctypes.c_char_p, out],
        "set_context": [pointer, ctypes.c_char_p, size],
        "set_context_features": [pointer, ctypes.c_int, pointer, size],
        "clear_context": [pointer],
        "predict_lines": [pointer, ctypes.c_char_p, size, pointer, size],
        "predict_features": [pointer, ctypes.c_int, pointer, pointer, pointer, size],
    }.items():
        function = getattr(library, "leveret_" + name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    for name in ("model_close", "predictor_free"):
        function = getattr(library, "leveret_" + name)
        function.argtypes = [pointer]
        function.restype = None
    for name in ("error_message", "version"):
        getattr(library, "leveret_" + name).restype = ctypes.c_char_p
    return library


library = _load()
