"""LEVERET names the program, LEVERET_LIBRARY the library, LEVERET_SAMPLE the folder datasets/sample
where the tests do not lie beside it:

    PYTHONPATH=python python3 -m pytest python/tests
"""

import json
import math
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np

import leveret

PROGRAM = os.environ.get("LEVERET", "leveret")
SAMPLE = pathlib.Path(
    os.environ.get("LEVERET_SAMPLE")
    or pathlib.Path(__file__).resolve().parents[2] / "datasets" / "sample"
)


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


def as_array(features):
    return np.array(features, leveret.FEATURE)


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
            got = model.predict(self.lines)
            self.assertEqual((got.dtype, got.shape), (np.float32, (len(self.lines),)))

    def test_features(self):
        model = leveret.Model.open(self.path)
        self.check(model.predict_features(parse(model, line) for line in self.lines))
        self.check(model.predict_features(as_array(parse(model, line)) for line in self.lines))
        parts = [as_array(parse(model, line)) for line in self.lines]
        ends = np.cumsum([len(part) for part in parts])
        self.check(model.predict_features(np.concatenate(parts), ends))
        # Of a piece that has gaps, and numbers of another type.
        gaps = np.repeat(np.concatenate(parts), 2)[::2]
        self.check(model.predict_features(gaps, ends.astype(np.int32)))
        self.assertEqual(len(model.predict_features([])), 0)
        self.assertEqual(len(model.predict_features([[]])), 1)
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
                request.set_features(as_array(parse(model, line, in_context)))
                self.assertEqual(request.predict_features([as_array(features)])[0], got[0])
            request.set("|A b0")
            before = list(request.predict(["|a x"]))
            request.set("shared |A b0")
            self.assertEqual(list(request.predict(["|a x"])), before)
            request.clear()
            self.check(request.predict(self.lines))

    def test_rows(self):
        rows = [
            {"age": i % 40, "city": f"c {i % 7}", "tags": ["t", f"u{i % 3}"], "seen": f"2026-03-0{i % 9 + 1}"}
            for i in range(300)
        ]
        with tempfile.TemporaryDirectory() as folder:
            log, saved = os.path.join(folder, "log.jsonl"), os.path.join(folder, "model.lvt")
            with open(log, "w") as file:
                for i, row in enumerate(rows):
                    file.write(json.dumps({**row, "label": int(i % 40 > 20)}) + "\n")
            run("train", "--quiet", "-d", log, "-f", saved)
            expected = [float(p) for p in run("predict", "--quiet", "-i", saved, "-d", log).split()]
            model = leveret.Model.open(saved)
        self.assertEqual([float(f"{p:.6f}") for p in model.predict_rows(rows)], expected)
        # What NumPy and pandas have for the same values.
        others = [
            {
                "age": np.int64(row["age"]),
                "city": np.str_(row["city"]),
                "tags": np.array(row["tags"]),
                "seen": np.datetime64(row["seen"]),
            }
            for row in rows
        ]
        self.assertTrue((model.predict_rows(others) == model.predict_rows(rows)).all())
        missing = model.predict_rows([{"age": None}, {"age": float("nan"), "city": None}, {}])
        self.assertTrue((missing == missing[0]).all())
        with model.context("age,city") as request:
            request.set_row({"age": 30, "city": "c 3"})
            parts = request.predict_rows([{"tags": ["t"]}, {"seen": "2026-03-01"}])
            wholes = model.predict_rows(
                [{"age": 30, "city": "c 3", "tags": ["t"]}, {"age": 30, "city": "c 3", "seen": "2026-03-01"}]
            )
            np.testing.assert_allclose(parts, wholes, atol=1e-5)
            with self.assertRaisesRegex(leveret.BadLine, "in the context, too"):
                request.predict_rows([{"age": 3}])
        with self.assertRaisesRegex(leveret.BadLine, 'row 2: column "age": not a number') as caught:
            model.predict_rows([{"age": 3}, {"age": "x"}])
        self.assertEqual(list(np.isnan(caught.exception.probabilities)), [False, True])
        for wrong in ([{"age": object()}], [{"age": np.ones((2, 2))}], ["{}"], {"age": 3}, 3):
            with self.assertRaises(TypeError):
                model.predict_rows(wrong)

    def test_fingerprint(self):
        told = {path: json.loads(run("inspect", "--json", path)) for path in (self.path, self.other)}
        model = leveret.Model.open(self.path)
        self.assertEqual(model.fingerprint, told[self.path]["fingerprint"])
        self.assertEqual(model.sequence, 800)
        with model.context("A") as request:
            model.replace(self.other)
            self.assertEqual(model.fingerprint, told[self.other]["fingerprint"])
            self.assertEqual(request.fingerprint, told[self.path]["fingerprint"])
            self.assertEqual(request.sequence, 800)
            request.predict(["|a x"])
            self.assertEqual(request.fingerprint, told[self.other]["fingerprint"])

    def test_watch(self):
        live = os.path.join(self.folder.name, "live")
        shutil.copy(self.other, live)
        model = leveret.Model.open(self.path)
        with self.assertRaisesRegex(ValueError, "not watched"):
            model.watched
        other = leveret.Model.open(self.other).fingerprint
        path = model.fingerprint
        model.watch(live, seconds=0.01)
        self.assertEqual(model.fingerprint, other)  # it looks before it returns
        self.assertEqual(model.watched, (1, ""))

        def wait_for(what):
            end = time.monotonic() + 30
            while not what() and time.monotonic() < end:
                time.sleep(0.01)
            self.assertTrue(what())

        shutil.copy(self.path, live + ".new")
        os.rename(live + ".new", live)
        wait_for(lambda: model.fingerprint == path)
        self.check(model.predict(self.lines))
        pathlib.Path(live).unlink()
        wait_for(lambda: "live" in model.watched[1])
        self.assertEqual(model.watched[0], 2)
        model.watch(None)
        shutil.copy(self.other, live)
        time.sleep(0.1)
        self.assertEqual(model.fingerprint, path)
        for seconds in (0, -1, float("nan"), 1e9):
            with self.assertRaises(ValueError):
                model.watch(live, seconds)
        for bad in ("1", None, True):
            with self.assertRaises(TypeError):
                model.watch(live, bad)
        model.watch(live, 60)
        model.close()
        with self.assertRaises(ValueError):
            model.watch(live)

    def test_errors(self):
        with self.assertRaisesRegex(OSError, "nowhere"):
            leveret.Model.open("nowhere")
        model = leveret.Model.open(self.path)
        with self.assertRaisesRegex(leveret.BadLine, "line 2, column") as caught:
            model.predict([self.lines[0], "x |a b", ""])
        self.assertEqual(f"{caught.exception.probabilities[0]:.6f}", self.expected[0])
        self.assertTrue(math.isnan(caught.exception.probabilities[1]))
        large = "|a" + " x" * (2**20 + 1)
        with self.assertRaisesRegex(leveret.BadLine, "line 2, .* 1048576 features") as caught:
            model.predict([self.lines[0], large])
        self.assertEqual(f"{caught.exception.probabilities[0]:.6f}", self.expected[0])
        with self.assertRaisesRegex(ValueError, "array 1 has 1048577 features"):
            model.predict_features([[], as_array([(1, 2, 3.0)] * (2**20 + 1))])
        with self.assertRaisesRegex(ValueError, "not finite"):
            model.predict_features([[(1, 2, math.inf)]])
        two = as_array([(1, 2, 3), (4, 5, 6)])
        for ends in [3], [-1, 2], [[2]], [2**40]:
            with self.assertRaisesRegex(ValueError, "from 0 to 2"):
                model.predict_features(two, ends)
        with self.assertRaisesRegex(ValueError, "must not be less than the one"):
            model.predict_features(two, [2, 1])
        for wrong in np.zeros(3), two.reshape(1, 2):
            with self.assertRaisesRegex(TypeError, "FEATURE"):
                model.predict_features([wrong])
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

    def test_widths(self):
        """1,000 candidates say what the program says, whatever the width of the weights."""
        rows = sample("test", 1000)
        contexts = "ABCDEF"
        for bits in 32, 16, 8, 4:
            path = os.path.join(self.folder.name, f"{bits}")
            run("export", "-i", self.path, "-o", path, "--bits", str(bits))
            expected = run("predict", "-i", path, given="\n".join(rows) + "\n").split()
            model = leveret.Model.open(path)
            self.assertEqual([f"{p:.6f}" for p in model.predict(rows)], expected)
            parsed = [as_array(parse(model, row)) for row in rows]
            self.assertEqual([f"{p:.6f}" for p in model.predict_features(parsed)], expected)
            expected = run("predict", "-i", path, "--context", ",".join(contexts), given="\n".join(rows) + "\n")
            got = []
            with model.context(list(contexts)) as request:
                for row in rows:
                    request.set_features(parse(model, row, lambda space: space in contexts))
                    candidate = parse(model, row, lambda space: space not in contexts)
                    got.extend(request.predict_features([candidate]))
            self.assertEqual([f"{p:.6f}" for p in got], expected.split())

    def test_patch(self):
        folder = self.folder.name
        names = [os.path.join(folder, name) for name in ("0", "1", "2", "1.patch", "2.patch", "to", "back")]
        rows = sample("train", 1000)
        run("train", "--quiet", "-f", names[0], given="\n".join(rows[:600]) + "\n")
        for i in 1, 2:
            more = "\n".join(rows[400 + 200 * i : 600 + 200 * i]) + "\n"
            run("train", "--quiet", "-i", names[i - 1], "-f", names[i], given=more)
            run("diff", names[i - 1], names[i], "-o", names[2 + i])
        answers = [list(leveret.Model.open(name).predict(self.lines)) for name in names[:3]]
        model = leveret.Model.open(names[0])
        with self.assertRaisesRegex(OSError, "patches in between"):
            model.patch([names[4]])
        self.assertEqual(list(model.predict(self.lines)), answers[0])
        model.patch([names[3]])
        self.assertEqual(list(model.predict(self.lines)), answers[1])
        model.patch([names[3], pathlib.Path(names[4])], to=names[5])
        self.assertEqual(list(model.predict(self.lines)), answers[2])
        # But for what is noted behind a model that was trained: its chunks.
        patched, trained = (pathlib.Path(names[i]).read_bytes() for i in (5, 2))
        self.assertEqual(patched, trained[: len(patched)])
        self.assertGreater(len(patched), 1000)
        with self.assertRaisesRegex(ValueError, "at least one patch"):
            model.patch([])
        # A patch is not written over, by whatever name.
        before = pathlib.Path(names[4]).read_bytes()
        os.link(names[4], names[4] + ".hard")
        os.symlink(names[4], names[4] + ".soft")
        model.replace(names[0])
        for target in names[4], os.path.relpath(names[4]), names[4] + ".hard", names[4] + ".soft":
            for chain in names[3:5], names[4:5]:
                with self.assertRaisesRegex(ValueError, "is the patch"):
                    model.patch(chain, to=target)
        self.assertEqual(pathlib.Path(names[4]).read_bytes(), before)
        self.assertEqual(list(model.predict(self.lines)), answers[0])
        # A chain of more patches than files may be open.
        run("diff", names[1], names[0], "-o", names[6])
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
        try:
            model.patch([names[3], names[6]] * 576 + [names[3]])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        self.assertEqual(list(model.predict(self.lines)), answers[1])

    def test_version(self):
        self.assertEqual(run("--version").split()[1], leveret.version())


if __name__ == "__main__":
    unittest.main()
