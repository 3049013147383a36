#!/usr/bin/env python3
"""The status page in headless Chromium: what it shows, light and dark.

    tests/daemon/status_page.py LEVERET TRAIN.vw.zst SCREENSHOTS
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from server import Server

PROGRAM = os.path.abspath(sys.argv[1])
DATA = subprocess.run(["zstd", "-dcq", sys.argv[2]], check=True, capture_output=True).stdout
SCREENSHOTS = os.path.abspath(sys.argv[3])


def chromium(page, *options):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--window-size=1000,760", "--virtual-time-budget=4000", *options, page]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout.decode()


def text_of(dom, id):
    found = re.search(r'id="%s"[^>]*>(.*?)</(?:div|p|span|table)>' % id, dom, re.S)
    assert found, (id, dom)
    return re.sub(r"<[^>]*>", " ", found[1])


def pixels(name):
    """Width and height, and how many bytes a PNG takes."""
    data = open(name, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24]), data


def main():
    if shutil.which("chromium") is None:
        print("chromium is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        lines = DATA.splitlines(keepends=True)
        subprocess.run([PROGRAM, "train", "--quiet", "-f", "a.lvt"], input=b"".join(lines[:1000]), check=True)
        with Server(PROGRAM, "-i", "a.lvt", "--watch", "a.lvt", lines=False) as server:
            page = "http://127.0.0.1:%d/" % server.http_port
            assert "does not answer" not in text_of(chromium(page, "--dump-dom"), "health")
            with open("b.new", "wb") as broken:
                broken.write(b"no model <b>at all</b>")
            os.rename("b.new", "a.lvt")
            server.wait_for("still serves the model before")
            for i in range(11):  # more than two intervals
                server.ask("POST", "/predict", b"".join(lines[1000:1000 + 50 * (i + 1)]) + b"x |\n")
                time.sleep(1)
            dom = chromium(page, "--dump-dom")
            assert 'data-shown="yes"' in dom, dom
            assert text_of(dom, "health") == "serving", text_of(dom, "health")
            assert re.search(r"[1-9]", text_of(dom, "rate")), text_of(dom, "rate")
            assert re.search(r"[0-9.]+ (ms|µs)", text_of(dom, "latency")), text_of(dom, "latency")
            assert re.search(r"[1-9]", text_of(dom, "errors")), text_of(dom, "errors")
            assert dom.count("<polyline") == 4, dom
            models = text_of(dom, "models")
            assert " a " in models and " 1000 " in models and "3300" in models, models
            assert "still" not in models and "a.lvt" in text_of(dom, "swaps"), text_of(dom, "swaps")
            assert "<b>at all" not in dom  # what a file says is text
            images = []
            for scheme, number in [("light", 1), ("dark", 0)]:
                name = os.path.join(SCREENSHOTS, "status_%s.png" % scheme)
                chromium(page, "--blink-settings=preferredColorScheme=%d" % number, "--screenshot=" + name)
                size, data = pixels(name)
                assert size == (1000, 760), size
                images.append(data)
            assert images[0] != images[1]
            server.end()
            dom = chromium(page, "--dump-dom")
            assert 'data-shown="yes"' not in dom


main()
