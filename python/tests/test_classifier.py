"""LeveretClassifier, with or without scikit-learn: rows of a table are the lines of `leveret convert
csv`. As test_leveret.py needs it: LEVERET and LEVERET_LIBRARY."""

import copy
import csv
import math
import os
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import leveret
from test_leveret import run


class Frame:
    """What is asked of a data frame."""

    def __init__(self, columns):
        self._columns = columns
        self.columns = list(columns)
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, name):
        return self._columns[name]

    def rows(self, begin, end):
        return Frame({name: column[begin:end] for name, column in self._columns.items()})


class Categories:
    """What is asked of a column of pandas' type category."""

    dtype = "category"

    def __init__(self, values):
        self.categories = sorted({value for value in values if value == value})
        self.codes = np.array([self.categories.index(v) if v == v else -1 for v in values], np.int8)
        self.cat = self

    def __len__(self):
        return len(self.codes)


def made(count, seed=1):
    """A frame, and clicks on ads that some users like."""
    chance = random.Random(seed)
    users = [f"u{chance.randrange(20)}" for _ in range(count)]
    ads = [chance.choice(["a 1", "a|2", "a:3", "ä%4", ""]) for _ in range(count)]
    prices = np.array([chance.choice([0, 0.3, 1, -2.5, 7, 1000.25, math.nan]) for _ in range(count)])
    counts = np.array([chance.randrange(-3, 100) for _ in range(count)])
    clicks = [int(hash_of(user + ad) % 3 == 0 or chance.random() < 0.1) for user, ad in zip(users, ads)]
    frame = Frame(
        {
            "user": np.array(users, object),
            "the ad": np.array(ads, object),
            "price": prices,
            "count": counts,
        }
    )
    return frame, np.array(clicks)


def hash_of(text):
    return sum(ord(letter) * (i + 1) for i, letter in enumerate(text))


class ClassifierTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, frame, clicks):
        with open(self.path("rows.csv"), "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["click", *frame.columns])
            for i, click in enumerate(clicks):
                cells = [frame[name][i] for name in frame.columns]
                rows.writerow([click, *("" if cell != cell else cell for cell in cells)])

    def test_categories_that_are_numbers(self):
        """An id of pandas' type category is no amount, whatever its values are."""
        ids, clicks = np.arange(400) % 40, np.arange(400) % 40 % 3 == 0

        def of(column):
            classifier = leveret.LeveretClassifier("--ffm_k 0").fit(Frame({"id": column}), clicks)
            return classifier.predict_proba(Frame({"id": column}))

        # Too large for a float, in which pandas holds whole numbers beside missing ones.
        large = [float("nan") if i == 7 else 2**60 + i for i in ids.tolist()]
        texts = np.array([None if i == 7 else str(2**60 + i) for i in ids.tolist()], object)
        np.testing.assert_array_equal(of(Categories(ids)), of(ids.astype(str).astype(object)))
        np.testing.assert_array_equal(of(Categories(large)), of(texts))
        self.assertFalse(np.array_equal(of(ids), of(Categories(ids))))

    def test_as_convert_csv(self):
        frame, clicks = made(1000)
        self.write(frame, clicks)
        # The text has six digits of a value. With rows of 32 bits what that makes stays as small on every
        # instruction set; with fewer it may be the other one of two neighbours that a step is rounded to.
        for numeric, places in ("log2bucket", 7), ("value", 5), ("both", 5):
            form = ["--numeric", "price,count", "--numeric_as", numeric]
            lines = run("convert", "csv", *form, self.path("rows.csv"))
            options = ["--ffm_k", "2", "--row_bits", "32"]
            run("train", "--quiet", *options, "-f", self.path("model"), given=lines)
            expected = leveret.Model.open(self.path("model"))
            classifier = leveret.LeveretClassifier(" ".join(options), numeric_as=numeric).fit(frame, clicks)
            told = expected.predict(lines.splitlines())
            got = classifier.predict_proba(frame)
            np.testing.assert_allclose(got[:, 1], told, atol=10.0**-places)
            np.testing.assert_allclose(got.sum(axis=1), 1)
            classifier.save(self.path("saved"))
            if numeric == "log2bucket":
                self.assertEqual(leveret.Model.open(self.path("saved")).fingerprint, expected.fingerprint)

    def test_learns(self):
        frame, clicks = made(4000)
        classifier = leveret.LeveretClassifier().fit(frame.rows(0, 3000), clicks[:3000])
        test = frame.rows(3000, 4000)
        found = leveret.evaluate(clicks[3000:], classifier.predict_proba(test)[:, 1])
        self.assertGreater(found.auc, 0.8)
        self.assertGreater(classifier.score(test, clicks[3000:]), 0.8)
        np.testing.assert_array_equal(
            classifier.predict(test), (classifier.decision_function(test) > 0).astype(int)
        )

    def test_in_parts(self):
        frame, clicks = made(600)
        whole = leveret.LeveretClassifier("--ffm_k 2").fit(frame, clicks)
        parts = leveret.LeveretClassifier("--ffm_k 2")
        for i in range(0, 600, 200):
            parts.partial_fit(frame.rows(i, i + 200), clicks[i : i + 200], classes=[0, 1])
        np.testing.assert_array_equal(whole.predict_proba(frame), parts.predict_proba(frame))
        twice = leveret.LeveretClassifier("--ffm_k 2", passes=2).fit(frame, clicks)
        whole.partial_fit(frame, clicks)
        np.testing.assert_array_equal(whole.predict_proba(frame), twice.predict_proba(frame))

    def test_categories_of_any_table(self):
        """A category is the same alone, among texts, and beside missing ones."""
        mixed = np.array([[5, "a"], ["x", "b"]] * 200, object)
        clicks = np.array([1, 0] * 200)
        classifier = leveret.LeveretClassifier("--ffm_k 0").fit(mixed, clicks)
        expected = classifier.predict_proba(np.array([[5, "a"]], object))
        self.assertGreater(expected[0, 1], 0.8)
        for alone in [[5]], [[5.0]], [["5"]], [[np.int32(5)]], [[5.0], [np.nan]]:
            rows = np.array([[row[0], "a"] for row in alone], object)
            np.testing.assert_array_equal(classifier.predict_proba(rows)[:1], expected)
        whole = leveret.LeveretClassifier("--ffm_k 0").fit(np.array([[1, "u"], [2.5, "v"]] * 50, object), clicks[:100])
        whole.predict_proba(np.array([["", "u"], [None, "v"]], object))

    def test_weights(self):
        frame, clicks = made(300)
        many = leveret.LeveretClassifier().fit(frame, clicks, sample_weight=np.where(clicks, 9, 1))
        few = leveret.LeveretClassifier().fit(frame, clicks)
        self.assertGreater(many.predict_proba(frame)[:, 1].mean(), few.predict_proba(frame)[:, 1].mean())

    def test_copies(self):
        frame, clicks = made(200)
        classifier = leveret.LeveretClassifier("--ffm_k 2").fit(frame, clicks)
        expected = classifier.predict_proba(frame)
        for other in pickle.loads(pickle.dumps(classifier)), copy.deepcopy(classifier):
            np.testing.assert_array_equal(other.predict_proba(frame), expected)
            other.partial_fit(frame, clicks)
        np.testing.assert_array_equal(classifier.predict_proba(frame), expected)
        self.assertEqual(
            classifier.get_params(), {"options": "--ffm_k 2", "numeric_as": "log2bucket", "passes": 1}
        )

    def test_pickled_after_options_were_set(self):
        """What is set is for the next fit: the learner keeps what it learns by."""
        frame, clicks = made(200)
        classifier = leveret.LeveretClassifier("--ffm_k 2").fit(frame, clicks)
        expected = classifier.predict_proba(frame)
        classifier.set_params(options="--ffm_k 8 -b 12", numeric_as="value", passes=3)
        for other in pickle.loads(pickle.dumps(classifier)), copy.deepcopy(classifier):
            np.testing.assert_array_equal(other.predict_proba(frame), expected)
            self.assertEqual(other.get_params(), classifier.get_params())
            other.partial_fit(frame, clicks)
            again = leveret.LeveretClassifier("--ffm_k 8 -b 12", numeric_as="value", passes=3)
            np.testing.assert_array_equal(
                other.fit(frame, clicks).predict_proba(frame),
                again.fit(frame, clicks).predict_proba(frame),
            )

    def test_refused(self):
        frame, clicks = made(50)
        new = leveret.LeveretClassifier
        fitted = new("--ffm_k 0").fit(frame, clicks)
        three = np.arange(50) % 3
        for words, work in {
            "not fitted yet": lambda: new().predict(frame),
            "not fitted yet ": lambda: new().save("x"),
            "two classes|learns two": lambda: new().fit(frame, three),
            "one class": lambda: new().fit(frame, np.ones(50, int)),
            "no option of a learner": lambda: new("-f x").fit(frame, clicks),
            "numeric_as is 'x'": lambda: new(numeric_as="x").fit(frame, clicks),
            "passes is 0": lambda: new(passes=0).fit(frame, clicks),
            "inconsistent numbers": lambda: new().fit(frame, clicks[:5]),
            "sample_weight": lambda: new().fit(frame, clicks, sample_weight=[1]),
            "importance of example 0 is -1": lambda: new().fit(frame, clicks, sample_weight=-np.ones(50)),
            "infinity": lambda: new().fit(np.full((50, 2), np.inf), clicks),
            "2D array": lambda: new().fit(clicks, clicks),
            "X has 1 features": lambda: fitted.predict(np.zeros((3, 1))),
            "feature names": lambda: fitted.predict(Frame({n: np.zeros(2) for n in "abcd"})),
            "column .price. had numbers": lambda: fitted.predict(np.full((1, 4), "x", object)),
            "not \\[0, 1\\]": lambda: fitted.partial_fit(frame, three),
        }.items():
            with self.subTest(words=words), self.assertRaisesRegex(ValueError, words.strip()):
                work()
        with self.assertRaises(AttributeError):
            leveret.NoSuch

    def test_without_scikit_learn(self):
        """Also where it is installed."""
        work = (
            "import sys; sys.modules['sklearn'] = None\n"
            "import leveret, numpy as np\n"
            "X, y = np.array([['a'], ['b']] * 50, object), [1, 0] * 50\n"
            "classifier = leveret.LeveretClassifier().set_params(options='--ffm_k 0').fit(X, y)\n"
            "assert classifier.score(X, y) == 1 and classifier.get_params()['options'] == '--ffm_k 0'\n"
            "try: leveret.LeveretClassifier().predict(X)\n"
            "except (ValueError, AttributeError): print('refused')\n"
        )
        done = subprocess.run([sys.executable, "-c", work], text=True, capture_output=True)
        self.assertEqual(done.stdout, "refused\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
