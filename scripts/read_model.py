#!/usr/bin/env python3
"""Reads a model file of leveret as man/leveret-model.5 describes it, with nothing but Python's
standard library: what a reader in any other language has to do.

    scripts/read_model.py MODEL                  the sections, one a line
    scripts/read_model.py MODEL --json           the same as `leveret inspect --json` has them
    scripts/read_model.py MODEL --predict TEXT   a probability for each line of VW text ("-": stdin)

Lines may also name features by their hashes: with --hashed, each line has tokens
NAMESPACE:HASH[:VALUE], separated by spaces.

It predicts with models of the default structure (--heads mixed, without -b, interactions and
transforms), slowly. Checksums are shown and not verified: XXH3 is not in the standard library.
"""

import argparse
import array
import json
import math
import re
import struct
import sys

MAGIC = b"\x89LVT\r\n\x1a\n"
DTYPES = {1: "u8", 2: "u32", 3: "u64", 4: "f32", 5: "bf16", 6: "u16", 7: "i16", 8: "i8", 9: "i4", 10: "f64", 11: "i12"}
BITS = {"u8": 8, "u32": 32, "u64": 64, "f32": 32, "bf16": 16, "u16": 16, "i16": 16, "i8": 8, "i4": 4, "f64": 64, "i12": 12}
ARRAYS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "f32": "f", "f64": "d"}
ROLES = {1: "index", 2: "parameter", 3: "state", 4: "statistic"}
CODINGS = {0: "plain", 1: "fixed", 2: "log", 3: "fixed_by_row"}
KINDS = {1: "model", 2: "export", 3: "patch"}  # 6, notes, stand behind a model and are not read


class Damaged(Exception):
    pass


class Section:
    """An entry of the table, and the bytes that it names."""

    def __init__(self, entry, file):
        self.offset, self.bytes, low, high = struct.unpack_from("<QQQQ", entry, 0)
        self.checksum = "%016x%016x" % (high, low)
        dtype, rank, role, flags, self.keys = struct.unpack_from("<BBBBI", entry, 32)
        self.scale, coding = struct.unpack_from("<fB", entry, 88)
        if dtype not in DTYPES or role not in ROLES or coding not in CODINGS or rank > 6:
            raise Damaged("an entry of the table is not valid")
        self.dtype, self.role, self.coding = DTYPES[dtype], ROLES[role], CODINGS[coding]
        self.optional, self.last_keys = bool(flags & 1), bool(flags & 2)
        self.shape = list(struct.unpack_from("<6Q", entry, 40))[:rank]
        self.name = entry[96:160].rstrip(b"\0").decode()
        if math.prod(self.shape) * BITS[self.dtype] != 8 * self.bytes:
            raise Damaged("section %s does not have the length of its shape" % self.name)
        self.data = memoryview(file)[self.offset : self.offset + self.bytes]
        if len(self.data) != self.bytes:
            raise Damaged("section %s does not lie in the file" % self.name)

    def numbers(self):
        """As they are stored."""
        if self.dtype == "bf16":
            halves = array.array("H", bytes(self.data))
            return array.array("f", b"".join(struct.pack("<I", h << 16) for h in halves))
        if self.dtype == "i12":
            threes = (self.data[i] | self.data[i + 1] << 8 | self.data[i + 2] << 16 for i in range(0, self.bytes, 3))
            codes = (code for three in threes for code in (three & 4095, three >> 12))
            return array.array("h", (c - 4096 if c > 2047 else c for c in codes))
        if self.dtype == "i4":
            nibbles = (n for byte in self.data for n in (byte & 15, byte >> 4))
            return array.array("b", (n - 16 if n > 7 else n for n in nibbles))
        values = array.array(ARRAYS[self.dtype])
        values.frombytes(bytes(self.data))
        return values

    def values(self):
        """What they stand for, where all have one scale; else as they are stored."""
        if self.coding == "fixed":
            return [n * self.scale for n in self.numbers()]
        if self.coding == "log":
            return [math.expm1(n * self.scale) for n in self.numbers()]
        return self.numbers()


class ModelFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            content = file.read()
        if content[:8] != MAGIC:
            raise Damaged("this is no file of leveret")
        if len(content) < 64:
            raise Damaged("the file ends inside its preamble")
        low, high = struct.unpack_from("<QQ", content, 8)
        self.fingerprint = "%016x%016x" % (high, low)
        version, kind, flags, length, header, count, zero = struct.unpack_from("<IIQQQII", content, 24)
        if version != 1 or flags != 0 or kind not in KINDS or zero != 0:
            raise Damaged("it is of a version, kind or with flags that are not known")
        notes = content[length:]
        if notes and (kind != 1 or notes[:8] != MAGIC or struct.unpack_from("<I", notes, 28) != (6,)):
            raise Damaged("bytes follow the model that are no notes")
        content = content[:length]
        if length != len(content):
            raise Damaged("the file has %d bytes, but should have %d" % (len(content), length))
        self.kind = KINDS[kind]
        self.header = json.loads(content[64 : 64 + header].decode())
        table = (64 + header + 7) // 8 * 8
        if table + 160 * count > length:
            raise Damaged("the table does not fit into the file")
        self.sections = [Section(content[table + 160 * i : table + 160 * i + 160], content) for i in range(count)]
        self.by_name = {section.name: section for section in self.sections}

    def values(self, name):
        """A list of numbers."""
        if name not in self.by_name:
            raise Damaged("there is no section " + name)
        section = self.by_name[name]
        if section.coding != "fixed_by_row":
            return section.values()
        scales = self.values(name + ".scales")
        length = max(math.prod(section.shape[1:]), 1)
        return [n * scales[i // length] for i, n in enumerate(section.numbers())]

    def description(self):
        """As the sections of `leveret inspect --json`."""
        described = []
        for section in self.sections:
            json_of_it = {
                "name": section.name,
                "role": section.role,
                "dtype": section.dtype,
                "shape": section.shape,
                "bytes": section.bytes,
                "coding": section.coding,
                "scale": section.scale,
            }
            if section.keys > 0:
                json_of_it["keys"] = self.sections[section.keys - 1].name
                json_of_it["last_keys"] = section.last_keys
            if section.optional:
                json_of_it["optional"] = True
            values = section.values()
            finite = [v for v in values if math.isfinite(v)]
            if section.role != "index":
                json_of_it["min"] = min(finite, default=0)
                json_of_it["max"] = max(finite, default=0)
                json_of_it["mean"] = math.fsum(finite) / len(finite) if finite else 0
            json_of_it["zeros"] = sum(v == 0 for v in finite) / len(values) if values else 0
            if len(finite) < len(values):
                json_of_it["not_finite"] = len(values) - len(finite)
            json_of_it["checksum"] = section.checksum
            described.append(json_of_it)
        return described


# ---- text: man/leveret-text.5 ----


def murmur(data, seed):
    """murmur3_x86_32, words in little-endian order."""
    mask = 0xFFFFFFFF

    def rotated(x, r):
        return (x << r | x >> (32 - r)) & mask

    def mixed(k):
        return rotated(k * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask

    h = seed
    whole = len(data) // 4 * 4
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        h = (rotated(h ^ mixed(k), 13) * 5 + 0xE6546B64) & mask
    if whole < len(data):
        h ^= mixed(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    return h ^ h >> 16


BLANKS = bytes(range(0x21))


def hash_of(name, seed, all_names):
    if not all_names:
        name = name.strip(BLANKS)
        if name.isdigit() or not name:
            return (int(name or b"0") + seed) & 0xFFFFFFFF
    return murmur(name, seed)


def to_float(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")


def features_of(line, hash_seed, all_names):
    """What is added to the score, and [(namespace, [(hash, value)])] of a line that is not bad."""
    if re.search(rb":[ \t]*[ \t|]", line):
        raise ValueError("a colon with a blank or a | behind it is not read here: %r" % line)
    before, *namespaces = line.rstrip(b"\r\n").split(b"|")
    tokens = before.split()
    if tokens and (tokens[-1].startswith(b"'") or (namespaces and not before[-1:].isspace())):
        tokens.pop()
    initial = float(tokens[2]) if len(tokens) > 2 else 0.0
    found = {}
    for text in namespaces:
        named = text[:1] not in (b" ", b"\t", b"")
        tokens = text.split()
        name, weight = b"", 1.0
        if named:
            name, colon, number = tokens.pop(0).partition(b":")
            weight = float(number) if colon else 1.0
        seed = hash_of(name, hash_seed, all_names) if name or hash_seed else 0
        features, anonymous = [], 0
        for token in tokens:
            feature, colon, value = token.partition(b":")
            if not feature and colon:
                number = (seed + anonymous) & 0xFFFFFFFF
                anonymous += 1
            else:
                number = hash_of(feature, seed, all_names)
            if value and not NUMBER.match(value):
                features.append((hash_of(value, number, all_names), 1.0))
            elif (x := to_float(float(value or b"1") * weight)) != 0:
                features.append((number, x))
        if features:  # a namespace is one, however it is cut
            found.setdefault(name, []).extend(features)
    return initial, list(found.items())


def hashed_features_of(line):
    """Of tokens NAMESPACE:HASH[:VALUE]."""
    found = {}
    for token in line.split():
        name, number, *value = token.split(b":")
        found.setdefault(name, []).append((int(number), float(value[0]) if value else 1.0))
    return 0.0, list(found.items())


# ---- the model: PREDICTION in man/leveret-model.5 ----

MAX_SCORE = 15.0
PRIOR_COUNT = 4.0
NORM_EPSILON = 0.01
SEEN_SCALE = 0.3
CELL_OF_NOTHING = {}


def clamp(z):
    return min(max(z, -MAX_SCORE), MAX_SCORE)


def sigmoid(z):
    return 1 / (1 + math.exp(-z))


def logit(p):
    p = min(max(p, 1e-7), 1 - 1e-7)
    return math.log(p / (1 - p))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


class Shard:
    CELLS = ("weight", "weight2", "fast", "clicks", "count")

    def __init__(self, file, prefix, state, admit):
        self.places = {key: place for place, key in enumerate(file.values(prefix + "keys"))}
        columns = {c: file.values(prefix + c) for c in self.CELLS if prefix + c in file.by_name}
        self.cells = [dict(zip(columns, cell)) for cell in zip(*columns.values())]
        self.largest = {}
        if prefix + "largest.keys" in file.by_name:
            self.largest = dict(zip(file.values(prefix + "largest.keys"), file.values(prefix + "largest.values")))
        self.refused = set(file.values(prefix + "refused")) if prefix + "refused" in file.by_name else set()
        self.overflow_cell = None
        if state["overflow_lookups"] > 0:
            self.overflow_cell = {c: file.values(prefix + "overflow." + c)[0] for c in columns}
        # A row has a vector of floats for each part: slots of FFM, the vector of FM.
        parts, overflow = [], []
        while prefix + "rows.%d.weights" % len(parts) in file.by_name:
            name = prefix + "%srows." + "%d.weights" % len(parts)
            weights = file.values(name % "")
            count, *shape = file.by_name[name % ""].shape
            length = math.prod(shape)
            parts.append([weights[i * length : (i + 1) * length] for i in range(count)])
            if name % "overflow." in file.by_name:
                overflow.append(file.values(name % "overflow."))
        self.rows = list(zip(*parts))
        self.overflow_row = overflow or None
        self.row_of_unknown = self.overflow_row if admit == 1 or self.overflow_cell else None

    def find(self, feature):
        """Cell and row of a feature; None: it has no row."""
        place = self.places.get(feature or 0x9E3779B9)
        if place is not None:
            row = self.rows[place] if place < len(self.rows) else None
            return self.cells[place], self.overflow_row if place in self.refused else row
        return self.overflow_cell or CELL_OF_NOTHING, self.row_of_unknown

    def scaled(self, feature, value, cell):
        """A value by the largest that has been learned from."""
        largest = self.largest.get(feature or 0x9E3779B9)
        if largest is None:
            largest = 1.0 if cell.get("count", 0) > 0 else 0.0
        return value / max(largest, abs(value))


class Model:
    def __init__(self, file):
        if file.kind not in ("model", "export"):
            raise Damaged("this is no model")
        spec = self.spec = file.header["spec"]
        unusual = [o for o in ("bit_precision", "interactions", "transform", "numeric") if spec.get(o)]
        towers = spec.get("tower", "none")
        unusual += ["tower " + towers] if towers not in ("none", "fm:pairs=all") else []
        self.has_ffm, self.has_fm = bool(spec["ffm_k"]), towers == "fm:pairs=all"
        if spec["heads"] != "mixed" or unusual or not (self.has_ffm or self.has_fm):
            raise Damaged("models of such a structure (%s) are not predicted with here" % ", ".join(unusual))
        states = file.header["shards"]
        prefixes = ["rest."] + ["field.%d." % f for f in range(len(states) - 1)]
        self.shards = [Shard(file, p, s, spec["admit"]) for p, s in zip(prefixes, states)]
        self.fields = len(states) - 1
        self.plans = {plan["name"].encode("latin-1"): plan for plan in file.header["namespaces"]}
        self.base = file.values("base_rate.clicks")[0] / file.values("base_rate.count")[0]
        self.constant = {c: file.values("constant." + c)[0] for c in ("weight", "weight2", "fast") if "constant." + c in file.by_name}
        self.has_constant = spec["noconstant"] == "false"
        self.fast_head = spec.get("fast_head") == "on"
        self.mixers = [[file.values(m + ".weight"), file.values(m + ".log_share")] for m in ("first_mixer", "second_mixer")]
        self.groups = file.values("groups.weight")
        self.layers = []
        while "dense.%d.weights" % len(self.layers) in file.by_name:
            name = "dense.%d." % len(self.layers)
            outputs, inputs = file.by_name[name + "weights"].shape
            flat = file.values(name + "weights")
            rows = [flat[o * inputs : (o + 1) * inputs] for o in range(outputs)]
            self.layers.append((rows, file.values(name + "bias")))

    def mix(self, mixer, scores):
        weights, log_shares = self.mixers[mixer]
        scores = scores + [clamp(dot(weights, scores))]
        shares = [math.exp(s) for s in log_shares[: len(scores)]]
        return clamp(logit(dot(shares, map(sigmoid, scores)) / sum(shares)))

    def predict(self, initial, namespaces):
        groups = self.fields + 1
        rate = min(max(to_float(self.base), 1e-7), 1 - 1e-7)
        base = logit(rate)
        linear_of, counts_of, seen_of = [0.0] * groups, [0.0] * groups, [0.0] * groups
        constant = self.constant if self.has_constant else dict.fromkeys(self.constant, 0.0)
        linear = fast = base + initial
        linear += constant["weight"]
        linear2 = constant["weight2"]
        fast += constant.get("fast", 0)
        present = {}
        for name, features in namespaces:
            plan = self.plans.get(name, {"keep": True, "linear": True, "fields": []})
            if not plan["keep"]:
                continue
            group = plan["fields"][0] + 1 if plan["fields"] else 0
            shard = self.shards[group]
            values = []
            odds = seen = 0.0
            for feature, value in features:
                cell, _ = shard.find(feature)
                x = shard.scaled(feature, value, cell) if plan["linear"] else value
                values.append((feature, x))
                if not plan["linear"]:
                    continue
                linear_of[group] += cell.get("weight", 0) * x
                linear += cell.get("weight", 0) * x
                linear2 += cell.get("weight2", 0) * x
                fast += cell.get("fast", 0) * x
                clicks, count = cell.get("clicks", 0), cell.get("count", 0)
                if count > 0:
                    others = max(count - clicks, 0) + PRIOR_COUNT * (1 - rate)
                    odds += math.log((clicks + PRIOR_COUNT * rate) / others) - base
                    seen += math.log(1 + count)
            if plan["linear"]:
                counts_of[group] += odds / len(features)
                seen_of[group] += seen / len(features)
            for field in plan["fields"]:
                present.setdefault(field, []).extend(values)
        counts = clamp(base + initial + dot(self.groups, counts_of))
        fast = [clamp(fast)] if self.fast_head else []
        first = self.mix(0, [clamp(linear), counts] + fast)
        rows, scale = self.rows(present)
        ffm, pairs = clamp(linear2 + counts), []
        if self.has_ffm:
            pairs = self.pairs({field: [(x, row[0]) for x, row in of] for field, of in rows.items()})
            ffm = clamp(ffm + scale * sum(pairs))
        joint = [ffm]
        if self.has_fm:
            joint.append(clamp(joint[-1] + scale * self.fm([(x, row[-1]) for of in rows.values() for x, row in of])))
        if self.layers:
            inputs = self.inputs(pairs + linear_of, counts_of, seen_of, first)
            joint.append(clamp(joint[-1] + self.deep(inputs)))
        return sigmoid(self.mix(1, [first] + joint + fast))

    def rows(self, present):
        """By field, values and rows of its features that have one, and what sums of them are multiplied with."""
        rows, squares, features = {}, 0, 0
        for field, values in present.items():
            for feature, x in values:
                features += 1
                squares += x * x
                _, row = self.shards[field + 1].find(feature)
                if row is not None:
                    rows.setdefault(field, []).append((x, row))
        return rows, math.sqrt(features) / max(squares, 1e-6)

    def pairs(self, rows):
        """The dot products of pairs of fields."""
        sums, within = {}, {}
        for field, admitted in rows.items():
            k = len(admitted[0][1]) // self.fields
            total = [sum(x * row[i] for x, row in admitted) for i in range(self.fields * k)]
            sums[field] = [total[s * k : (s + 1) * k] for s in range(self.fields)]
            own = sums[field][field]
            within[field] = 0.0
            if len(admitted) > 1:
                singles = (x * x * dot(r, r) for x, row in admitted for r in (row[field * k : (field + 1) * k],))
                within[field] = (dot(own, own) - sum(singles)) / 2
        pairs = []
        for g in range(self.fields):
            for f in range(g + 1):
                if f not in sums or g not in sums:
                    pairs.append(0.0)
                else:
                    pairs.append(within[g] if f == g else dot(sums[g][f], sums[f][g]))
        return pairs

    def fm(self, vectors):
        """The dot products of all pairs of vectors, added up."""
        total = [sum(x * v[i] for x, v in vectors) for i in range(len(vectors[0][1]))] if vectors else []
        return (dot(total, total) - sum(x * x * dot(v, v) for x, v in vectors)) / 2

    def inputs(self, normalised, counts_of, seen_of, first):
        mean = sum(normalised) / len(normalised)
        variance = sum((x - mean) ** 2 for x in normalised) / len(normalised)
        scale = 1 / math.sqrt(variance + NORM_EPSILON)
        return [(x - mean) * scale for x in normalised] + counts_of + [SEEN_SCALE * s for s in seen_of] + [first]

    def deep(self, values):
        for rows, bias in self.layers[:-1]:
            values = [max(dot(row, values) + b, 0.0) for row, b in zip(rows, bias)]
        rows, bias = self.layers[-1]
        return dot(rows[0], values) + bias[0]


def table_of(description):
    lines = ["%-24s %-9s %-5s %-16s %12s" % ("name", "role", "dtype", "shape", "bytes")]
    for s in description:
        shape = " x ".join(map(str, s["shape"])) or "1"
        lines.append("%-24s %-9s %-5s %-16s %12d" % (s["name"], s["role"], s["dtype"], shape, s["bytes"]))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("--json", action="store_true", help="the sections as leveret inspect --json has them")
    parser.add_argument("--predict", metavar="TEXT", help="a file of lines to predict; -: standard input")
    parser.add_argument("--hashed", action="store_true", help="lines of NAMESPACE:HASH[:VALUE]")
    options = parser.parse_args()
    try:
        file = ModelFile(options.model)
        if not options.predict:
            description = file.description()
            print(json.dumps(description) if options.json else table_of(description))
            return 0
        model = Model(file)
        spec = model.spec
        lines = sys.stdin.buffer if options.predict == "-" else open(options.predict, "rb")
        for line in lines:
            if not line.strip():
                print()
                continue
            found = hashed_features_of(line) if options.hashed else features_of(line, int(spec["hash_seed"]), spec["hash"] == "all")
            print("%.8f" % model.predict(*found))
        return 0
    except (Damaged, OSError, ValueError, KeyError, struct.error) as error:
        print("read_model.py: %s: %s" % (options.model, error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
