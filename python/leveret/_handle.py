"""What the library lends: freed once, when nothing uses it any more."""

from __future__ import annotations

import ctypes
import threading
from typing import Callable, List, Optional, TypeVar

Self = TypeVar("Self", bound="Owner")


class Handle:
    """Owns a pointer of the library. A call is given the handle itself, and so keeps it: whoever lets
    go of it last frees it, which no other thread can do meanwhile. `lock` is for calls that must not
    meet."""

    __slots__ = ("_as_parameter_", "_free", "lock")

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[[ctypes.c_void_p], None]) -> None:
        self._as_parameter_ = pointer
        self._free = free
        self.lock = threading.Lock()

    def __del__(self) -> None:
        self._free(self._as_parameter_)


class Owner:
    """An object with a handle, until it is closed."""

    _what = "object"
    _handle: Optional[Handle] = None

    def _open(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ValueError(f"the {self._what} is closed")
        return handle

    def _busy(self) -> bool:
        """Whether a call runs."""
        return False

    def close(self) -> None:
        """Frees it; it cannot be used any more. RuntimeError while a call of another thread runs."""
        if self._busy():
            raise RuntimeError(f"the {self._what} is in use by another call, and cannot be closed")
        self._handle = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object):
        raise TypeError(
            f"a {self._what} of leveret can neither be copied nor pickled: it lives in this process; "
            "open the model's file again"
        )


class Alone(Owner):
    """An Owner for one call at a time."""

    def _alone(self) -> Handle:
        """Each call holds its lock. A call that comes at the same moment waits for it; one that comes
        later is told."""
        handle = self._open()
        if handle.lock.locked():
            raise RuntimeError(
                f"the {self._what} is in use by another call: each thread has one of its own"
            )
        return handle

    def _busy(self) -> bool:
        handle = self._handle
        return handle is not None and handle.lock.locked()


class Running:
    """The calls that run. Locks are held by `with` alone, which lets go of them whatever interrupts a
    call, and nobody waits for them: a signal's handler, too, may do what the call it interrupts does."""

    def __init__(self) -> None:
        self._calls: List[threading.Lock] = []

    def __bool__(self) -> bool:
        return any(call.locked() for call in tuple(self._calls))

    def during(self, work: Callable, *arguments: object):
        call = threading.Lock()
        with call:
            self._calls.append(call)
            try:
                return work(*arguments)
            finally:
                self._calls.remove(call)
