#!/usr/bin/env python3
"""What two folders of models, exports and predictions differ in, section by section.

    same_sections.py BEFORE AFTER [--words FILE]

Files of one name are compared: of a model or an export the header, key by key, and each section by its
name, type, shape, scale and checksum (scripts/read_model.py); of any other file the bytes. Fingerprints,
notes and the order of sections may differ. FILE has two words on a line: what the older build calls a key of
the header, a value there, or a part of a section's name, and what the newer one does; a key without a second
word is gone from the header, one with "-" before it is new there. A line for each file that differs; exit 1
where there is one.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import read_model  # noqa: E402


class Words:
    def __init__(self, path):
        self.names, self.gone, self.new = {}, set(), set()
        for line in open(path) if path else ():
            words = line.split("#")[0].split()
            if len(words) == 1:
                self.gone.add(words[0])
            elif words and words[0] == "-":
                self.new.add(words[1])
            elif words:
                self.names[words[0]] = words[1]

    def are_some(self):
        return bool(self.names or self.gone or self.new)

    def of(self, name):
        """What the newer build calls it: as a whole, or its parts between dots and other signs."""
        if name in self.names:
            return self.names[name]
        for sign in ".", ",", "=", ":":
            if sign in name:
                return sign.join(self.of(part) for part in name.split(sign))
        return name


def flat(value, at, words):
    """A header as paths to values."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if words is None or key not in words.gone:
                yield from flat(inside, at + "/" + (words.of(key) if words else key), words)
    else:
        text = json.dumps(value, sort_keys=True)
        yield at, '"%s"' % words.of(value) if words and isinstance(value, str) else text


def contents(path, words):
    """Name of a part to what it is."""
    with open(path, "rb") as file:
        magic = file.read(8)
    if magic != read_model.MAGIC or path.endswith(".patch"):
        with open(path, "rb") as file:
            return {"bytes": file.read()}
    model = read_model.ModelFile(path)
    parts = {"header" + at: value for at, value in flat(model.header, "", words)}
    for section in model.sections:
        name = words.of(section.name) if words else section.name
        parts["section " + name] = (section.dtype, section.shape, section.role, section.coding,
                                    section.scale, section.checksum)
    return parts


def differences(before, after, words):
    """The names of what differs between two files."""
    old, new = contents(before, words), contents(after, None)
    new = {name: what for name, what in new.items() if name.rsplit("/", 1)[-1] not in words.new}
    # The line is a hash of the spec, and so of its words.
    if words.are_some():
        for parts in old, new:
            parts.pop("header/line", None)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--words")
    arguments = parser.parse_args()
    words = Words(arguments.words)
    old, new = set(os.listdir(arguments.before)), set(os.listdir(arguments.after))
    bad = 0
    for name in sorted(old | new):
        if name not in old or name not in new:
            print("%s: only %s" % (name, "before" if name in old else "after"))
            bad = 1
            continue
        found = differences(os.path.join(arguments.before, name), os.path.join(arguments.after, name), words)
        if found:
            more = ", …" if len(found) > 6 else ""
            print("%s: %s%s" % (name, ", ".join(found[:6]), more))
            bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
