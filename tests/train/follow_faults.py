#!/usr/bin/env python3
"""`leveret train --follow` is killed at its system calls, or these fail: every chunk is learned once.

    follow_faults.py LEVERET SAMPLE.vw.zst [--kills N]

Whatever happens to a run, the next one goes on, and the file at the end is that of a run which nothing
happened to; nothing else is left in the folder. strace kills the program, or makes a call fail, at the
first, second, ... fsync, rename, unlink and lock of each thread, for each of the chunks, and at some of the
opens and writes; --kills (20) more come at random moments. Exit code 77: no program may be traced here.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CHUNKS, ROWS = 3, 60
COMMITS = ("fsync", "?rename,?renameat,?renameat2", "flock")
CALLS = (*COMMITS, "?unlink,?unlinkat", "?open,?openat", "write")
STEPS = {"write": 61, "?open,?openat": 5}  # as there are many


class Folder:
    """Chunks to be followed, and the model that learns them, which has learned some already."""

    def __init__(self, program, rows, learned=0):
        self.program, self.rows = program, rows
        self.path = tempfile.mkdtemp(prefix="follow")
        os.mkdir(self.file("in"))
        if learned > 0:
            self.add(0, learned)
            assert self.run()[0] == 0
        self.add(learned, CHUNKS)

    def add(self, begin, end):
        for i in range(begin, end):
            with open(self.file("in", "c%d" % i), "wb") as chunk:
                chunk.writelines(self.rows[i * ROWS:(i + 1) * ROWS])
        self.last = "c%d" % (end - 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def file(self, *names):
        return os.path.join(self.path, *names)

    def model(self):
        with open(self.file("m.lvt"), "rb") as file:
            return file.read()

    def start(self, before=()):
        command = [*before, self.program, "train", "-d", "in", "--follow", "-f", "m.lvt"]
        command += ["-i", "m.lvt"] if os.path.exists(self.file("m.lvt")) else []
        return subprocess.Popen(command, cwd=self.path, stderr=subprocess.PIPE, text=True,
                                stdout=subprocess.DEVNULL, start_new_session=True)

    def run(self, before=(), ends=True):
        """Until all chunks are learned, or it ends earlier; without `ends` until it ends by itself.
        Its exit code, and what it said."""
        process, said = self.start(before), []
        for line in process.stderr:
            said.append(line)
            if not ends:
                continue
            if "done with " + self.last in line or "names up to " + self.last in line:
                os.killpg(process.pid, signal.SIGTERM)
        return process.wait(), "".join(said)

    def check(self, expected, what):
        """The next run goes on, and there is the file that is to be there, alone."""
        code, said = self.run()
        assert code == 0, (what, code, said)
        assert sorted(os.listdir(self.path)) == ["in", "m.lvt"], (what, os.listdir(self.path))
        assert self.model() == expected, what + ": the file is another one"


def tracing(call, what, when):
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "signal=none",
            "-e", "inject=%s:%s:when=%d" % (call, what, when)]


def may_trace():
    try:
        return subprocess.run(tracing("fsync", "signal=KILL", 1) + ["true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def at_each_call(program, rows, expected, call, what, learned=0):
    """How many runs were struck."""
    struck, step = 0, STEPS.get(call, 1)
    while True:
        with Folder(program, rows, learned) as folder:
            at = 1 + struck * step
            code, said = folder.run(tracing(call, what, at))
            if code == 0:
                return struck
            name = "%d learned, %s, %s %d" % (learned, what, call, at)
            # It may have heard SIGTERM while it was about to say what failed.
            is_told = code == -signal.SIGTERM or code == 1 and "No space" in said
            assert code == -signal.SIGKILL or is_told, (name, code, said)
            folder.check(expected, name)
        struck += 1


def told_at_once(program, rows, expected):
    """A file that does not reach the disk is an error when that is known, not with the next one."""
    with Folder(program, rows, CHUNKS - 1) as folder:
        code, said = folder.run(tracing("fsync", "error=ENOSPC", 1), ends=False)
        assert code == 1 and "No space" in said, (code, said)
        folder.check(expected, "told at once")


def at_random_moments(program, rows, expected, kills):
    chance = random.Random(kills)
    with Folder(program, rows) as folder:
        started = time.monotonic()
        assert folder.run()[0] == 0
        whole = time.monotonic() - started
    for i in range(kills):
        with Folder(program, rows) as folder:
            process = folder.start()
            time.sleep(chance.random() * whole)
            process.kill()
            process.communicate()
            folder.check(expected, "random kill %d" % i)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("leveret")
    parser.add_argument("sample")
    parser.add_argument("--kills", type=int, default=20)
    given = parser.parse_args()
    program = os.path.abspath(given.leveret)
    data = subprocess.run(["zstd", "-dcq", given.sample], check=True, capture_output=True).stdout
    rows = data.splitlines(keepends=True)[:CHUNKS * ROWS]
    with Folder(program, rows) as folder:
        code, said = folder.run()
        assert code == 0, (code, said)
        expected = folder.model()
    at_random_moments(program, rows, expected, given.kills)
    print("%d kills at random moments" % given.kills)
    if not may_trace():
        print("programs cannot be traced here (strace, ptrace)")
        sys.exit(77)
    told_at_once(program, rows, expected)
    # strace counts calls by thread, and each chunk's commit has a thread of its own.
    for learned in range(CHUNKS):
        for call in CALLS if learned == 0 else COMMITS:
            strike(program, rows, expected, call, "signal=KILL", learned)
        for call in COMMITS[:2]:
            strike(program, rows, expected, call, "error=ENOSPC", learned)


def strike(program, rows, expected, call, what, learned):
    struck = at_each_call(program, rows, expected, call, what, learned)
    least = 2 if call == "fsync" else 1  # of the file, and of its folder
    assert struck >= least, (learned, what, call)
    print("%d learned, %s: %d times at %s" % (learned, what, struck, call))


if __name__ == "__main__":
    main()
