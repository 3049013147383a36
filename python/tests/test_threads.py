"""What threads and signals do to one model and one context: an error at the most. As test_leveret.py
needs it: LEVERET and LEVERET_LIBRARY."""

import ctypes
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np

import leveret
from child import outcome

PROGRAM = os.environ.get("LEVERET", "leveret")
ROWS = "1 |user u1 |ad a1\n-1 |user u2 |ad a2\n-1 |user u1 |ad a3\n"
LINES = ["|user u1 |ad a1", "|user u2 |ad a3"]
ROOM = 4 << 30  # threads ask for much that they never touch
SECONDS = 20  # more than anything takes


def run(*words, given=None):
    subprocess.run([PROGRAM, *words], input=given, text=True, check=True)


class Held:
    """A function of the library that waits inside, as a long call would, until it is let go."""

    def __init__(self, name):
        self.name = "leveret_" + name
        self.function = getattr(leveret.library, self.name)
        self.inside, self.go = threading.Event(), threading.Event()

    def __call__(self, *arguments):
        self.inside.set()
        self.go.wait(SECONDS)
        return self.function(*arguments)

    def __enter__(self):
        setattr(leveret.library, self.name, self)
        return self

    def __exit__(self, *_):
        setattr(leveret.library, self.name, self.function)

    def during(self, call, meanwhile):
        """What `call` returns, in a thread that is held; `meanwhile` runs while it is."""
        results = []
        thread = threading.Thread(target=lambda: results.append(call()))
        thread.start()
        try:
            assert self.inside.wait(SECONDS)
            setattr(leveret.library, self.name, self.function)
            meanwhile()
        finally:
            self.go.set()
            thread.join()
        return results[0]


class ThreadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path, cls.other, cls.step = (
            os.path.join(cls.folder.name, name) for name in ("model", "other", "patch")
        )
        run("train", "--quiet", "-f", cls.path, given=ROWS)
        run("train", "--quiet", "-f", cls.other, given=ROWS * 2)
        run("diff", cls.path, cls.other, "-o", cls.step)
        cls.expected = list(leveret.Model.open(cls.path).predict(LINES))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.model = leveret.Model.open(self.path)

    def calls(self, model):
        """Functions of the library, and the calls that lead there."""
        return {
            "predict_lines": lambda: model.predict(LINES),
            "predict_features": lambda: model.predict_features([[(1, 2, 3.0)]]),
            "model_replace": lambda: model.replace(self.path),
            "model_patch": lambda: model.patch([self.step]),
        }

    def test_a_context_in_two_threads(self):
        context = self.model.context("user")
        both = {
            "predict_lines": lambda: context.predict(LINES),
            "predict_features": lambda: context.predict_features([[(1, 2, 3.0)]]),
            "set_context": lambda: context.set("|user u1"),
            "set_context_features": lambda: context.set_features([]),
            "clear_context": context.clear,
        }
        calls = {**both, "close": context.close}

        def refused():
            for name, call in calls.items():
                with self.subTest(second=name), self.assertRaisesRegex(RuntimeError, "in use"):
                    call()

        for name, call in both.items():
            with self.subTest(first=name), Held(name) as held:
                held.during(call, refused)
        context.clear()
        self.assertEqual(list(context.predict(LINES)), self.expected)
        context.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            context.predict(LINES)

    def test_a_model_that_is_closed_while_it_works(self):
        def refused():
            with self.assertRaisesRegex(RuntimeError, "in use"):
                self.model.close()

        for name, call in self.calls(self.model).items():
            with self.subTest(call=name), Held(name) as held:
                held.during(call, refused)
        self.model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            self.model.predict(LINES)

    def test_one_model_in_many_threads(self):
        """Each call is inside the library while every other is."""
        for name, call in self.calls(self.model).items():
            if name == "model_patch":  # what one has patched is for no other
                continue
            with self.subTest(call=name), Held(name) as held:
                held.during(call, lambda: self.assertEqual(
                    list(self.model.predict(LINES)), self.expected))

    def test_the_interpreter_is_free_meanwhile(self):
        """Those of a CDLL let go of the interpreter's lock, those of a PyDLL do not."""
        self.assertIs(type(leveret.library), ctypes.CDLL)

    def hammer(self, *calls, seconds=2):
        """All at once, over and over: the exceptions that came, but for RuntimeError and ValueError,
        in a process of its own."""

        def work():
            wrong, end = set(), time.monotonic() + seconds

            def over_and_over(call):
                while time.monotonic() < end and not wrong:
                    try:
                        call()
                    except (RuntimeError, ValueError):
                        pass
                    except BaseException as error:
                        wrong.add(repr(error))

            threads = [threading.Thread(target=over_and_over, args=(call,)) for call in calls]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return wrong

        self.assertEqual(outcome(work, ROOM), ("returned", "set()", []))

    def test_a_context_under_many_threads(self):
        many = LINES * 1000
        box = [self.model.context("user")]

        def close():
            context = box[0]
            box[0] = self.model.context("user")
            context.close()

        def predict():
            box[0].predict(many)

        def request():
            box[0].set("|user u1")
            box[0].predict_features([[(1, 2, 3.0)]] * 100)
            box[0].clear()

        self.hammer(predict, predict, request, request, close)

    def test_a_model_under_many_threads(self):
        box = [self.model]

        def close():
            box[0].close()
            box[0] = leveret.Model.open(self.path)

        def there_and_back():
            box[0].patch([self.step])
            box[0].replace(self.path)

        self.hammer(
            lambda: box[0].predict(LINES * 1000),
            lambda: box[0].predict_features([[(1, 2, 3.0)]]),
            lambda: box[0].hash_feature(box[0].hash_namespace("a"), "b"),
            lambda: box[0].context("user").predict(LINES),
            lambda: box[0].field_count,
            there_and_back,
            close,
        )

    def test_ends_that_change(self):
        """What is handed over has been looked at: another thread may write into its array."""
        features = np.zeros(1000, leveret.FEATURE)
        ends = np.full(1000, 1000, np.uintp)

        def change():
            ends[:] = np.uintp(2**60)
            ends[:] = 1000

        self.hammer(lambda: self.model.predict_features(features, ends), change, change)

    def test_signals_that_call(self):
        """A handler does what the call that it interrupts does, and nothing stands still."""

        def work():
            model, wrong, called, depth = self.model, [], [0], [0]

            def handler(*_):
                # Where a machine is so slow that each call is interrupted, there is no end to it, and
                # each model takes a share of the addresses that are left.
                if depth[0] == 3:
                    return
                called[0] += 1
                depth[0] += 1
                model.predict(LINES)
                model.replace(self.path)
                if list(model.predict(LINES)) != self.expected:
                    wrong.append(called[0])
                depth[0] -= 1

            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.0013, 0.0013)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                if list(model.predict(LINES)) != self.expected:
                    wrong.append("main")
                model.replace(self.path)
            signal.setitimer(signal.ITIMER_REAL, 0)
            return wrong, called[0] > 10

        self.assertEqual(outcome(work, ROOM), ("returned", "([], True)", []))

    def test_calls_that_are_interrupted(self):
        """Whatever instruction it was at: nothing stays in use."""

        def work():
            chance = random.Random(1)
            model = self.model
            context = model.context("user")
            interrupted = 0

            def handler(*_):
                raise KeyboardInterrupt

            signal.signal(signal.SIGALRM, handler)
            for _ in range(200):
                try:
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 2e-3))
                    while True:
                        context.predict(LINES)
                        model.predict(LINES)
                except KeyboardInterrupt:
                    interrupted += 1
                if list(context.predict(LINES)) != self.expected:
                    return "another answer"
            context.close()
            model.close()
            return interrupted

        self.assertEqual(outcome(work, ROOM), ("returned", "200", []))


if __name__ == "__main__":
    unittest.main()
