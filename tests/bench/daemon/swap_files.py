#!/usr/bin/env python3
"""Puts other models under the name that a server watches, and a damaged one every tenth time.

    swap_files.py --file FILE --log LOG --pid PID --times N [--every S] MODEL MODEL...

FILE is renamed over by copies of the models in turn; the server (PID, whose stderr is LOG) is asked
to look (SIGHUP) for those that are good, and has ten seconds to say what has become of it. Exit code 1 where it says nothing,
takes a damaged one, or refuses a good one. --every: seconds from one to the next.
"""
import argparse
import os
import signal
import sys
import time


def damaged(data, number):
    """Each is another kind of wrong."""
    middle = len(data) // 2
    flipped = bytes([data[middle] ^ 0x10])
    kinds = [
        data[:middle],
        data[:middle] + flipped + data[middle + 1:],
        b"",
        b"no model at all\n" * 100,
        data[:64],
        data[:-1],
        b"\xff" * len(data),
    ]
    return kinds[number % len(kinds)]


def wait_for_word(log, at, pid):
    """The next line of the log that is about a swap, and where the log goes on behind it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with open(log, "rb") as file:
            file.seek(at)
            text = file.read()
        position = at
        for line in text.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            position += len(line)
            if b": serves " in line and b" now, " in line:
                return "good", position
            if b": still serves " in line:
                return "bad", position
        os.kill(pid, 0)
        time.sleep(0.002)
    return "nothing", at


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--file", required=True)
    options.add_argument("--log", required=True)
    options.add_argument("--pid", type=int, required=True)
    options.add_argument("--times", type=int, required=True)
    options.add_argument("--every", type=float, default=0)
    options.add_argument("models", nargs="+")
    args = options.parse_args()
    models = [open(name, "rb").read() for name in args.models]
    at = os.path.getsize(args.log)
    # The first is not the one that is served, and none is followed by itself.
    good = 0
    start = time.monotonic()
    for number in range(1, args.times + 1):
        is_bad = number % 10 == 0
        if is_bad:
            # Not of the one that is served: that would be passed over, by its fingerprint.
            data = damaged(models[(good + 1) % len(models)], number // 10)
        else:
            good += 1
            data = models[good % len(models)]
        with open(args.file + ".new", "wb") as file:
            file.write(data)
        os.rename(args.file + ".new", args.file)
        # The server looks by itself, ten times a second. When it has told of a damaged file, SIGHUP
        # makes it tell once more.
        if not is_bad:
            os.kill(args.pid, signal.SIGHUP)
        word, at = wait_for_word(args.log, at, args.pid)
        if word != ("bad" if is_bad else "good"):
            sys.exit(f"swap_files.py: swap {number} is {'damaged' if is_bad else 'good'}; "
                     f"the server says {word}")
        time.sleep(max(0, start + number * args.every - time.monotonic()) if args.every else 0)
    print(f"{args.times} swaps, {args.times // 10} of them of damaged files, in "
          f"{time.monotonic() - start:.1f} s")


main()
