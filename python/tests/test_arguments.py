"""Every function is given every kind of value in every place: what it cannot mean is a TypeError, a
ValueError or a leveret.Error, and no crash, no answer, no waste of memory, nothing on the side; the
model then answers as before. As test_leveret.py needs it: LEVERET and LEVERET_LIBRARY."""

import copy
import os
import pathlib
import pickle
import random
import subprocess
import tempfile
import types
import unittest

import numpy as np

import leveret
from child import outcome, outcomes

PROGRAM = os.environ.get("LEVERET", "leveret")
ROWS = "1 |user u1 |ad a1\n-1 |user u2 |ad a2\n-1 |user u1 |ad a3\n"
LINES = ["|user u1 |ad a1", "|user u2 |ad a3"]
REFUSED = {"TypeError", "ValueError", "Error"}


class Strange:
    """Fails where it is asked for anything."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def __iter__(self):
        return self


class Path:
    def __init__(self, told):
        self.told = told

    def __fspath__(self):
        return self.told


def itself():
    loop = []
    loop.append(loop)
    return loop


def deep(value, depth=3000):
    for _ in range(depth):
        value = [value]
    return value


def readonly(array):
    array.setflags(write=False)
    return array


TWO = np.array([(1, 2, 3), (4, 5, 6)], leveret.FEATURE)
#: Made anew for each call: some are used up.
VALUES = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "300000000": lambda: 300000000,
    "2**31": lambda: 2**31,
    "2**32": lambda: 2**32,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "2**80": lambda: 2**80,
    "-2**80": lambda: -(2**80),
    "10**400": lambda: 10**400,
    "1.5": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1j": lambda: 1j,
    "''": lambda: "",
    "'11'": lambda: "11",
    "NUL": lambda: "a\0b",
    "lone surrogate": lambda: "\ud800",
    "b''": lambda: b"",
    "b'11'": lambda: b"11",
    "b NUL": lambda: b"a\0b",
    "bytearray": lambda: bytearray(b"11"),
    "memoryview": lambda: memoryview(b"11"),
    "path": lambda: pathlib.Path("nowhere"),
    "path with NUL": lambda: pathlib.Path("a\0b"),
    "path of int": lambda: Path(5),
    "path of NUL": lambda: Path(b"a\0"),
    "[]": lambda: [],
    "()": lambda: (),
    "[None]": lambda: [None],
    "[1]": lambda: [1],
    "[-1]": lambda: [-1],
    "[300000000]": lambda: [300000000],
    "[2**80]": lambda: [2**80],
    "[1.5]": lambda: [1.5],
    "[True]": lambda: [True],
    "['a']": lambda: ["a"],
    "[NUL]": lambda: ["a\0b"],
    "[b NUL]": lambda: [b"a\0b"],
    "[two lines]": lambda: ["|a b\n|c d"],
    "['|ad a', 5]": lambda: ["|ad a", 5],
    "[['|ad a']]": lambda: [["|ad a"]],
    "[[]]": lambda: [[]],
    "[[1]]": lambda: [[1]],
    "[[1, 2], [3]]": lambda: [[1, 2], [3]],
    "[b]": lambda: [memoryview(b"11"), bytearray(5)],
    "pair": lambda: [[(1, 2)]],
    "triple": lambda: [(1, 2, 3.0)],
    "triples": lambda: [[(1, 2, 3.0), (1, 2, True)]],
    "quadruple": lambda: [[(1, 2, 3.0, 4)]],
    "negative": lambda: [[(-1, 2, 3.0)]],
    "negative hash": lambda: [[(1, -2, 3.0)]],
    "huge": lambda: [[(2**32, 2, 3.0)]],
    "huge hash": lambda: [[(1, 2**80, 3.0)]],
    "of floats": lambda: [[(1.0, 2, 3.0)]],
    "of strings": lambda: [[("1", "2", "3")]],
    "of a string": lambda: [["123"]],
    "of bytes": lambda: [[b"123"]],
    "value None": lambda: [[(1, 2, None)]],
    "value str": lambda: [[(1, 2, "3")]],
    "value nan": lambda: [[(1, 2, float("nan"))]],
    "value inf": lambda: [[(1, 2, float("inf"))]],
    "value 1e300": lambda: [[(1, 2, 1e300)]],
    "value 10**400": lambda: [[(1, 2, 10**400)]],
    "value 1j": lambda: [[(1, 2, 1j)]],
    "value array": lambda: [[(1, 2, np.zeros(1))]],
    "space array": lambda: [[(np.array([1]), 2, 3.0)]],
    "{}": lambda: {},
    "{'a': 1}": lambda: {"a": 1},
    "{0: features}": lambda: {0: TWO},
    "set": lambda: {"|ad a"},
    "object": object,
    "type": lambda: dict,
    "function": lambda: len,
    "strange": Strange,
    "range": lambda: range(10**12),
    "generator": lambda: (i for i in [5]),
    "itself": itself,
    "deep": lambda: deep("a"),
    "deep features": lambda: deep((1, 2, 3.0)),
    "array 0-d": lambda: np.array(5),
    "array int64": lambda: np.array([1, 2]),
    "array uint32": lambda: np.array([1, 2], np.uint32),
    "array ends": lambda: np.array([1, 2, 2]),
    "array strided": lambda: np.arange(6)[::3],
    "array backwards": lambda: np.array([1, 2])[::-1],
    "array big-endian": lambda: np.array([1, 2], ">u8"),
    "array int8 -1": lambda: np.array([-1], np.int8),
    "array uint64 beyond": lambda: np.array([2**64 - 1], np.uint64),
    "array bool": lambda: np.array([True]),
    "array float": lambda: np.zeros(3),
    "array nan": lambda: np.array([np.nan]),
    "array complex": lambda: np.zeros(3, complex),
    "array object": lambda: np.array([object(), None], object),
    "array str": lambda: np.array(["a", "b"]),
    "array bytes": lambda: np.array([b"a", b"b"]),
    "array time": lambda: np.array(["2020-01-01"], "M8[s]"),
    "array void": lambda: np.zeros(2, "V12"),
    "array 2-d": lambda: np.zeros((2, 2), int),
    "array masked": lambda: np.ma.masked_array([1, 2], [True, False]),
    "array broadcast": lambda: np.broadcast_to(np.int64(0), (3,)),
    "features": lambda: TWO.copy(),
    "features 0-d": lambda: np.array((1, 2, 3.0), leveret.FEATURE),
    "features 2-d": lambda: TWO.reshape(1, 2),
    "features 3-d": lambda: TWO.reshape(1, 1, 2),
    "features big-endian": lambda: TWO.astype([("space", ">u4"), ("hash", ">u4"), ("value", ">f4")]),
    "features other names": lambda: TWO.view([("a", "u4"), ("b", "u4"), ("c", "f4")]),
    "features 64": lambda: np.zeros(2, [("space", "u8"), ("hash", "u8"), ("value", "f8")]),
    "features gaps": lambda: np.repeat(TWO, 2)[::2],
    "features backwards": lambda: TWO[::-1],
    "features unaligned": lambda: np.frombuffer(b"x" + TWO.tobytes(), leveret.FEATURE, offset=1),
    "features broadcast": lambda: np.broadcast_to(TWO[0], (3,)),
    "features read-only": lambda: readonly(TWO.copy()),
    "features record": lambda: TWO.view(np.recarray),
    "features masked": lambda: np.ma.masked_array(TWO),
    "features nan": lambda: np.array([(1, 2, np.nan)], leveret.FEATURE),
    "list of features": lambda: [TWO, TWO[::-1], []],
    "list of floats": lambda: [np.zeros(3)],
}

INTS = {"True", "0", "1", "300000000", "2**31"}
TEXTS = {"''", "'11'", "NUL", "b''", "b'11'", "b NUL", "bytearray"}
NO_FEATURES = {"[]", "()"}
TRIPLES = NO_FEATURES | {"triple"}
ROWS_OF_FEATURES = {f"features{kind}" for kind in
                    ("", " gaps", " backwards", " unaligned", " broadcast", " read-only", " record")}
LISTS_OF_FEATURES = NO_FEATURES | {"[[]]", "triples", "list of features", "features 2-d"}
ONE_PROBABILITY = {"[1]", "[True]", "array bool", "array nan"}
ONE_LABEL = {"[1]", "[-1]", "[True]", "array int8 -1", "array bool", "array nan"}
ONE_WEIGHT = {"None", "[1]", "[300000000]", "[1.5]", "[True]", "array bool", "generator"}


def learner():
    return leveret.Learner("--ffm_k 0")


# An argument: how it is given, and which values mean something there.
PLACES = {
    "Model(path)": (lambda m, c, v: leveret.Model(v), set()),
    "Model.open(path)": (lambda m, c, v: leveret.Model.open(v), set()),
    "Model.replace(path)": (lambda m, c, v: m.replace(v), set()),
    "Model.patch(patches)": (lambda m, c, v: m.patch(v), set()),
    "Model.patch([patches])": (lambda m, c, v: m.patch([v]), set()),
    "Model.patch(to)": (lambda m, c, v: m.patch(["no patch"], v), set()),
    "Model.watch(path)": (
        lambda m, c, v: m.watch(v, 60),
        {"None", "'11'", "b'11'", "path"},
    ),
    "Model.watch(seconds)": (lambda m, c, v: m.watch(None, v), {"1", "1.5"}),
    "Model.context(namespaces)": (
        lambda m, c, v: m.context(v),
        {"''", "'11'", "[]", "()", "['a']", "array str", "array bytes", "[two lines]"},
    ),
    "Context(model)": (lambda m, c, v: leveret.Context(v), set()),
    "Model.predict(lines)": (lambda m, c, v: m.predict(v), NO_FEATURES),
    "Model.predict([lines])": (lambda m, c, v: m.predict([v]), set()),
    "Model.predict_features(examples)": (lambda m, c, v: m.predict_features(v), LISTS_OF_FEATURES),
    "Model.predict_features([examples])": (
        lambda m, c, v: m.predict_features([v]), TRIPLES | ROWS_OF_FEATURES
    ),
    "Model.predict_features(examples, ends)": (
        lambda m, c, v: m.predict_features(v, []), TRIPLES | ROWS_OF_FEATURES | {"features nan"}
    ),
    "Model.predict_features(ends)": (
        lambda m, c, v: m.predict_features(TWO, v),
        {"[]", "()", "[1]", "array int64", "array uint32", "array ends", "array big-endian", "array broadcast"},
    ),
    "Model.predict_features(by_field)": (
        lambda m, c, v: m.predict_features([], by_field=v), {"True"}
    ),
    "Model.hash_namespace(name)": (lambda m, c, v: m.hash_namespace(v), TEXTS),
    "Model.hash_feature(namespace_hash)": (lambda m, c, v: m.hash_feature(v, "a"), INTS),
    "Model.hash_feature(name)": (lambda m, c, v: m.hash_feature(1, v), TEXTS),
    "Context.set(line)": (lambda m, c, v: c.set(v), set()),
    # The model knows no columns, so that nothing means anything there; test_rows has one that does.
    "Model.predict_rows(rows)": (lambda m, c, v: m.predict_rows(v), set()),
    "Model.predict_rows([rows])": (lambda m, c, v: m.predict_rows([v]), set()),
    "Context.predict_rows([{candidates}])": (lambda m, c, v: c.predict_rows([{"a": v}]), set()),
    "Context.set_row(row)": (lambda m, c, v: c.set_row(v), set()),
    "Context.set_row({row})": (lambda m, c, v: c.set_row({"a": v}), set()),
    "Context.set_features(features)": (
        lambda m, c, v: c.set_features(v), TRIPLES | ROWS_OF_FEATURES
    ),
    "Context.set_features(by_field)": (lambda m, c, v: c.set_features([], v), {"True"}),
    "Context.predict(candidates)": (lambda m, c, v: c.predict(v), NO_FEATURES),
    "Context.predict_features(candidates)": (
        lambda m, c, v: c.predict_features(v), LISTS_OF_FEATURES
    ),
    "Context.predict_features(ends)": (
        lambda m, c, v: c.predict_features(TWO, v),
        {"[]", "()", "[1]", "array int64", "array uint32", "array ends", "array big-endian", "array broadcast"},
    ),
    "Context.predict_features(by_field)": (
        lambda m, c, v: c.predict_features([], by_field=v), {"True"}
    ),
    "Learner(options)": (lambda m, c, v: leveret.Learner(v), {"''", "[]", "()"}),
    "Learner.resume(path)": (lambda m, c, v: leveret.Learner.resume(v), set()),
    "Learner.resume(options)": (
        lambda m, c, v: leveret.Learner.resume("model", v), {"''", "[]", "()"}
    ),
    "Learner.learn(lines)": (lambda m, c, v: learner().learn(v), NO_FEATURES),
    "Learner.learn([lines])": (lambda m, c, v: learner().learn([v]), {"''", "b''"}),
    "Learner.learn(progress)": (lambda m, c, v: learner().learn([], v), {"None", "type", "function"}),
    "Learner.learn_features(labels)": (
        lambda m, c, v: learner().learn_features(v, TWO[:0], [0, 0]),
        set(),
    ),
    "Learner.learn_features(examples)": (
        lambda m, c, v: learner().learn_features([], v), NO_FEATURES
    ),
    "Learner.learn_features(ends)": (
        lambda m, c, v: learner().learn_features([], TWO, v), {"[]", "()"}
    ),
    "Learner.learn_features(importances)": (
        lambda m, c, v: learner().learn_features([1], TWO[:0], [0], v), ONE_WEIGHT
    ),
    "Learner.predict(lines)": (lambda m, c, v: learner().predict(v), NO_FEATURES),
    "Learner.predict([lines])": (lambda m, c, v: learner().predict([v]), set()),
    "Learner.predict_features(examples)": (
        lambda m, c, v: learner().predict_features(v), LISTS_OF_FEATURES
    ),
    "Learner.predict_features(ends)": (
        lambda m, c, v: learner().predict_features(TWO, v),
        {"[]", "()", "[1]", "array int64", "array uint32", "array ends", "array big-endian", "array broadcast"},
    ),
    "Learner.hash_namespace(name)": (lambda m, c, v: learner().hash_namespace(v), TEXTS),
    "Learner.hash_feature(namespace_hash)": (lambda m, c, v: learner().hash_feature(v, "a"), INTS),
    "Learner.hash_feature(name)": (lambda m, c, v: learner().hash_feature(1, v), TEXTS),
    "Learner.save(path)": (lambda m, c, v: learner().save(v), set()),
    "evaluate(labels)": (lambda m, c, v: leveret.evaluate(v, [0.5]), ONE_LABEL),
    "evaluate(predictions)": (lambda m, c, v: leveret.evaluate([1], v), ONE_PROBABILITY),
    "evaluate(importances)": (lambda m, c, v: leveret.evaluate([1], [0.5], v), ONE_WEIGHT),
}
EVERY = {f"{kind}.{name}" for kind in ("Model", "Context", "Learner")
         for name, value in vars(getattr(leveret, kind)).items()
         if isinstance(value, (types.FunctionType, classmethod)) and not name.startswith("_")}


def generated(chance, depth=3):
    """A value of any kind: one of those above, or a structure of them."""
    if depth == 0 or chance.random() < 0.3:
        return VALUES[chance.choice(sorted(VALUES))]()
    parts = [generated(chance, depth - 1) for _ in range(chance.choice([0, 1, 2, 3, 3]))]
    return tuple(parts) if chance.random() < 0.5 else parts


class ArgumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "model")
        subprocess.run([PROGRAM, "train", "--quiet", "-f", cls.path], input=ROWS, text=True, check=True)
        cls.expected = list(leveret.Model.open(cls.path).predict(LINES))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def told(self, given):
        """What places say to values, in children: `given` has pairs of a place and a function that
        makes the value. The model must be sound after each."""
        model = leveret.Model.open(self.path)

        def work(place, value):
            context = model.context("user")
            try:
                return PLACES[place][0](model, context, value())
            finally:
                context.clear()
                if not list(model.predict(LINES)) == list(context.predict(LINES)) == self.expected:
                    raise AssertionError("it answers otherwise now")

        here = os.getcwd()
        os.chdir(self.folder.name)
        try:
            return outcomes([lambda each=each: work(*each) for each in given])
        finally:
            os.chdir(here)

    def test_every_function_is_here(self):
        names = {place.split("(")[0] for place in PLACES}
        self.assertEqual(EVERY - names, {"Model.close", "Context.clear"})

    def test_every_kind_in_every_place(self):
        for place, (_, meant) in PLACES.items():
            told = self.told([(place, value) for value in VALUES.values()])
            for name, each in zip(VALUES, told):
                with self.subTest(place=place, value=name):
                    self.assertEqual(each[0], "returned" if name in meant else "raised", each)
                    self.assertTrue(name in meant or REFUSED & set(each[1]), each)
                    self.assertEqual(each[-1], [], "said on the side")

    def test_generated(self):
        places = sorted(PLACES)
        given = [
            (places[seed % len(places)], lambda seed=seed: generated(random.Random(seed)))
            for seed in range(1000)
        ]
        for seed, each in enumerate(self.told(given)):
            with self.subTest(seed=seed, place=given[seed][0]):
                self.assertIn(each[0], ("returned", "raised"), each)
                self.assertTrue(each[0] == "returned" or REFUSED & set(each[1]), each)
                self.assertEqual(each[-1], [], "said on the side")

    def test_nobody_has_a_second_one(self):
        """A copy would free what the first has freed."""
        ways = {
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
            "in a list": lambda it: copy.deepcopy([it]),
            "reduce": lambda it: it.__reduce_ex__(2),
            **{
                f"pickle {protocol}": lambda it, protocol=protocol: pickle.dumps(it, protocol)
                for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
            },
        }
        model = leveret.Model.open(self.path)
        for name, way in ways.items():
            for make in (lambda: model, lambda: model.context("user"), learner):
                with self.subTest(way=name):
                    told = outcome(lambda: way(make()))
                    self.assertEqual((told[0], told[-1]), ("raised", []), told)
                    self.assertIn("TypeError", told[1])
                    self.assertIn("open the model's file again", told[2])

    def test_attributes_that_move(self):
        """Not even what is not meant to be done frees twice."""

        def work():
            model = leveret.Model.open(self.path)
            context = model.context("user")
            for one in model, context:
                other = type(one).__new__(type(one))
                other.__dict__.update(one.__dict__)
                one.close()
                other.predict(LINES)
            return "done"

        self.assertEqual(outcome(work), ("returned", "'done'", []))

    def test_made_twice_or_never(self):
        def never(kind):
            with kind.__new__(kind) as it:
                it.predict(LINES)

        def twice():
            model = leveret.Model.open(self.path)
            for _ in range(3):
                model.__init__(self.path)
            context = model.context("user")
            for _ in range(3):
                context.__init__(model, "user")
            return list(model.predict(LINES)) == list(context.predict(LINES)) == self.expected

        for kind in leveret.Model, leveret.Context, leveret.Learner:
            told = outcome(lambda: never(kind))
            self.assertIn("ValueError", told[1], told)
            self.assertEqual(told[-1], [])
        self.assertEqual(outcome(twice), ("returned", "True", []))

    def test_failed_constructors_are_silent(self):
        model = leveret.Model.open(self.path)
        for work in (
            leveret.Model,
            lambda: leveret.Model("nowhere"),
            lambda: leveret.Model(5),
            leveret.Context,
            lambda: leveret.Context(model, 5),
            lambda: leveret.Context(5),
            lambda: model.context([5]),
            lambda: leveret.Learner(5),
            lambda: leveret.Learner("--no_such"),
            leveret.Learner.resume,
            lambda: leveret.Learner.resume("nowhere"),
        ):
            told = outcome(work)
            self.assertEqual((told[0], told[-1]), ("raised", []), told)


if __name__ == "__main__":
    unittest.main()
