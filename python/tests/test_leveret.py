"""LEVERET names the program, LEVERET_LIBRARY the library:  python3 -m unittest discover python/tests"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import leveret  # noqa: E402

PROGRAM = os.environ.get("LEVERET", "leveret")
SAMPLE = pathlib.Path(__file__).resolve().parents[2] / "datasets" / "sample"


def run(*words, given=""):
    done = subprocess.run([PROGRAM, *words], input=given, text=True, capture_output=True, check=True)
    return done.stdout


def sample(name, count):
    file = str(SAMPLE / (name + ".vw.zst"))
    text = subprocess.run(["zstd", "-dcq", file], text=True, capture_output=True, check=True).stdout
    return text.split("\n")[:count]


def parse(model, line, wanted=lambda space: True):
    """Triples of a line without weights."""
    features = []
    for part in line.split("|")[1:]:
        name, *words = part.split()
        if not wanted(name):
            continue
        space = model.hash_namespace(name)
        for word in words:
            feature, _, value = word.partition(":")
            features.append((space, model.hash_feature(space, feature), float(value or 1)))
    return features


class LeveretTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "model")
        cls.other = os.path.join(cls.folder.name, "other")
        rows = "\n".join(sample("train", 800)) + "\n"
        run("train", "--quiet", "-f", cls.path, given=rows)
        run("train", "--quiet", "--seed", "9", "-f", cls.other, given=rows)
        # Of a context and candidates: their namespaces A to F and a to n.
        cls.lines = [line.split(" ", 1)[1] for line in sample("test", 100)]
        cls.lines.append("|A b0 |a x:2.5 y |new z")
        told = run("predict", "-i", cls.path, given="\n".join(cls.lines) + "\n")
        cls.expected = told.split()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, probabilities):
        self.assertEqual([f"{p:.6f}" for p in probabilities], self.expected)

    def test_lines(self):
        with leveret.Model.open(self.path) as model:
            self.check(model.predict(self.lines))
            self.check(model.predict([line.encode() + b"\n" for line in self.lines]))
            self.assertEqual(len(model.predict([])), 0)
            # What numpy.asarray() needs.
            view = memoryview(model.predict(self.lines))
            self.assertEqual((view.format, view.itemsize, view.contiguous), ("f", 4, True))

    def test_features(self):
        model = leveret.Model.open(self.path)
        self.check(model.predict_features(parse(model, line) for line in self.lines))
        self.assertEqual(model.field_count, 20)
        names = [part.split()[0] for part in self.lines[0].split("|")[1:]]
        by_field = [
            (names.index(part.split()[0]), feature[1], feature[2])
            for part, feature in zip(self.lines[0].split("|")[1:], parse(model, self.lines[0]))
        ]
        self.assertEqual(
            model.predict_features([by_field], by_field=True)[0],
            model.predict([self.lines[0]])[0],
        )

    def test_context(self):
        model = leveret.Model.open(self.path)
        in_context = lambda space: space.isupper()  # noqa: E731
        with model.context("A,B,C,D,E,F") as request:
            for line, expected in zip(self.lines, self.expected):
                parts = ["|" + part.rstrip() for part in line.split("|")[1:]]
                request.set(" ".join(part for part in parts if in_context(part[1:].split()[0])))
                candidate = " ".join(part for part in parts if not in_context(part[1:].split()[0]))
                got = request.predict([candidate, candidate])
                self.assertEqual(got[0], got[1])
                self.assertAlmostEqual(got[0], float(expected), delta=2e-6)
                request.set_features(parse(model, line, in_context))
                features = parse(model, line, lambda space: not in_context(space))
                self.assertEqual(request.predict_features([features])[0], got[0])
            request.clear()
            self.check(request.predict(self.lines))

    def test_errors(self):
        with self.assertRaisesRegex(OSError, "nowhere"):
            leveret.Model.open("nowhere")
        model = leveret.Model.open(self.path)
        with self.assertRaisesRegex(leveret.BadLine, "line 2, column") as caught:
            model.predict([self.lines[0], "x |a b", ""])
        self.assertEqual(f"{caught.exception.probabilities[0]:.6f}", self.expected[0])
        self.assertTrue(math.isnan(caught.exception.probabilities[1]))
        with self.assertRaisesRegex(ValueError, "not finite"):
            model.predict_features([[(1, 2, math.inf)]])
        with self.assertRaisesRegex(OSError, "nowhere"):
            model.replace("nowhere")
        self.check(model.predict(self.lines))
        model.close()
        model.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            model.predict([])

    def test_replace_beside_threads(self):
        model = leveret.Model.open(self.path)
        both = [list(leveret.Model.open(path).predict(self.lines)) for path in (self.path, self.other)]
        self.assertNotEqual(*both)
        stop, wrong, seen = threading.Event(), [], set()

        def work():
            while not stop.is_set():
                got = list(model.predict(self.lines))
                if got not in both:
                    wrong.append(got)
                    return
                seen.add(both.index(got))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(20):
            model.replace(self.path if i % 2 else self.other)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertTrue(seen)
        self.assertEqual(list(model.predict(self.lines)), both[0])

    def test_version(self):
        self.assertEqual(run("--version").split()[1], leveret.version())


if __name__ == "__main__":
    unittest.main()
