#!/usr/bin/env python3
"""Vowpal Wabbit's and Fwumious Wabbit's options: man/leveret-vw.7.scd has the list that `leveret help
vw` prints, and the program answers each option of it by every verb that stands for `vw`, never by
"unknown option" and never by a guess.

    tests/vw_words.py LEVERET             checks
    tests/vw_words.py LEVERET --update    writes the list of the man page
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

LEVERET = os.path.abspath(sys.argv[1])
PAGE = pathlib.Path(__file__).resolve().parent.parent / "man" / "leveret-vw.7.scd"
BEGIN = "; The list is made by tests/vw_words.py --update, from `leveret help vw`.\n"
END = "; end\n"
VERBS = ("train", "predict", "evaluate", "audit", "serve")
# Verbs that `vw` has not, which some rows name.
OTHER_VERBS = ("convert", "export")
# What a value may be: numbers, and for these the words that they take.
VALUES = {"--loss_function": "logistic", "--link": "logistic", "--hash": "all"}


def run(*arguments):
    """Exit code, standard output and standard error of `leveret ARGUMENTS`."""
    done = subprocess.run(
        [LEVERET, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def own_options(verb):
    """Options that the verb has itself."""
    return set(re.findall(r"(?<![\w-])--?\w+", run(verb, "--help_all")[1]))


class Row:
    """`names`: "-t, --testonly (train audit)"; `text`: what it is here."""

    def __init__(self, names, text):
        self.names, self.text = names, text
        self.options = re.findall(r"(?<![\w-])--?\w+", names)
        words = names.split(self.options[-1], 1)[1].strip()
        self.verbs = re.findall(r"\(([a-z ]+)\)$", words)
        self.value = re.sub(r"\s*\([a-z ]+\)$", "", words)


def rows_and_families(text):
    """[(title, [Row])], [(answer, [name])] of `leveret help vw`."""
    groups, families = [], []
    for block in text.rstrip("\n").split("\n\n")[1:]:
        title, *lines = block.split("\n")
        if title == "Not supported:":
            for line in lines:
                if line.startswith("  refused: "):
                    families.append((line.strip(), []))
                else:
                    families[-1][1].extend(line.split())
            continue
        rows, names = [], ""
        for line in lines:
            short = re.fullmatch(r"  (-.*?)  +(.*)", line)
            if short:
                rows.append(Row(*short.groups()))
            elif line.startswith("  -"):
                names = line.strip()
            else:
                rows.append(Row(names, line.strip()))
        groups.append((title.rstrip(":"), rows))
    return groups, families


def escaped(text):
    return re.sub(r"([_*\\])", r"\\\1", text)


def plain(text):
    """What stands between ` is bold."""
    parts = text.split("`")
    return "".join(f"*{escaped(p)}*" if i % 2 else escaped(p) for i, p in enumerate(parts))


def shown(row):
    options = ", ".join(f"*{escaped(o)}*" for o in row.options)
    value = f" _{escaped(row.value)}_" if row.value else ""
    verbs = f" ({row.verbs[0]})" if row.verbs else ""
    return options + value + verbs


def page_list(groups, families):
    text = ""
    for title, rows in groups:
        text += f"\n## {title}\n"
        for row in rows:
            text += f"\n{shown(row)}\n\t{plain(row.text)}\n"
    text += "\n## Not supported\n"
    for answer, names in families:
        text += f"\n{', '.join(f'*--{escaped(n)}*' for n in names)}\n\t{plain(answer)}\n"
    return text + "\n"


def check_page(groups, families):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    wanted = before + BEGIN + page_list(groups, families) + END + after
    if "--update" in sys.argv:
        PAGE.write_text(wanted)
    elif wanted != page:
        return ["man/leveret-vw.7.scd has another list than `leveret help vw`: run with --update"]
    return []


def answers(verb, option, value, expected):
    """What is wrong with how the program takes an option."""
    given = [option] + ([VALUES.get(option, "3")] if value else [])
    # A model is missing, or the file of data: nothing is learned, and nothing listens.
    data = [] if verb in ("serve", "export") else ["-d", "none.vw"]
    model = [] if verb in ("train", "convert") else ["-i", "none.lvt"]
    others = {"convert": ["csv"], "export": ["-o", "none.out"]}.get(verb, [])
    code, out, error = run(verb, *given, *data, *model, *others)
    said = f"{verb} {' '.join(given)}: {error.strip()}"
    if option in ("-h", "--help", "--help_all"):
        return [] if code == 0 and out else [said]
    if "unknown option" in error or "did you mean" in error or code not in (1, 2):
        return [said]
    refused = expected.startswith("refused")
    if refused and (code != 2 or "error: " + option not in error):
        return [said + " (is to be refused)"]
    told = expected.startswith("ignored, with a note")
    if told and f"{option} has no effect" not in error:
        return [said + " (is to be told)"]
    quiet = expected.startswith("always so")
    if quiet and f"{option} " in error:
        return [said + " (is to be taken)"]
    taken = re.match(r"taken as (--?\w+)", expected)
    if taken and verb == "train" and code == 2 and f"error: {option}" in error:
        return [said + " (is to be taken)"]
    return []


def check_options(groups, families):
    wrong = []
    own = {verb: own_options(verb) for verb in VERBS + OTHER_VERBS}
    for _, rows in groups:
        named = {}
        for row in rows:
            for option in row.options:
                for verb in row.verbs[0].split() if row.verbs else VERBS:
                    named.setdefault((option, verb), row)
        for (option, verb), row in named.items():
            text = "the same" if option in own[verb] else row.text
            wrong += answers(verb, option, row.value, text)
    for answer, names in families:
        for name in names:
            wrong += answers("train", "--" + name, "", answer)
    return wrong


def main():
    _, text, _ = run("help", "vw")
    groups, families = rows_and_families(text)
    count = sum(len(rows) for _, rows in groups) + sum(len(names) for _, names in families)
    if count < 450:
        sys.exit(f"only {count} options in `leveret help vw`")
    wrong = check_page(groups, families)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wrong += check_options(groups, families)
    print("\n".join(wrong) or f"vw_words: ok, {count} rows")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
