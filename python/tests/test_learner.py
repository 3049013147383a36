"""What a learner learns is what `leveret train` does. As test_leveret.py needs it: LEVERET,
LEVERET_LIBRARY and LEVERET_SAMPLE."""

import doctest
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import leveret
from test_leveret import PROGRAM, as_array, parse, run, sample
from test_threads import Held

#: Prints what a learner does that gets one line for which there is room, or not.
NO_MEMORY = """
import leveret
from child import outcome

lines = ["1 |a " + " ".join(f"x{i}" for i in range(400000))]

def work():
    learner = leveret.Learner("--ffm_k 0")
    try:
        learner.learn(lines)
        return "learned"
    except MemoryError:
        try:
            learner.learn(["1 |a b"])
            return "goes on"
        except ValueError as error:
            try:
                learner.save("model")
            except ValueError:
                return str(error)

for megabytes in range(4, 40, 4):
    print(outcome(work, room=megabytes << 20))
"""


class LearnerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = sample("train", 3000)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def train(self, lines, *options):
        """The program's model, as `expected`, its predictions, and what it tells."""
        done = subprocess.run(
            [PROGRAM, "train", *options, "-p", "-", "-f", self.path("expected")],
            input="\n".join(lines) + "\n",
            text=True,
            capture_output=True,
            check=True,
        )
        return done.stdout.split(), done.stderr

    def check_saved(self, learner, name="got"):
        learner.save(self.path(name))
        self.assertEqual(self.bytes_of(name), self.bytes_of("expected"))

    def check_told(self, probabilities, expected):
        self.assertEqual([f"{p:.6f}" for p in probabilities], expected)

    def test_as_the_program(self):
        for options in [], ["--ffm_k", "2", "--hidden", "8,4"], ["-b", "12", "-q", "AB"]:
            expected, told = self.train(self.lines, *options)
            for given in options, " ".join(options):
                learner = leveret.Learner(given)
                self.check_told(learner.learn(self.lines), expected)
                self.check_saved(learner)
            self.assertRegex(told, rf"average loss +{learner.metrics.logloss:.6f}\n")
            self.assertRegex(told, rf"auc +{learner.metrics.auc:.4f}\n")

    def test_words_with_blanks(self):
        with open(self.path("a file"), "w") as file:
            file.write("A,B\nC\n")
        self.train(self.lines[:200], "--field", "@" + self.path("a file"))
        learner = leveret.Learner(["--field", "@" + self.path("a file")])
        learner.learn(self.lines[:200])
        self.check_saved(learner)

    def test_goes_on(self):
        """With the file of the program, and its own: as train -i."""
        run("train", "--quiet", "-f", self.path("first"), given="\n".join(self.lines[:1000]) + "\n")
        expected, _ = self.train(self.lines[1000:], "-i", self.path("first"), "-l", "0.1")
        learner = leveret.Learner.resume(self.path("first"), "-l 0.1")
        self.check_told(learner.learn(self.lines[1000:]), expected)
        self.check_saved(learner)
        with leveret.Learner() as learner:
            learner.learn(self.lines[:1000])
            learner.save(self.path("mine"))
        self.assertEqual(self.bytes_of("mine"), self.bytes_of("first"))

    def test_arrays(self):
        lines = self.lines[:1500]
        expected, _ = self.train(lines)
        learner = leveret.Learner()
        examples = [as_array(parse(learner, line)) for line in lines]
        labels = [float(line.split()[0]) for line in lines]
        first = learner.learn_features(labels[:700], examples[:700])
        rows = np.concatenate(examples[700:])
        ends = np.cumsum([len(example) for example in examples[700:]])
        told = learner.learn_features(labels[700:], rows, ends, importances=np.ones(800))
        self.check_told([*first, *told], expected)
        learner.save(self.path("got"))
        same = [leveret.Model.open(self.path(name)).fingerprint for name in ("got", "expected")]
        self.assertEqual(*same)
        answers = learner.predict_features(examples)
        np.testing.assert_array_equal(answers, learner.predict(lines))
        np.testing.assert_array_equal(answers, leveret.Model.open(self.path("got")).predict(lines))

    def test_bad_arrays(self):
        """Nothing is learned of a call with something wrong in it, however far behind."""
        learner = leveret.Learner("--ffm_k 0")
        rows, ends = np.zeros(5000, leveret.FEATURE), np.arange(1, 5001)
        labels, weights = np.ones(5000), np.ones(5000)
        labels[4000], weights[4500] = 7, -1
        unordered = ends.copy()
        unordered[4000] = 1
        for message, given in {
            "label of example 4000 is 7": (labels, rows, ends),
            "importance of example 4500 is -1": (np.ones(5000), rows, ends, weights),
            "must not be less than the one": (np.ones(5000), rows, unordered),
        }.items():
            with self.assertRaisesRegex(ValueError, message):
                learner.learn_features(*given)
            self.assertEqual(learner.lines, 0)

    def test_bad_lines(self):
        lines = [*self.lines, "x |a b", "", "-1 |a c", "1 |a b:1:2"]
        learner = leveret.Learner("--ffm_k 0")
        with self.assertRaises(leveret.BadLine) as raised:
            learner.learn(lines)
        self.assertIn("line 3001, column 1: label is not a number", str(raised.exception))
        found = raised.exception.probabilities
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(found)), [3000, 3001, 3003])
        self.assertEqual((learner.lines, learner.metrics.examples), (3004, 3001))
        with self.assertRaisesRegex(ValueError, "line 1 is several lines"):
            learner.learn(["1 |a b", "1 |a b\n1 |a c"])
        self.assertEqual(learner.lines, 3004)

    def test_interrupted(self):
        """Ctrl-C: the call ends between two lines, and the next one goes on there."""
        self.train(self.lines)
        learner = leveret.Learner()

        def interrupt(learned, count):
            self.assertLessEqual(learned, count)
            if learned < count:
                os.kill(os.getpid(), signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            learner.learn(self.lines, interrupt)
        self.assertTrue(0 < learner.lines < len(self.lines))
        learner.learn(self.lines[learner.lines :])
        self.check_saved(learner)

    def test_interrupted_within(self):
        """A signal that comes while the library learns is heard when it is through with a part."""
        self.train(self.lines)
        learner = leveret.Learner()
        held = Held("learner_learn_lines")

        def interrupt():
            held.inside.wait(20)
            os.kill(os.getpid(), signal.SIGINT)
            held.go.set()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with held, self.assertRaises(KeyboardInterrupt):
            learner.learn(self.lines)
        thread.join()
        learner.learn(self.lines[learner.lines :])
        self.check_saved(learner)

    def test_progress(self):
        told = []
        learner = leveret.Learner("--ffm_k 0")
        learner.learn(self.lines, lambda *words: told.append((*words, learner.metrics.examples)))
        self.assertEqual(told[-1], (3000, 3000, 3000))
        self.assertEqual(told, sorted(told))
        with self.assertRaises(ZeroDivisionError):
            learner.learn(self.lines, lambda learned, count: 1 // 0)
        self.assertTrue(3000 < learner.lines < 6000)

    def test_in_use(self):
        """Each thread has its own; what is in use is not closed."""
        learner = leveret.Learner("--ffm_k 0")

        def meanwhile():
            for call in (
                lambda: learner.learn(self.lines[:1]),
                lambda: learner.predict(["|a b"]),
                lambda: learner.save(self.path("model")),
                lambda: learner.metrics,
                lambda: learner.lines,
                learner.close,
            ):
                with self.assertRaisesRegex(RuntimeError, "in use"):
                    call()

        with Held("learner_learn_lines") as held:
            held.during(lambda: learner.learn(self.lines[:10]), meanwhile)
        self.assertEqual(learner.lines, 10)
        learner.close()
        with self.assertRaisesRegex(ValueError, "the learner is closed"):
            learner.learn([])

    def test_threads(self):
        learner = leveret.Learner("--threads 3 --ffm_k 2")
        told = learner.learn(self.lines)
        self.assertFalse(np.isnan(told).any())
        self.assertEqual(learner.metrics.examples, 3000)

    def test_nothing_learned(self):
        learner = leveret.Learner()
        learner.learn(["|a b"])
        with self.assertRaisesRegex(ValueError, "no labelled example"):
            learner.save(self.path("model"))
        self.assertFalse(os.path.exists(self.path("model")))

    def test_no_memory(self):
        """What is half learned is not gone on with. Where memory ends before anything is, all is well."""
        # An interpreter of its own, as this one has memory that other tests have given back.
        done = subprocess.run(
            [sys.executable, "-c", NO_MEMORY],
            cwd=os.path.dirname(os.path.abspath(__file__)),
            text=True,
            capture_output=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = set(done.stdout.splitlines())
        half = (
            "('returned', \"'an error has ended a call of this learner half way, and what it has learned "
            "is not known; go on from what was saved'\", [])"
        )
        self.assertIn(half, told)
        self.assertLessEqual(
            told, {half, "('returned', \"'learned'\", [])", "('returned', \"'goes on'\", [])"}
        )

    def test_evaluate(self):
        self.train(self.lines)
        lines = sample("test", 2000)
        told = run("evaluate", "--json", "-i", self.path("expected"), given="\n".join(lines) + "\n")
        labels = [int(line.split()[0]) for line in lines]
        found = leveret.evaluate(labels, leveret.Model.open(self.path("expected")).predict(lines))
        for name, value in json.loads(told).items():
            if name not in ("mean_label", "skew"):  # that of base_rate, and no figure
                self.assertAlmostEqual(getattr(found, name), value, delta=5.1e-7, msg=name)
        as_clicks = leveret.evaluate(np.array(labels) == 1, [0.5] * len(labels))
        self.assertEqual((as_clicks.auc, as_clicks.base_rate), (0.5, found.base_rate))
        with self.assertRaisesRegex(ValueError, "label of example 1 is 2"):
            leveret.evaluate([1, 2], [0.5, 0.5])
        with self.assertRaisesRegex(ValueError, "2 labels of 1 examples|1 predictions of 2"):
            leveret.evaluate([1, 0], [0.5])
        with self.assertRaisesRegex(ValueError, "prediction 1 is -2.5"):  # a log-odds
            leveret.evaluate([1, 0], [0.5, -2.5])

    def test_what_documentation_shows(self):
        finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
        for documented in leveret.Learner, leveret.LeveretClassifier, leveret.evaluate:
            for test in finder.find(documented, documented.__name__, globs={}):
                result = runner.run(test)
                self.assertGreater(result.attempted, 2, documented)
                self.assertEqual(result.failed, 0, documented)

    def test_typed(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(leveret.__file__), "py.typed")))


if __name__ == "__main__":
    unittest.main()
