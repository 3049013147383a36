"""Work in a process of its own, so that a crash is seen, with little memory, so that waste is."""

import ctypes
import gc
import os
import pickle
import resource
import sys
import warnings


def outcomes(works, room=64 << 20):
    """What each of `works` does in a child: ("returned", repr) or ("raised", the names of the
    exception's classes, its words), each with what was said on the side; ("died", status) where it
    crashed: the next then has another child. A child has `room` bytes of memory beside what this
    process has."""
    found = []
    while len(found) < len(works):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(here)
            try:
                with os.fdopen(there, "wb") as pipe:
                    _limit(room)
                    for work in works[len(found) :]:
                        pickle.dump(_told(work), pipe)
                        pipe.flush()
            finally:
                os._exit(0)
        os.close(there)
        before = len(found)
        with os.fdopen(here, "rb") as pipe:
            try:
                while True:
                    found.append(pickle.load(pipe))
            except (EOFError, pickle.UnpicklingError):
                pass
        status = os.waitpid(child, 0)[1]
        if len(found) < len(works):
            assert status != 0 or len(found) > before, "the child cannot work"
            found.append(("died", status))
    return found


def outcome(work, room=64 << 20):
    return outcomes([work], room)[0]


def _limit(room):
    # A heap for each thread, as that of a watch, would take all of the room (M_ARENA_MAX).
    ctypes.CDLL(None).mallopt(-8, 1)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    gc.freeze()  # what is there already need not be looked through each time


def _told(work):
    aside = []
    # What no caller can catch, as in __del__, is noted.
    sys.unraisablehook = lambda found: aside.append(f"{found.err_msg}: {found.exc_value!r}")
    try:
        told = "returned", repr(work())[:200]
    except BaseException as error:
        told = "raised", [kind.__name__ for kind in type(error).__mro__], str(error)[:200]
    gc.collect()
    return (*told, aside)
