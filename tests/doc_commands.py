#!/usr/bin/env python3
"""Every command of ours that a page shows is one that the program takes: README.md, docs/*.md and the man
pages, in blocks and within lines.

    tests/doc_commands.py LEVERET [LEVERET_MPI]

Each is run in an empty folder with nothing on standard input: files are missing (exit status 1), but a
command line that is wrong (2) is a failure. One within a line may lack what it needs, as it often stands for
its verb. Blocks with a name are left out, as they are run to their end (readme_session.sh, docs_session.sh).
A word in capitals is a placeholder, and so is one between underscores in man pages; "..." and "…" stand for
anything, and are left out.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {}
SECONDS = 2  # one that serves or follows has taken its options by then
PLACEHOLDERS = {"N": "1", "X": "1", "BYTE": ",", "VERB": "train"}
LACKS = re.compile(r"error: [^\n]* missing\n|error: no verb|error: give a model \(-i\)")
FOLDERS = ["chunks", "FOLDER"]  # of which files are asked


def split(text):
    """Lines between fences, with those joined that end in a backslash; and the text without them."""
    inside, rest = [], []
    fenced = named = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            named = fenced and bool(rest) and re.fullmatch(r"<!-- [a-z]+ -->", rest[-1]) is not None
        elif named:
            continue
        elif not fenced:
            rest.append(line)
        elif inside and inside[-1].endswith("\\"):
            inside[-1] = inside[-1][:-1] + " " + line.strip()
        else:
            inside.append(line)
    return inside, " ".join(rest)


def lines_of(page):
    """What may have commands, and whether it is a whole line."""
    inside, rest = split(page.read_text())
    for line in inside:
        yield re.sub(r"^\s*\$ ", "", line), True
    if page.suffix == ".md":
        for code in re.findall(r"`(leveret(?:-mpi)? [^`]*)`", rest):
            yield code, False
        return
    # *leveret serve --follow*, or *leveret publish* _DIR_ *-i* _MODEL_
    for bold, behind in re.findall(
        r"\*(leveret(?:-mpi)? [^*]*)\*((?:\s+_[A-Z]+_|\s+\*[^*]+\*)*)", rest
    ):
        yield bold.replace("\\_", "_") + re.sub(r"\*|\b_|_\b", "", behind), False


def commands(line):
    """Those of the line that are ours, as words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        words = list(lexer)
    except ValueError:
        return  # no shell text
    current = []
    redirected = False
    for word in words + [";"]:
        if set(word) <= set("|&;()"):
            if current:
                yield current
            current = []
        elif set(word) <= set("<>"):
            if current and current[-1].isdigit():
                current.pop()
            redirected = True
        elif redirected:
            redirected = False
        elif current or pathlib.PurePath(word).name in PROGRAMS:
            current.append(pathlib.PurePath(word).name if not current else word)


def fault(command):
    """What the program says of a command line that is wrong."""
    words = [PLACEHOLDERS.get(word, word) for word in command if word not in ("...", "…")]
    with tempfile.TemporaryDirectory() as folder:
        for name in FOLDERS:
            (pathlib.Path(folder) / name).mkdir()
        try:
            done = subprocess.run(
                [PROGRAMS[words[0]], *words[1:]],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=SECONDS,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return ""
    return done.stderr.strip() if done.returncode == 2 else ""


def main():
    for path in sys.argv[1:]:
        PROGRAMS[pathlib.Path(path).name] = str(pathlib.Path(path).resolve())
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("man/*.scd"))]
    found, failed, told = 0, 0, {}
    for page in pages:
        for line, is_whole in lines_of(page):
            for command in commands(line):
                found += 1
                key = tuple(command)
                if key not in told:
                    told[key] = fault(command)
                if told[key] and (is_whole or not LACKS.search(told[key])):
                    failed += 1
                    print(f"{page.relative_to(ROOT)}: {shlex.join(command)}\n    {told[key]}\n")
    print(f"{found} commands in {len(pages)} pages, {failed} of them wrong")
    # A reader that finds none would find no fault.
    sys.exit(1 if failed or found < 100 else 0)


if __name__ == "__main__":
    main()
