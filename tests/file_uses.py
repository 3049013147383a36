#!/usr/bin/env python3
"""No file is lost by a typed command. None is both read and written: every verb, every pair of a file that
it reads and one that it writes, and of two that it writes, by whatever name or link. And none of another
kind is written over: every file that a verb writes, with every kind of file there. Each is refused as
misuse, and nothing on the disk has changed then.

    tests/file_uses.py PROGRAM LEVERET

PROGRAM is leveret or leveret-mpi, whose verbs are tried, and LEVERET the first of these, which makes
what they read. The table of verbs below is complete: --help tells which options name files.
"""

import gzip
import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, LEVERET = (os.path.abspath(name) for name in sys.argv[1:3])
MPI = os.path.basename(PROGRAM) == "leveret-mpi"
os.environ.setdefault("LEVERET_SIMD", "reference")
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# Open MPI 4 starts a daemon for each process without mpirun, which takes as long as the process.
os.environ.setdefault("OMPI_MCA_ess_singleton_isolated", "1")

PRINTED = "standard output"
GIVEN = "standard input"

# What stands for an option without a name.
BARE = {"OLD": "old.lvt", "NEW": "new.lvt", "PATCH": "a.patch", "FILE": "old.lvt"}
# What is read where a pair does not say otherwise.
READS = {
    "-d": "data",
    "-i": "old.lvt",
    "--field": "fields",
    "--previous": "export.lvt",
    "--names": "data",
}


class Verb:
    """`reads` and `writes`: options, and words for what has none. `needs`: always given.
    `may`: pairs that may be one file."""

    def __init__(self, reads, writes, needs=(), may=(), words=()):
        self.reads, self.writes, self.needs = reads, writes, needs
        self.may, self.words = set(may), list(words)


SCORES = ("-p", "-r", "--quarantine", "-c")
ONE = {
    "train": Verb(
        ("-d", GIVEN, "-i", "--field"),
        ("-f", "-p", "--metrics", "--quarantine", "-c"),
        ("-d",),
        {("-i", "-f")},
        ["--quiet"],
    ),
    "predict": Verb(("-d", GIVEN, "-i"), (*SCORES, PRINTED), ("-d", "-i")),
    "evaluate": Verb(("-d", GIVEN, "-i"), ("--quarantine", "-c", PRINTED), ("-d", "-i")),
    "audit": Verb(("-d", GIVEN, "-i", "--field"), ("--quarantine", PRINTED), ("-d",)),
    "convert": Verb(("-d", GIVEN, "-i"), ("--quarantine", PRINTED), ("-d",), words=["libffm"]),
    "schema": Verb(("-d", GIVEN, "-i"), ("--quarantine", PRINTED), ("-d", "-i")),
    "export": Verb(("-i", "--previous"), ("-o",), ("-i", "-o"), {("--previous", "-o")}),
    "inspect": Verb(
        ("FILE", "--names"), (PRINTED,), ("FILE", "--names"), words=["--weights"]
    ),
    "compare": Verb(("OLD", "NEW", "-d", GIVEN), ("--quarantine", PRINTED), ("OLD", "NEW", "-d")),
    "diff": Verb(("OLD", "NEW"), ("-o",), ("OLD", "NEW", "-o")),
    "patch": Verb(("OLD", "PATCH"), ("-o",), ("OLD", "PATCH", "-o"), {("OLD", "-o")}),
    # Its folder has names of its own.
    "publish": Verb(("-i",), ("--textfile",), ("-i",), words=["published"]),
}
SEVERAL = {
    "train": Verb(
        ("-d", GIVEN, "-i", "--field", "-f"),
        ("-p", "--metrics", "--quarantine", "-c"),
        ("-d",),
        words=["--quiet"],
    ),
    "predict": Verb(("-d", GIVEN, "-i"), (*SCORES, PRINTED), ("-d", "-i")),
    "evaluate": Verb(("-d", GIVEN, "-i"), ("--quarantine", "-c", PRINTED), ("-d", "-i")),
    "export": Verb(("-i", "--previous"), ("-o",), ("-i", "-o"), {("--previous", "-o")}),
    "gather": Verb(("-i",), ("-o",), ("-i", "-o")),
}
VERBS = SEVERAL if MPI else ONE
# Needs --follow and its folder: tests/cli/train/kept.
ELSEWHERE = {"train": {"--textfile", "--schema"}}
if MPI:
    READS["-i"] = "folder"
    READS["-f"] = "folder"
# Files of a folder, and names that a save in it would give.
SHARDS = ["manifest.json", "1.frame.lvt", "1.shard-0.lvt"]
NEW_SHARDS = ["2.frame.lvt", "17.shard-3.lvt"]

runs = failures = 0


def fail(what):
    global failures
    failures += 1
    print("FAIL", what)


def make(program, *words):
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)


def make_files():
    """What verbs read, in the working folder."""
    lines = [f"{1 if i % 3 else -1} |a x{i % 5} |b y{i % 7}\n" for i in range(40)]
    pathlib.Path("data").write_text("".join(lines))
    pathlib.Path("fields").write_text("a\nb\n")
    learn = ["train", "--quiet", "--field", "a", "--field", "b", "--hidden", "none"]
    make(LEVERET, *learn, "-f", "old.lvt", "data")
    make(LEVERET, "train", "--quiet", "--again", "-i", "old.lvt", "-f", "new.lvt", "data")
    make(LEVERET, "diff", "old.lvt", "new.lvt", "-o", "a.patch")
    make(LEVERET, "export", "-i", "old.lvt", "-o", "export.lvt")
    if MPI:
        make(PROGRAM, *learn, "--batch_size", "10", "-f", "folder", "data")


def links_to(path):
    """The file by other names."""
    path = pathlib.Path(path)
    soft, hard, way = (pathlib.Path(str(path) + end) for end in (".soft", ".hard", ".way"))
    soft.symlink_to(path.name)
    if path.exists():
        os.link(path, hard)
    way.symlink_to(os.path.abspath(path.parent))
    names = [str(path), f"./{path}", str(soft), os.path.abspath(path), str(way / path.name)]
    return names + [str(hard)] * path.exists()


def content():
    """All that is on the disk of the working folder."""
    found = {}
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            text = os.readlink(path) if os.path.islink(path) else pathlib.Path(path).read_bytes()
            found[path] = (status.st_ino, status.st_mode, status.st_mtime_ns, text)
    return found


def command(verb, table, given):
    """A command line with these options, and where its standard input and output are."""
    words, bare, given = [PROGRAM, verb, *table.words], [], dict(given)
    for option in table.needs:
        if option == "-d" and GIVEN in given:
            continue
        given.setdefault(option, READS.get(option) or BARE.get(option) or "unused")
    for option, path in given.items():
        if option in BARE:
            bare.append((list(BARE).index(option), path))
        elif option == "--field":
            words += [option, "@" + path]
        elif option not in (GIVEN, PRINTED):
            words += [option, path]
    return words + [path for _, path in sorted(bare)], given.get(GIVEN), given.get(PRINTED)


def run(words, stdin=None, stdout=None, descriptor=None):
    with open(stdin or os.devnull, "rb") as source, open(stdout or os.devnull, "ab") as target:
        kept = (descriptor,) if descriptor is not None else ()
        done = subprocess.run(
            words, stdin=source, stdout=target, stderr=subprocess.PIPE, text=True, timeout=60,
            pass_fds=kept,
        )  # fmt: skip
    return done.returncode, done.stderr


SAME_FILE = "are the same file|has a name of the files that|two results cannot both"


def refused(words, stdin=None, stdout=None, descriptor=None, why=SAME_FILE):
    global runs
    runs += 1
    before = content()
    code, said = run(words, stdin, stdout, descriptor)
    line = " ".join(words[1:]) + f" <{stdin} >>{stdout}"
    if code != 2:
        fail(f"exit code {code} instead of 2: {line}: {said}")
    elif not re.search(why, said):
        fail(f"{line}: {said}")
    if content() != before:
        fail(f"changed what is on the disk: {line}")
        return False
    return True


def files_read(option):
    """The files that an option stands for."""
    name = READS.get(option) or BARE.get(option) or READS["-d"]
    return [f"{name}/{shard}" for shard in SHARDS] if os.path.isdir(name) else [name]


def some(members):
    return [random.choice(members)] if MPI else members


def pairs_of(verb, table):
    """Command lines each of which reads what it writes. A start of leveret-mpi takes a third of a
    second, so that each pair has one of the files and one of the names there, the same in each run
    of this test; else all."""
    for read, write in itertools.product(table.reads, table.writes):
        if (read, write) in table.may:
            continue
        for path in some(files_read(read)):
            names = links_to(path)
            for name in some(names):
                given = {read: READS.get(read) or BARE.get(read) or path, write: name}
                yield command(verb, table, given)
            remove_links(path)
    for one, other in itertools.combinations(table.writes, 2):
        if (one, other) == ("-p", PRINTED):
            continue  # one in place of the other
        # The shell makes what standard output leads to.
        paths = ["export.lvt"] if PRINTED in (one, other) else some(["data.new", "export.lvt"])
        for path in paths:
            names = links_to(path)
            for name in some(names):
                yield command(verb, table, {one: path, other: name})
            remove_links(path)


def make_kept():
    """Files of all kinds, each of which somebody may want."""
    text = "".join(f"1 |a x{i} |b y\n" for i in range(3000)).encode()
    kept = {
        "examples": text,
        "examples.gz": gzip.compress(text),
        "text": b"What is written here is nowhere else.\n",
        "rows.csv": b"1,2,3\n4,5,6\n",
        "libsvm": b"1 3:1 7:.5\n-1 2:1\n",
        "binary": bytes(range(256)),
        "json": b'{"window":1}\n',
        "numbers": b"0.25 tag\n.5\n\n-1e-3\n",
        "model": pathlib.Path("old.lvt").read_bytes(),
        "export": pathlib.Path("export.lvt").read_bytes(),
        "patch": pathlib.Path("a.patch").read_bytes(),
        "prom": b"# HELP leveret_a A.\n# TYPE leveret_a gauge\nleveret_a 1\n",
    }
    os.mkdir("kept")
    for name, data in kept.items():
        pathlib.Path("kept", name).write_bytes(data)
    make(LEVERET, "train", "--quiet", "-c", "kept/cache", "data")
    make("zstd", "-q", "kept/text", "-o", "kept/text.zst")


def check_contents(verb, table):
    """Nothing is written over but numbers and files of the same kind, unless the user says so."""
    same = {"train-f": "model", "train--metrics": "json", "gather-o": "model", "patch-o": "model",
            "export-o": "export", "diff-o": "patch", "publish--textfile": "prom"}  # fmt: skip
    for write in table.writes:
        if write in (PRINTED, "-c", "--quarantine"):
            continue
        replaced = {"numbers", same.get(verb + write, "numbers")}
        kept = sorted(os.listdir("kept"))
        for name in some([name for name in kept if name not in replaced]):
            line = command(verb, table, {write: "kept/" + name})
            refused(*line, why="would be lost")
            run_in_copy(line[0] + ["--overwrite"], *line[1:])
        for name in some(sorted(replaced)):
            run_in_copy(*command(verb, table, {write: "kept/" + name}))


def remove_links(path):
    for end in (".soft", ".hard", ".way"):
        pathlib.Path(path + end).unlink(missing_ok=True)


def check_names_of_shards(verb, table):
    """A file that is not there yet is refused where the next save would remove it."""
    folder_options = [option for option in table.reads if READS.get(option) == "folder"]
    for option, write in itertools.product(folder_options, table.writes):
        if write == PRINTED:
            continue
        name = "folder/" + random.choice(NEW_SHARDS)
        refused(*command(verb, table, {option: "folder", write: name}))
    if "-f" in table.reads:
        for write in table.writes:
            refused(*command(verb, table, {"-f": "folder", write: "folder"}))
        for read in ("-d", "-i"):
            refused(*command(verb, table, {"-f": "folder", read: "folder/1.frame.lvt"}))


def check_descriptors(verb, table):
    """Names of what the shell has opened, which lead to a file that is read."""
    for write in [option for option in table.writes if option not in (PRINTED, "-c")]:
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]:
            read = next(option for option in table.reads if (option, write) not in table.may)
            path = files_read(read)[0]
            if not refused(*command(verb, table, {write: name})[:2], stdout=path):
                return
            if MPI:
                break
        with open(path, "ab") as opened:
            refused(
                *command(verb, table, {write: f"/dev/fd/{opened.fileno()}"}),
                descriptor=opened.fileno(),
            )


def check_allowed(verb, table):
    """A model in place of the one that it came from."""
    for read, write in table.may:
        before = run_in_copy(*command(verb, table, {read: files_read(read)[0], write: "apart"}))
        after = run_in_copy(
            *command(verb, table, {read: files_read(read)[0], write: files_read(read)[0]})
        )
        if before["./apart"] != after["./" + files_read(read)[0]]:
            fail(f"{verb} {read} and {write}: another result in place")


def run_in_copy(*line):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(".", copy, dirs_exist_ok=True)
        os.chdir(copy)
        code, said = run(*line)
        if code != 0:
            fail(f"exit code {code}: {line}: {said}")
        result = {path: told[3] for path, told in content().items()}
        os.chdir(here)
    return result


def file_options(verb):
    """Those that --help says to take files."""
    text = subprocess.run(
        [PROGRAM, verb, "--help_all"], check=True, text=True, capture_output=True
    ).stdout
    found = set()
    for line in text.splitlines():
        match = re.match(r"  (-\S+) (?:\S*@)?(FILE|MODEL|FOLDER|PATCH|NEW)\b(?!=F)", line)
        if match:
            found.add(match[1].split(",")[0])
    return found


def main():
    help_text = subprocess.run([PROGRAM, "--help"], check=True, text=True, capture_output=True)
    random.seed(42)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files()
        make_kept()
        for verb, table in VERBS.items():
            told = file_options(verb) - ELSEWHERE.get(verb, set())
            known = {o for o in (*table.reads, *table.writes) if o.startswith("-")}
            if told != known:
                fail(f"{verb}: files of the table {sorted(known)}, of --help {sorted(told)}")
            for line in pairs_of(verb, table):
                refused(*line)
            check_descriptors(verb, table)
            if MPI:
                check_names_of_shards(verb, table)
            check_allowed(verb, table)
            check_contents(verb, table)
        os.chdir("/")
    print(f"{runs} command lines, {failures} failures")
    return failures != 0


sys.exit(main())
