#!/usr/bin/env python3
"""The five-minute loop of leveret-loop(7), played faster: what learning all the time is worth.

    scripts/bench/loop.py [--leveret PROGRAM] [--chunks N] [--lines N] [--first N] [--out FOLDER] [FILE]

FILE: a stream of VW lines in the order of time, plain, gzip or zstd; without one a stream is made
whose clicks depend on what changes with time. Its first lines are the first day; the rest comes in
chunks. Beside each other run `train --follow`, `publish`, `serve --follow`, and a server that keeps
the first day's model. Each chunk is scored by both servers before anybody learns it; then it appears
in the folder of chunks, by rename, and a client asks until the answer is of a model that has learned
it: that is the freshness. In the end the newest step is rolled back.

Prints a table, and writes FOLDER/loop.tsv and, where gnuplot is, FOLDER/loop.png. Exits with 1 where
an answer is missing, a chunk is not learned within a minute, or the roll-back does not arrive.
"""

import argparse
import http.client
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--leveret", default=os.path.join(ROOT, "build/bin/leveret"))
    parser.add_argument("--chunks", type=int, default=40)
    parser.add_argument("--lines", type=int, default=2000, help="of a chunk")
    parser.add_argument("--first", type=int, default=20000, help="lines of the first day")
    parser.add_argument("--out", help="where the table and the plot are left")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file", nargs="?")
    return parser.parse_args()


def read_lines(path, count):
    opened = open(path, "rb")
    magic = opened.read(4)
    opened.seek(0)
    tool = {b"\x28\xb5\x2f\xfd": "zstd", b"\x1f\x8b": "gzip"}.get(magic if magic[:2] != b"\x1f\x8b" else magic[:2])
    source = opened
    if tool:
        source = subprocess.Popen([tool, "-dc"], stdin=opened, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL).stdout
    lines = []
    for line in source:
        if line.strip():
            lines.append(line)
        if len(lines) == count:
            break
    return lines


def made_lines(count, seed):
    """Clicks by what a user likes and an ad is; each ad changes now and then."""
    rng = random.Random(seed)
    users = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(100)]
    ads = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(40)]
    sites = [rng.gauss(0, 0.5) for _ in range(30)]
    lines = []
    for i in range(count):
        if i % 500 == 0:
            ads[rng.randrange(len(ads))] = [rng.gauss(0, 1) for _ in range(3)]
        user, ad, site = rng.randrange(100), rng.randrange(40), rng.randrange(30)
        score = sites[site] - 1 + sum(a * b for a, b in zip(users[user], ads[ad]))
        click = rng.random() < 1 / (1 + math.exp(-score))
        lines.append(b"%d |user u%d |ad a%d |site s%d\n" % (1 if click else -1, user, ad, site))
    return lines


def auc(lines, predictions):
    """Of pairs of a click and none, how many are in order; ties are a half."""
    order = sorted(zip(predictions, (line.split(None, 1)[0] in (b"1", b"+1", b"1.0") for line in lines)))
    clicks = sum(click for _, click in order)
    if clicks in (0, len(order)):
        return math.nan
    ranks, i = 0.0, 0
    while i < len(order):
        j = i
        while j < len(order) and order[j][0] == order[i][0]:
            j += 1
        ranks += sum(click for _, click in order[i:j]) * (i + j + 1) / 2
        i = j
    return (ranks - clicks * (clicks + 1) / 2) / (clicks * (len(order) - clicks))


class Server:
    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "serve", *options, "--http", "0"],
                                        stderr=subprocess.PIPE, text=True)
        self.port = None
        while self.port is None:
            line = self.process.stderr.readline()
            if not line:
                sys.exit("serve ended: " + " ".join(options))
            if "(HTTP)" in line:
                self.port = int(line.split("(HTTP)")[0].strip().rsplit(":", 1)[1])
        # What it says later must not fill the pipe.
        self.drain = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def predict(self, lines):
        """Predictions, and how many examples the model that made them has learned."""
        self.connection.request("POST", "/predict", b"".join(lines))
        answer = self.connection.getresponse()
        body = answer.read().split()
        if answer.status != 200 or len(body) != len(lines):
            sys.exit("%d answers to %d lines, status %d" % (len(body), len(lines), answer.status))
        return [float(p.split()[0]) for p in body], int(answer.headers["Leveret-Sequence"])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60) != 0:
            sys.exit("serve ended with %d" % self.process.returncode)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def run(program, *options, **more):
    return subprocess.run([program, *options], check=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, **more)


def play(options, first, chunks):
    program = options.leveret
    with open("first.vw", "wb") as out:
        out.writelines(first)
    run(program, "train", "--quiet", "-d", "first.vw", "-f", "model.lvt")
    shutil.copy("model.lvt", "first.lvt")
    run(program, "publish", "published", "-i", "model.lvt")
    os.mkdir("chunks")
    follow = [program, "train", "--quiet", "--follow", "-d", "chunks", "-i", "model.lvt", "-f", "model.lvt"]
    trainer = subprocess.Popen(follow)
    publisher = subprocess.Popen([program, "publish", "published", "-i", "model.lvt", "--watch", "--tolerance", "8"],
                                 stderr=subprocess.DEVNULL)
    live, frozen = Server(program, "--follow", "published"), Server(program, "-i", "first.lvt")
    rows, learned = [], len(first)
    try:
        for i, chunk in enumerate(chunks):
            now, _ = live.predict(chunk)
            then, _ = frozen.predict(chunk)
            with open("chunk.part", "wb") as out:
                out.writelines(chunk)
            learned += sum(not line.startswith(b"|") for line in chunk)
            start = time.monotonic()
            os.rename("chunk.part", "chunks/%06d.vw" % i)
            while live.predict(chunk[:1])[1] < learned:
                if time.monotonic() - start > 60:
                    sys.exit("chunk %d is not served after a minute" % i)
                time.sleep(0.005)
            rows.append((i, auc(chunk, now), auc(chunk, then), time.monotonic() - start))
        publisher.terminate()
        if publisher.wait(60) != 0:
            sys.exit("publish --watch ended with %d" % publisher.returncode)
        run(program, "publish", "published", "--rollback", "1")
        start = time.monotonic()
        while live.predict(chunks[0][:1])[1] != len(first):
            if time.monotonic() - start > 60:
                sys.exit("the roll-back does not arrive")
            time.sleep(0.005)
    finally:
        publisher.terminate()
        trainer.send_signal(signal.SIGTERM)
        trainer.wait(60)
    live.end()
    frozen.end()
    if trainer.returncode != 0:
        sys.exit("train --follow ended with %d" % trainer.returncode)
    return rows, time.monotonic() - start


def plot(folder):
    script = """
set terminal pngcairo size 900,540 font ",11"
set output "loop.png"
set multiplot layout 2,1
set key bottom left
set grid ytics
set ylabel "AUC of what is served"
plot "loop.tsv" using 1:2 skip 1 with lines lw 2 title "train --follow, publish, serve --follow", \
     "" using 1:3 skip 1 with lines lw 2 title "the first day's model"
set ylabel "seconds to be served"
set xlabel "chunk"
set yrange [0:]
plot "loop.tsv" using 1:4 skip 1 with points pt 7 ps .6 title "freshness"
"""
    if shutil.which("gnuplot") is None:
        return print("gnuplot is not installed: no loop.png")
    subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=folder)
    print("plot       %s" % os.path.join(folder, "loop.png"))


def main():
    options = arguments()
    total = options.first + options.chunks * options.lines
    lines = read_lines(options.file, total) if options.file else made_lines(total, options.seed)
    if len(lines) < options.first + options.lines:
        sys.exit("%s has only %d lines" % (options.file, len(lines)))
    first, rest = lines[:options.first], lines[options.first:]
    chunks = [rest[i:i + options.lines] for i in range(0, len(rest), options.lines)]
    out = os.path.abspath(options.out) if options.out else None
    options.leveret = os.path.abspath(options.leveret)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows, back = play(options, first, chunks)
        os.chdir("/")
    table = "chunk\tlive\tfrozen\tfreshness\n" + "".join("%d\t%.4f\t%.4f\t%.3f\n" % row for row in rows)
    print(table, end="")
    live, frozen = ([row[i] for row in rows if not math.isnan(row[i])] for i in (1, 2))
    fresh = [row[3] for row in rows]
    print("AUC        %.4f live, %.4f frozen, means over %d chunks of %d lines"
          % (statistics.mean(live), statistics.mean(frozen), len(live), options.lines))
    print("freshness  median %.3f s, p99 %.3f s" % (statistics.median(fresh), percentile(fresh, 0.99)))
    print("roll-back  served after %.3f s" % back)
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "loop.tsv"), "w") as file:
            file.write(table)
        plot(out)
    if not options.file and statistics.mean(live) < statistics.mean(frozen) + 0.01:
        sys.exit("learning all the time gained nothing on a stream that changes")


main()
