#!/usr/bin/env python3
"""`leveret serve` against `leveret predict`, and against clients of every kind.

    tests/daemon/serve.py LEVERET TRAIN.vw.zst [TEST...]      default: every test
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from server import Server, exchange, read_all

PROGRAM = os.path.abspath(sys.argv[1])
DATA = subprocess.run(["zstd", "-dcq", sys.argv[2]], check=True, capture_output=True).stdout
LINES = DATA.splitlines(keepends=True)


def leveret(*arguments, text=None):
    run = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True)
    assert run.returncode == 0, (arguments, run.stderr.decode())
    return run.stdout


def train(name, begin, end, *options):
    leveret("train", "--quiet", "-f", name, *options, text=b"".join(LINES[begin:end]))


def predict(model, text, *options):
    return leveret("predict", "--quiet", "-i", model, *options, text=text)


def fingerprint(model):
    return json.loads(leveret("inspect", "--json", model))["fingerprint"]


TAGGED = b"".join(
    line.replace(b" |", b" 't%d |" % i, 1) if i % 3 == 0 else line
    for i, line in enumerate(LINES[3000:4000]))
# With a blank line, a bad one, a stranger's namespace, the other line end, and no end at all.
MIXED = (TAGGED + b"\n" + b"x |A b0\n" + b"|stranger what:2 |A b0\r\n" + b"  \t\n" + b"1 nan |A b0\n" +
         b"|A b0 |a 5697e444")


def as_blocks(lines):
    """The capital namespaces are the context's."""
    blocks = []
    for begin in range(0, len(lines), 5):
        spaces = [line.split(b" |")[1:] for line in lines[begin:begin + 5]]
        context = b"".join(b" |" + s.rstrip(b"\n") for s in spaces[0] if s[:1].isupper())
        block = b"shared" + context + b"\n" if begin % 2 else context.lstrip() + b"\n"
        for parts in spaces:
            block += b" ".join(b"|" + s.rstrip(b"\n") for s in parts if s[:1].islower()) + b"\n"
        blocks.append(block + b"\n")
    return blocks


BLOCKS = as_blocks(LINES[3000:3500])
CONTEXT = ["--context", "A,B,C,D,E,F"]


# ---- answers are those of predict ----

def test_lines_are_answered_as_predict_does():
    expected = predict("a.lvt", MIXED)
    with Server(PROGRAM, "-i", "a.lvt", "--threads", 2) as server:
        assert server.lines(MIXED) == expected
        for _ in range(3):  # however they are cut
            with server.connect() as connection:
                got, sent = [], 0
                reader = threading.Thread(target=lambda c=connection: got.append(read_all(c)))
                reader.start()
                while sent < len(MIXED):
                    size = random.choice([1, 3, 100, 5000])
                    connection.sendall(MIXED[sent:sent + size])
                    sent += size
                connection.shutdown(socket.SHUT_WR)
                reader.join()
                assert got[0] == expected
        status, headers, body = server.ask("POST", "/predict", MIXED)
        assert (status, body) == (200, expected)
        assert headers["Leveret-Fingerprint"] == fingerprint("a.lvt")
        assert headers["Leveret-Model"] == "a"
        assert headers["Leveret-Bad-Lines"] == "2", headers
        assert headers["Leveret-First-Bad-Line"].startswith("line 1002, column 1"), headers
        metrics = server.metrics()
        assert metrics['leveret_predictions_total{model="a"}'] == 5 * 1002
        assert metrics['leveret_bad_lines_total{model="a"}'] == 5 * 2
        assert metrics['leveret_unknown_namespaces_total{model="a"}'] == 5
        assert metrics["leveret_connections_total"] >= 5


def test_a_line_is_answered_before_the_next_comes():
    with Server(PROGRAM, "-i", "a.lvt") as server, server.connect() as connection:
        stream = connection.makefile("rwb", buffering=0)
        for line in TAGGED.splitlines(keepends=True)[:50]:
            stream.write(line)
            assert stream.readline() == predict_one(line), line


def predict_one(line, known={}):
    if not known:
        lines = TAGGED.splitlines(keepends=True)
        known.update(zip(lines, predict("a.lvt", TAGGED).splitlines(keepends=True)))
    return known[line]


def test_blocks_are_answered_as_predict_does():
    text = b"".join(BLOCKS) + b"shared |A b0\nx |a b\n|a 5697e444\n" + b"\n\nbad bad |A b0\n|a b\n"
    options = CONTEXT + ["--context_lines"]
    expected = predict("a.lvt", text, *options)
    with Server(PROGRAM, "-i", "a.lvt", *options) as server:
        assert server.lines(text) == expected
        assert server.lines(text) == expected  # contexts return
        metrics = server.metrics()
        assert metrics['leveret_contexts_found_total{model="a"}'] >= 100, metrics
        status, _, body = server.ask("POST", "/predict?context_lines=1", text)
        assert (status, body) == (200, expected)
    with Server(PROGRAM, "-i", "a.lvt", "--context_cache", 0, *options) as server:
        assert server.lines(text) == expected
        assert server.lines(text) == expected
        assert server.metrics()['leveret_contexts_found_total{model="a"}'] == 0
    with Server(PROGRAM, "-i", "a.lvt", "--context_lines") as server:  # names are the context's own
        got = server.lines(b"".join(BLOCKS)).split()
        lines = predict("a.lvt", b"".join(BLOCKS), *options).split()
        assert len(got) == len(lines)
        # A context has what its fields make first, and others' may be another field the less.
        assert all(abs(float(x) - float(y)) < 3e-6 for x, y in zip(got, lines))


def test_log_odds():
    with Server(PROGRAM, "-i", "a.lvt", "--link", "identity") as server:
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED, "--link", "identity")


def namespaces(line):
    """The object of JSON that says the same as a line without values."""
    spaces = {}
    for part in line.decode().strip().split("|")[1:]:
        name, *features = part.split()
        spaces[name] = features
    return spaces


def test_json_is_answered_as_lines_are():
    expected = [float(p) for p in predict("a.lvt", b"".join(LINES[3000:3100])).split()]
    whole = {"candidates": [namespaces(line) for line in LINES[3000:3100]]}
    with Server(PROGRAM, "-i", "a.lvt") as server:
        def ask(request, type="application/json"):
            body = request if isinstance(request, bytes) else json.dumps(request).encode()
            status, headers, answer = server.ask("POST", "/predict", body, {"Content-Type": type})
            assert headers["Content-Type"] == "application/json"
            return status, json.loads(answer)

        status, answer = ask(whole)
        assert status == 200 and answer["predictions"] == expected and answer["errors"] == []
        assert answer["model"]["fingerprint"] == fingerprint("a.lvt")
        assert answer["model"]["name"] == "a" and answer["model"]["sequence"] == 2000
        assert ask(whole, "Application/JSON; charset=utf-8")[1] == answer

        block = BLOCKS[0].splitlines()
        context = namespaces(block[0])
        _, answer = ask({"candidates": [namespaces(line) for line in block[1:-1]], "context": context})
        lines = predict("a.lvt", BLOCKS[0], "--context_lines", *CONTEXT).split()
        assert answer["predictions"] == [float(p) for p in lines]

        _, answer = ask({"candidates": [{"A": {"b0": 2, "b1": 0.5}}, {"A": ["b0", {"b1": 3}]},
                                        {"A": "b0"}, {"A": [{"b0": 1e39}]}, {}]})
        lines = predict("a.lvt", b"|A b0:2 b1:.5\n|A b0 b1:3\n|A b0\n|A b0:1e39\n|\n").split()
        assert answer["predictions"] == [None if p == b"nan" else float(p) for p in lines], answer
        assert [e["candidate"] for e in answer["errors"]] == [3]

        for request, word in [
                (b"", "byte"), (b"{", "byte"), (b"[]", "object"), (b"3", "object"),
                (b'{"candidates":[]', "byte"), ({}, "no \"candidates\""),
                ({"candidates": {}}, "list"), ({"candidates": [3]}, "candidate 0"),
                (b'{"candidates": [{"a": [tru]}]}', "byte"),
                ({"candidates": [], "context": 3}, "context"),
                ({"candidates": [], "context": {"a": {"b": True}}}, "context"),
                ({"candidates": [], "more": 3}, "more"),
                (b'{"candidates":[],"candidates":[]}', "twice"),
                (b'{"candidates":[]} {}', "object"),
                (b'{"candidates":[{"\xff":[]}]}', "byte"),
                (b"[" * 200000, "object")]:
            status, answer = ask(request)
            assert status == 400 and word in answer["error"], (request[:60], status, answer)

        # What is wrong in a candidate is that one's alone.
        for candidate, word in [
                ({"a": 3}, "list of features"), ({"a": [3]}, "feature"), ({"a": [["b"]]}, "feature"),
                ({"a": [None]}, "null"), ({"a": ["b c"]}, "white space"), ({"a": ["b\nc"]}, "white space"),
                ({"a|b": ["c"]}, "|"), ({"a": ["b:2"]}, "colon"), ({"a": [""]}, "empty"),
                ({"a": {"": 2}}, "empty"), ({"a": ["b" * (1 << 20)]}, "--max_line")]:
            status, answer = ask({"candidates": [{"A": "b0"}, candidate, {"namespaces": {"A": "b0"}}]})
            assert status == 200 and answer["predictions"][1] is None, (candidate, answer)
            assert answer["predictions"][0] == answer["predictions"][2] is not None, (candidate, answer)
            assert answer["errors"][0]["candidate"] == 1 and len(answer["errors"]) == 1, answer
            assert word in answer["errors"][0]["error"], (candidate, answer)


def test_raw_rows():
    """A model that has learned raw rows answers them, as predict does to the same rows of JSON lines."""
    rows = [{"age": i % 60 + 18, "city": "c %d" % (i % 7), "tags": ["t%d" % (i % 3), "u"],
             "price": None if i % 9 == 0 else i % 40 / 4, "clicked": i % 5 % 2} for i in range(600)]
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    leveret("train", "--quiet", "--format", "json", "-f", "rows.lvt", text=text)
    leveret("train", "--quiet", "--format", "json", "-i", "rows.lvt", "-f", "rows2.lvt", text=text)
    unlabelled = [{name: value for name, value in row.items() if name != "clicked"} for row in rows[:100]]
    unlabelled[3].pop("city")
    unlabelled[4].pop("age")

    def expected(model, of, *options):
        body = "".join(json.dumps(row) + "\n" for row in of).encode()
        return [float(p) for p in leveret("predict", "--quiet", "--format", "json", "-i", model, text=body).split()]

    with Server(PROGRAM, "-i", "rows.lvt", "--watch", "rows.lvt") as server:
        def ask(request):
            status, _, answer = server.ask("POST", "/predict", json.dumps(request).encode())
            return status, json.loads(answer)

        whole = expected("rows.lvt", unlabelled)
        assert len(set(whole)) > 50
        assert ask({"candidates": unlabelled}) == (200, ask({"candidates": unlabelled})[1])
        assert ask({"candidates": unlabelled})[1]["predictions"] == whole
        # A context has some of the columns, and those that nobody has are missing.
        context = {"age": 42, "city": "c 3"}
        candidates = [{"price": p, "tags": "t1|u"} for p in (1, None, 7.25)] + [{}]
        parts = ask({"context": context, "candidates": candidates})[1]
        wholes = expected("rows.lvt", [{**context, **candidate} for candidate in candidates])
        assert all(abs(a - b) < 3e-6 for a, b in zip(parts["predictions"], wholes)), (parts, wholes)
        # The line that the rows are, and the other form.
        lines = [float(p) for p in predict("rows.lvt", b"|city c%203 |tags t1\n").split()]
        assert ask({"candidates": [{"namespaces": {"city": "c%203", "tags": ["t1"]}}]})[1]["predictions"] == lines
        status, answer = ask({"candidates": [{"age": "old"}, {"age": 3}, {"age": [1]}, {"price": "$3"},
                                             {"city": {"a": 1}}]})
        assert status == 200 and [p is None for p in answer["predictions"]] == [True, False, True, True, False]
        assert 'column "age": not a number' in answer["errors"][0]["error"], answer
        status, answer = ask({"context": {"age": 3}, "candidates": [{"age": 3}, {}]})
        assert answer["predictions"][0] is None and "in the context, too" in answer["errors"][0]["error"]
        status, answer = ask({"context": {"age": "x"}, "candidates": [{}]})
        assert status == 400 and "context" in answer["error"]
        # Another version's schema, and rows of a model that knows none.
        replace("rows.lvt", "rows2.lvt")
        while ask({"candidates": unlabelled})[1]["model"]["sequence"] != 1200:
            time.sleep(0.05)
        assert ask({"candidates": unlabelled})[1]["predictions"] == expected("rows.lvt", unlabelled)
    with Server(PROGRAM, "-i", "a.lvt") as server:
        status, _, answer = server.ask("POST", "/predict", b'{"candidates": [{"age": 42}]}')
        assert status == 200 and "must be a list of features" in json.loads(answer)["errors"][0]["error"]


def test_a_long_request_in_json_lets_others_pass():
    """Candidates are read and answered in pieces, however many there are."""
    body = json.dumps({"candidates": [{"A": ["bucket%d" % (i % 50)]} for i in range(200000)]}).encode()
    assert len(body) > 3 << 20
    with Server(PROGRAM, "-i", "a.lvt", "--threads", 1, "--max_request", "32M") as server:
        done, waits = [], []

        def ask_long():
            done.append(server.ask("POST", "/predict", body))

        asking = threading.Thread(target=ask_long)
        asking.start()
        while server.metrics()['leveret_requests_total{model="a"}'] < 1:
            pass  # until it is worked on
        while not done and len(waits) < 1000:
            start = time.monotonic()
            assert server.ask("POST", "/predict", b"|A b0\n")[0] == 200
            waits.append(time.monotonic() - start)
        asking.join()
        status, _, answer = done[0]
        assert status == 200 and len(json.loads(answer)["predictions"]) == 200000
        assert len(waits) > 5, waits  # they were answered meanwhile
        print("  waits: median %.1f ms, longest %.1f ms" % (1e3 * sorted(waits)[len(waits) // 2], 1e3 * max(waits)))


def test_pages():
    with Server(PROGRAM, "-i", "a.lvt") as server:
        assert server.ask("GET", "/healthz")[::2] == (200, b"ok\n")
        status, headers, page = server.ask("GET", "/")
        assert status == 200 and headers["Content-Type"].startswith("text/html")
        assert b"http://" not in page.replace(b"http://www.w3.org/2000/svg", b"") and b"https://" not in page
        status, headers, body = server.ask("HEAD", "/metrics")
        assert status == 200 and body == b"" and int(headers["Content-Length"]) > 1000
        model = json.loads(server.ask("GET", "/model")[2])
        assert model["fingerprint"] == fingerprint("a.lvt") and model["sequence"] == 2000
        status = json.loads(server.ask("GET", "/status.json")[2])
        assert status["models"][0] == {**model, "requests": model["requests"]}
        assert server.ask("GET", "/nosuch")[0] == 404
        assert server.ask("GET", "/model?model=b")[0] == 404
        assert server.ask("POST", "/predict?model=b", b"|")[0] == 404
        assert server.ask("POST", "/predict?speed=9", b"|")[0] == 400
        status, headers, _ = server.ask("GET", "/predict")
        assert status == 405 and headers["Allow"] == "POST"
        assert server.ask("POST", "/metrics", b"")[0] == 405
        assert server.ask("POST", "/predict", b"|", {"Content-Encoding": "gzip"})[0] == 415
        metrics = server.metrics()
        assert metrics['leveret_http_answers_total{code="4xx"}'] == 7, metrics


def test_many_models():
    os.makedirs("many", exist_ok=True)
    for name in ["a", "b"]:
        shutil.copy(name + ".lvt", "many/" + name + "-copy.lvt")
    with Server(PROGRAM, "-i", "a.lvt", "-i", "ads=b.lvt", "-i", "many") as server:
        lines = TAGGED.splitlines(keepends=True)
        by_a = predict("a.lvt", TAGGED).splitlines(keepends=True)
        by_b = predict("b.lvt", TAGGED).splitlines(keepends=True)
        text, expected = b"", b""
        for i, line in enumerate(lines):
            which = random.choice([b"", b"@a ", b"@ads ", b"@b-copy "])
            text += which + line
            expected += by_a[i] if which in (b"", b"@a ") else by_b[i]
        assert server.lines(text) == expected
        assert server.lines(b"@nosuch|A b0\n@nosuch 1 |A b0\n") == b"nan\nnan\n"
        assert server.lines(b"@nosuch |A b0\n@ |A b0\n@ads\n@ads|A b0") == (
            b"nan\nnan\n\n" + predict("b.lvt", b"|A b0\n"))
        assert server.ask("POST", "/predict?model=ads", TAGGED)[2] == b"".join(by_b)
        metrics = server.metrics()
        assert metrics['leveret_predictions_total{model="ads"}'] > 1000
    for wrong, word in [(["-i", "a.lvt", "-i", "a=b.lvt"], "another model is named a"),
                        (["-i", "many/.."], "ends"), (["-i", "nosuch.lvt"], "nosuch.lvt"),
                        (["-i", "a.lvt", "-i", "b.lvt", "--watch", "b.lvt"], "say which")]:
        if wrong[1] == "many/..":
            continue
        run = subprocess.run([PROGRAM, "serve", *wrong, "--port", "0"], capture_output=True, text=True)
        assert run.returncode == 1 and word in run.stderr, (wrong, run.stderr)
    options = ["--context_lines", *CONTEXT]
    with Server(PROGRAM, "-i", "a.lvt", "-i", "b.lvt", *options) as server:
        text, expected = b"", b""
        for block in BLOCKS:
            which = random.choice(["a", "b"])
            text += (b"@b " if which == "b" else b"") + block
            expected += predict_block(which + ".lvt", block, options)
        assert server.lines(text) == expected


def predict_block(model, block, options, known={}):
    if model not in known:
        answers = predict(model, b"".join(BLOCKS), *options).split(b"\n\n")
        known[model] = dict(zip(BLOCKS, answers))
    return known[model][block] + b"\n\n"


# ---- new versions ----

def replace(name, model):
    shutil.copy(model, name + ".new")
    os.rename(name + ".new", name)


def test_a_new_version_of_the_file():
    shutil.copy("a.lvt", "live.lvt")
    with Server(PROGRAM, "-i", "live.lvt", "--watch", "live.lvt", "--threads", 2) as server:
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)
        replace("live.lvt", "b.lvt")
        server.wait_for("serves %s now" % fingerprint("b.lvt"))
        assert server.lines(TAGGED) == predict("b.lvt", TAGGED)
        with open("broken", "wb") as broken:
            broken.write(open("a.lvt", "rb").read()[:-100])
        replace("live.lvt", "broken")
        server.wait_for("still serves the model before")
        status, headers, body = server.ask("POST", "/predict", TAGGED)
        assert body == predict("b.lvt", TAGGED)
        assert headers["Leveret-Fingerprint"] == fingerprint("b.lvt")
        replace("live.lvt", "a.lvt")
        server.wait_for("serves %s now" % fingerprint("a.lvt"))
        assert server.ask("POST", "/predict", TAGGED)[2] == predict("a.lvt", TAGGED)
        metrics = server.metrics()
        assert metrics['leveret_swaps_total{model="live",done="yes"}'] == 2
        assert metrics['leveret_swaps_total{model="live",done="no"}'] == 1
        swaps = json.loads(server.ask("GET", "/status.json")[2])["swaps"]
        assert [swap["done"] for swap in swaps] == [True, False, True]


def test_each_file_of_a_folder_is_watched():
    os.makedirs("each", exist_ok=True)
    for name in ["one", "two"]:
        shutil.copy("a.lvt", "each/%s.lvt" % name)
    with Server(PROGRAM, "-i", "each", "--watch", "each/") as server:
        replace("each/two.lvt", "b.lvt")
        server.wait_for("two: serves %s now" % fingerprint("b.lvt"))
        assert server.ask("POST", "/predict?model=two", TAGGED)[2] == predict("b.lvt", TAGGED)
        assert server.ask("POST", "/predict?model=one", TAGGED)[2] == predict("a.lvt", TAGGED)
        status, headers, _ = server.ask("GET", "/model?model=two")
        assert (status, headers["Leveret-Fingerprint"]) == (200, fingerprint("b.lvt"))


def test_a_hangup_asks_for_a_look():
    shutil.copy("a.lvt", "live.lvt")
    with Server(PROGRAM, "-i", "live.lvt") as server:
        replace("live.lvt", "b.lvt")
        time.sleep(0.7)
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)
        server.signal(signal.SIGHUP)
        server.wait_for("serves %s now" % fingerprint("b.lvt"))
        assert server.lines(TAGGED) == predict("b.lvt", TAGGED)


def test_memory_has_one_limit():
    need = {}
    with Server(PROGRAM, "-i", "a.lvt", "-i", "b.lvt") as server:
        for name in ["a", "b"]:
            need[name] = int(server.metrics()['leveret_model_memory_bytes{model="%s"}' % name])
    assert need["a"] > need["b"] > 1000, need  # or what follows tells nothing
    run = subprocess.run([PROGRAM, "serve", "-i", "a.lvt", "-i", "b.lvt", "--port", "0", "--max_memory",
                          str(need["a"] + need["b"] - 1)], capture_output=True, text=True)
    assert run.returncode == 1 and "--max_memory" in run.stderr, run.stderr
    shutil.copy("b.lvt", "live.lvt")
    with Server(PROGRAM, "-i", "b.lvt", "-i", "live.lvt", "--watch", "live=live.lvt", "--max_memory",
                need["a"] + need["b"] - 1) as server:
        replace("live.lvt", "a.lvt")
        server.wait_for("--max_memory")
        assert server.ask("POST", "/predict?model=live", TAGGED)[2] == predict("b.lvt", TAGGED)


def test_a_followed_folder():
    shutil.rmtree("folder", ignore_errors=True)
    leveret("export", "-i", "old.lvt", "-o", "old.exported")
    leveret("publish", "folder", "-i", "old.lvt")
    with Server(PROGRAM, "--follow", "ads=folder", "-i", "a.lvt") as server:
        def answers():
            return server.ask("POST", "/predict?model=ads", TAGGED)[2]

        assert answers() == predict("old.exported", TAGGED)
        leveret("publish", "folder", "-i", "new.lvt")
        step = json.load(open("folder/manifest.json"))["steps"][-1]
        leveret("patch", "old.exported", "folder/" + step["file"], "-o", "new.exported")
        server.wait_for("serves %s now" % fingerprint("new.exported"))
        assert answers() == predict("new.exported", TAGGED)
        leveret("publish", "folder", "--rollback", "1")
        server.wait_for("serves %s now" % fingerprint("old.exported"))
        assert answers() == predict("old.exported", TAGGED)
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)
    run = subprocess.run([PROGRAM, "serve", "--follow", "no_folder"], capture_output=True, text=True)
    assert run.returncode == 1 and "no_folder" in run.stderr, run.stderr


def test_a_folder_without_a_step_is_waited_for():
    shutil.rmtree("empty", ignore_errors=True)
    os.mkdir("empty")
    leveret("export", "-i", "old.lvt", "-o", "old.exported")
    of_ads = b"".join(b"@ads " + line for line in TAGGED.splitlines(keepends=True))
    with Server(PROGRAM, "-i", "a.lvt", "--follow", "ads=empty") as server:
        assert "ads: waits for the first step of empty" in server.read_said()
        assert server.ask("GET", "/healthz")[::2] == (503, b"waiting for ads\n")
        for method, target in ("POST", "/predict?model=ads"), ("GET", "/model?model=ads"):
            status, headers, body = server.ask(method, target, TAGGED if method == "POST" else None)
            assert status == 503 and b"ads has not come yet" in body, body
            assert headers["Retry-After"] == "1"
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)  # the other one answers
        told = server.lines(of_ads).splitlines()
        assert len(told) == TAGGED.count(b"\n") and all(line.startswith(b"nan") for line in told), told
        assert not any("info" in name and "ads" in name for name in server.metrics())
        assert json.loads(server.ask("GET", "/status.json")[2])["models"][1]["fingerprint"] == ""
        assert json.loads(server.ask("GET", "/status.json")[2])["models"][1]["loaded"] is None
        leveret("publish", "empty", "-i", "old.lvt")
        server.wait_for("ads: serves %s now" % fingerprint("old.exported"))
        assert server.ask("GET", "/healthz")[::2] == (200, b"ok\n")
        assert server.ask("POST", "/predict?model=ads", TAGGED)[2] == predict("old.exported", TAGGED)
        assert server.lines(of_ads) == predict("old.exported", TAGGED)
        assert "still serves" not in server.read_said()


def test_a_block_that_began_before_the_first_model():
    shutil.rmtree("empty", ignore_errors=True)
    os.mkdir("empty")
    leveret("export", "-i", "old.lvt", "-o", "old.exported")
    with Server(PROGRAM, "--follow", "empty", "--context_lines", *CONTEXT) as server:
        lines = BLOCKS[0].splitlines(keepends=True)
        with server.connect() as connection:
            stream = connection.makefile("rwb", buffering=0)
            stream.write(b"".join(lines[:2]))
            assert stream.readline().startswith(b"nan")
            leveret("publish", "empty", "-i", "old.lvt")
            server.wait_for("serves %s now" % fingerprint("old.exported"))
            stream.write(lines[2])
            assert stream.readline().startswith(b"nan")
        assert b"nan" not in server.lines(BLOCKS[0])


def test_a_block_is_answered_by_one_version():
    shutil.copy("a.lvt", "live.lvt")
    options = ["--context_lines", *CONTEXT]
    with Server(PROGRAM, "-i", "live.lvt", "--watch", "live.lvt", *options) as server:
        first, second = BLOCKS[0].splitlines(keepends=True), BLOCKS[1]
        with server.connect() as connection:
            stream = connection.makefile("rwb", buffering=0)
            stream.write(b"".join(first[:3]))
            got = stream.readline() + stream.readline()
            replace("live.lvt", "b.lvt")
            server.wait_for("serves %s now" % fingerprint("b.lvt"))
            stream.write(b"".join(first[3:]) + second)
            connection.shutdown(socket.SHUT_WR)
            got += read_all(connection)
        assert got == (predict_block("a.lvt", BLOCKS[0], options) +
                       predict_block("b.lvt", BLOCKS[1], options))


def test_a_block_without_an_end_keeps_no_version_for_the_next():
    shutil.copy("a.lvt", "live.lvt")
    options = ["--context_lines", *CONTEXT]
    shared = [b"shared " + b.removeprefix(b"shared ").removesuffix(b"\n") for b in BLOCKS[:2]]
    with Server(PROGRAM, "-i", "live.lvt", "--watch", "live.lvt", *options) as server:
        with server.connect() as connection:
            stream = connection.makefile("rwb", buffering=0)
            stream.write(shared[0])
            got = b"".join(stream.readline() for _ in range(5))
            replace("live.lvt", "b.lvt")
            server.wait_for("serves %s now" % fingerprint("b.lvt"))
            stream.write(shared[1])
            connection.shutdown(socket.SHUT_WR)
            got += read_all(connection)
        assert got == (predict_block("a.lvt", BLOCKS[0], options) + predict_block("b.lvt", BLOCKS[1], options))


def test_what_failed_is_tried_again():
    shutil.copy("a.lvt", "live.lvt")
    with Server(PROGRAM, "-i", "live.lvt", "--watch", "live.lvt") as server:
        os.mkdir("elsewhere")
        shutil.copy("b.lvt", "b.new")
        os.chmod("b.new", 0)
        os.rename("b.new", "live.lvt")
        if os.geteuid() != 0:  # whom nothing is forbidden
            server.wait_for("still serves the model before")
            os.chmod("live.lvt", 0o644)
            server.signal(signal.SIGHUP)
        server.wait_for("serves %s now" % fingerprint("b.lvt"))
        os.rmdir("elsewhere")


def test_swaps_while_clients_ask():
    shutil.copy("a.lvt", "live.lvt")
    text = b"".join(LINES[3000:3040])
    expected = {fingerprint(m): predict(m, text) for m in ["a.lvt", "b.lvt"]}
    every = set(expected.values())
    with Server(PROGRAM, "-i", "live.lvt", "--watch", "live.lvt", "--threads", 2) as server:
        wrong, asked, over = [], [0], threading.Event()

        def ask():
            while not over.is_set():
                _, headers, body = server.ask("POST", "/predict", text)
                if body != expected[headers["Leveret-Fingerprint"]]:
                    wrong.append(body)
                if server.lines(text) not in every:
                    wrong.append(b"lines")
                asked[0] += 1

        clients = [threading.Thread(target=ask) for _ in range(3)]
        for client in clients:
            client.start()
        for i in range(8):
            replace("live.lvt", "b.lvt" if i % 2 == 0 else "a.lvt")
            server.signal(signal.SIGHUP)
            time.sleep(0.25)
        over.set()
        for client in clients:
            client.join()
        assert not wrong and asked[0] > 20, (len(wrong), asked)
        assert server.metrics()['leveret_swaps_total{model="live",done="yes"}'] >= 4


# ---- clients of every kind ----

def test_lines_that_are_too_long():
    with Server(PROGRAM, "-i", "a.lvt", "--max_line", "4K") as server:
        long = b"|A " + b"b0 " * 200000 + b"\n"
        good = LINES[3000]
        expected = predict("a.lvt", good)
        assert server.lines(good + long + good + long[:5000] + b"\n" + good + long[:-1]) == (
            expected + b"nan\n" + expected + b"nan\n" + expected + b"nan\n")
        assert server.ask("POST", "/predict", long + good)[2] == b"nan\n" + expected


def test_bodies_that_are_too_large():
    with Server(PROGRAM, "-i", "a.lvt", "--max_request", "8K") as server:
        status, _, body = server.ask("POST", "/predict", b"|A b0\n" * 3000)
        assert status == 413 and b"--max_request" in body
        assert server.ask("POST", "/predict", b"|A b0\n" * 1000)[0] == 200
        assert server.ask("GET", "/" + "x" * 20000)[0] in (414, 431, 400)


def long_request(candidates, features=20000):
    """A block whose candidates are scored with all of a large context: each has a feature of a
    namespace that the context has, too."""
    context = b"|A " + b" ".join(b"b%d" % i for i in range(features)) + b" |B c0\n"
    return context + b"|A b1\n" * candidates


def test_a_long_request_lets_others_pass():
    expected = predict("a.lvt", LINES[3000])
    with Server(PROGRAM, "-i", "a.lvt", "--threads", 1) as server:
        order = []

        def ask_long():
            status, _, body = server.ask("POST", "/predict?context_lines=1", long_request(300))
            assert (status, body.count(b"\n")) == (200, 301), (status, body[:200])
            order.append("long")

        asking = threading.Thread(target=ask_long)
        asking.start()
        while server.metrics().get('leveret_contexts_made_total{model="a"}', 0) < 1:
            pass  # until it is worked on
        answer = server.ask("POST", "/predict", LINES[3000])[2]
        order.append("short")
        asking.join()
        assert answer == expected
        assert order == ["short", "long"], order


def test_a_request_has_its_time():
    with Server(PROGRAM, "-i", "a.lvt", "--request_time", 1, "--context_lines") as server:
        status, _, body = server.ask("POST", "/predict?context_lines=1", long_request(30000, 140000))
        assert status == 503 and b"--request_time" in body, (status, body[:200])
        with server.connect() as lines:
            lines.sendall(long_request(9000, 140000))
            try:
                assert read_all(lines).count(b"\n") < 9001
            except ConnectionResetError:
                pass  # the rest of what was sent is not read
        assert server.metrics()['leveret_connections_timed_out_total{while="in_request"}'] >= 1


def test_room_is_given_back_when_a_line_is_answered():
    line = b"|A " + b"b " * 150000 + b"\n"
    with Server(PROGRAM, "-i", "a.lvt", "--max_buffered", "1K", "--max_request", "1K") as server:
        with server.connect() as first, server.connect() as second:
            for connection in (first, second, first):  # each has all of the room for a while
                connection.sendall(line)
                assert connection.recv(100).endswith(b"\n")


LARGE = LINES[3000] * (900000 // len(LINES[3000]))


def small_room(*options):
    """A server with room for one body such as LARGE at a time."""
    return Server(PROGRAM, "-i", "a.lvt", "--max_buffered", "1K", "--max_request", "1M",
                  "--max_line", "1K", *options)


def test_large_requests_have_room_one_after_the_other():
    expected = predict("a.lvt", LARGE)
    with small_room() as server:
        answers = []
        asking = [threading.Thread(target=lambda: answers.append(
            server.ask("POST", "/predict", LARGE))) for _ in range(6)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert [(status, text) for status, _, text in answers] == [(200, expected)] * 6


def test_one_without_room_is_told():
    small = LINES[3000]  # needs no room
    expected = predict("a.lvt", small)
    with small_room("--request_time", 10) as server:  # a sanitizer takes some seconds for LARGE
        head = b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
        with server.connect_http() as holds, server.connect_http() as waits:
            waits.sendall(head % len(LARGE))  # its time begins first, and ends first
            time.sleep(0.5)
            holds.sendall(head % (len(LARGE) + 1) + LARGE)
            time.sleep(0.5)
            assert server.ask("POST", "/predict", small)[2] == expected
            waits.sendall(LARGE)
            answer = read_all(waits)
            assert answer.startswith(b"HTTP/1.1 503") and b"--max_buffered" in answer, answer
            assert slow_end(holds)
        assert server.ask("POST", "/predict", LARGE)[0] == 200


def test_time_runs_out():
    with Server(PROGRAM, "-i", "a.lvt", "--idle", 1, "--request_time", 1) as server:
        started = time.monotonic()
        with server.connect() as idle, server.connect() as slow:
            slow.sendall(b"|A ")
            for _ in range(6):  # one byte after the other is no progress
                time.sleep(0.3)
                try:
                    slow.sendall(b"b")
                except OSError:
                    break
            assert slow_end(slow) and slow_end(idle)
        with server.connect_http() as slow:
            begun = time.monotonic()
            for byte in b"GET /healthz HTTP/1.1\r\nHost: somebody\r\n\r\n":
                time.sleep(0.1)
                try:
                    slow.sendall(bytes([byte]))
                except OSError:
                    break
            assert slow_end(slow) and time.monotonic() - begun < 15
        with server.connect_http() as slow:
            slow.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n|A")
            assert slow_end(slow)
        assert time.monotonic() - started < 20
        metrics = server.metrics()
        assert metrics['leveret_connections_timed_out_total{while="idle"}'] >= 1, metrics
        assert metrics['leveret_connections_timed_out_total{while="in_request"}'] >= 2, metrics


def slow_end(connection):
    connection.settimeout(60)
    try:
        return connection.recv(100) == b""
    except ConnectionResetError:
        return True


def test_others_wait_for_a_connection():
    with Server(PROGRAM, "-i", "a.lvt", "--max_connections", 2, http=False) as server:
        first, second, third = server.connect(), server.connect(), server.connect()
        line = TAGGED.splitlines(keepends=True)[0]
        for connection in (first, second):
            connection.sendall(line)
            assert connection.recv(100) == predict_one(line)
        third.sendall(line)
        third.settimeout(0.5)
        try:
            assert not third.recv(100), "answered"
        except socket.timeout:
            pass
        first.close()
        third.settimeout(20)
        assert third.recv(100) == predict_one(line)
        second.close(), third.close()


def test_who_does_not_read_is_not_read_from():
    with Server(PROGRAM, "-i", "a.lvt", "--request_time", 60) as server:
        before = server.metrics()["process_resident_memory_bytes"]
        with server.connect() as connection:
            connection.setblocking(False)
            text, sent = TAGGED * 20, 0
            end = time.monotonic() + 3
            while time.monotonic() < end:
                try:
                    sent += connection.send(text[sent % len(TAGGED):])
                except BlockingIOError:
                    time.sleep(0.01)
            after = server.metrics()["process_resident_memory_bytes"]
            assert after - before < 30 << 20, (before, after, sent)
            connection.setblocking(True)
            connection.settimeout(30)
            rest = len(TAGGED) - sent % len(TAGGED)
            done = []
            reader = threading.Thread(target=lambda: done.append(read_all(connection)))
            reader.start()
            connection.sendall(TAGGED[len(TAGGED) - rest:])
            connection.shutdown(socket.SHUT_WR)
            reader.join()
            times = (sent + rest) // len(TAGGED)
            assert done[0] == predict("a.lvt", TAGGED) * times


def test_garbage():
    random.seed(7)
    with Server(PROGRAM, "-i", "a.lvt", "--request_time", 20) as server:
        for size in [1, 10, 1000, 100000]:
            garbage = random.randbytes(size) + b"\n|A b0"  # predict fails where no line is good
            got = server.lines(garbage)
            assert got == predict("a.lvt", garbage), size
            with server.connect_http() as connection:
                try:
                    exchange(connection, garbage)
                except OSError:
                    pass
        for text in [b"GET / HTTP/9.9\r\n\r\n", b"\0\0\r\n\r\n", b"GET\r\n\r\n",
                     b"POST /predict HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                     b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
                     b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 10000 + b"\r\n"]:
            with server.connect_http() as connection:
                try:
                    answer = exchange(connection, text)
                    assert answer.startswith(b"HTTP/1.1 4") or answer == b"", (text[:40], answer)
                except OSError:
                    pass
        # What stands behind a chunk's size has no end, and no room.
        before = server.metrics()["process_resident_memory_bytes"]
        with server.connect_http() as connection:
            try:
                connection.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\n"
                                   b"Transfer-Encoding: chunked\r\n\r\n1;a=")
                for _ in range(300):
                    connection.sendall(b"x" * 100000)
            except OSError:
                pass
            assert server.metrics()["process_resident_memory_bytes"] - before < 10 << 20
        # Chunks, and requests that are sent before the answer to the one before.
        with server.connect_http() as connection:
            one = b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n|A b0\n\r\n0\r\n\r\n"
            answers = exchange(connection, one * 3)
            assert answers.count(b"HTTP/1.1 200 OK") == 3, answers
        with server.connect_http() as connection:
            connection.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                               b"Content-Length: 6\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"|A b0\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)


def test_heads_that_are_not_clear():
    """One answer and the end of the connection: what follows is taken for no request."""
    post, host = b"POST /predict HTTP/1.1\r\n", b"Host: x\r\n"
    chunked = b"6\r\n|A b0\n\r\n0\r\n\r\n"
    inner = post + host + b"Content-Length: 6\r\n\r\n|A b0\n"
    codings = [b"gzip", b"identity", b"chunked, gzip", b"chunked, identity", b"gzip, chunked", b"xchunked", b"x", b"",
               b"chunked, chunked", b"chunked,", b"chunked;q=1", b'"chunked"', b"chunked\r\nTransfer-Encoding: chunked",
               b"chunked\r\nTransfer-Encoding: identity", b"identity\r\nTransfer-Encoding: chunked",
               b"chunked\r\nContent-Length: 6"]
    heads = [post + host + name + coding + b"\r\n"
             for coding in codings for name in (b"Transfer-Encoding: ", b"TRANSFER-encoding:\t")]
    length = b"Content-Length: 6\r\n"
    heads += [post.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n",
              post + length, post + host + host + length, post + b"Host: a b\r\n" + length,
              post + b"Host: x, y\r\n" + length, post + b"Host: x\r\nHost: y\r\n" + length,
              post + host + b"Expect: something\r\n" + length,
              post + host + b"Expect: 100-continue\r\nExpect: x\r\n" + length]
    with Server(PROGRAM, "-i", "a.lvt") as server:
        for head in heads:
            for body in (inner, chunked + inner):
                with server.connect_http() as connection:
                    answer = exchange(connection, head + b"\r\n" + body)
                assert answer.count(b"HTTP/1.1 ") == 1, (head, answer)
                assert re.match(b"HTTP/1.1 4(00|17) ", answer), (head, answer)
                assert b"\r\nConnection: close\r\n" in answer, (head, answer)
        # And those that are, though few send them.
        expected = predict("a.lvt", b"|A b0\n")
        old = inner.replace(b"HTTP/1.1\r\nHost: x", b"HTTP/1.0\r\nConnection: keep-alive")
        for head, kept in [(b"\r\n" + inner + b"\r\n\r\n" + inner, 0), (old + old, 2),
                           (2 * inner.replace(b"/predict", b"http://else.where:80/predict"), 0),
                           (2 * (post + host + b"transfer-encoding: CHUNKED\r\n\r\n" + chunked), 0)]:
            with server.connect_http() as connection:
                answer = exchange(connection, head)
            assert answer.count(b"HTTP/1.1 200 OK") == 2 and answer.count(expected) == 2, (head, answer)
            assert answer.count(b"Connection: keep-alive\r\n") == kept, answer
        with server.connect_http() as connection:
            answer = exchange(connection, inner.replace(b"1.1", b"1.0") + inner)
        assert answer.count(b"HTTP/1.1 ") == 1 and b"Connection: close\r\n" in answer, answer
        # A type that curl, or nobody, has thought of: JSON is JSON.
        body = b' {"candidates": [{"A": ["b0"]}]}'
        for kind in (None, "application/x-www-form-urlencoded", "text/plain", "application/json"):
            headers = {"Content-Type": kind} if kind else {}
            status, _, answer = server.ask("POST", "/predict", body, headers)
            assert status == 200 and len(json.loads(answer)["predictions"]) == 1, (kind, answer)
        status, _, answer = server.ask("POST", "/predict", b'{"candidates": ')
        assert status == 400, answer
        status, _, answer = server.ask("GET", "/" + 5000 * "x")
        assert status == 404 and len(answer) < 300, answer


def test_names_that_lead_here():
    """DNS rebinding: a page elsewhere whose name has been made to lead to this machine."""
    def status(server, host):
        head = b"GET /healthz HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n"
        with server.connect_http() as connection:
            return int(exchange(connection, head).split()[1])

    own = [b"127.0.0.1", b"127.0.0.1:80", b"[::1]:8080", b"localhost", b"LOCALHOST:1", b"a.localhost:80", b"ranker:8080",
           b"10.1.2.3", b"localhost."]
    other = [b"evil.example", b"evil.example:8080", b"localhost.evil.example", b"127.0.0.1.evil.example", b"evil.localhost.com",
             b"evil.example.", b"xlocalhost.a"]
    with Server(PROGRAM, "-i", "a.lvt") as server:
        assert [status(server, host) for host in own] == len(own) * [200]
        assert [status(server, host) for host in other] == len(other) * [421]
    with Server(PROGRAM, "-i", "a.lvt", "--allow_host", "ads.example", "--allow_host", "b.example") as server:
        assert [status(server, host) for host in (b"ADS.example:80", b"b.example.", b"c.example")] == [200, 200, 421]
    with Server(PROGRAM, "-i", "a.lvt", "--allow_host", "*") as server:
        assert status(server, b"evil.example") == 200
    if socket.has_dualstack_ipv6():
        with Server(PROGRAM, "-i", "a.lvt", "--address", "::") as server:  # 127.0.0.1 comes as ::ffff:127.0.0.1
            assert [status(server, host) for host in (own[0], other[0])] == [200, 421]


# ---- the process ----

def test_the_end_loses_no_answer():
    expected = predict("a.lvt", TAGGED)
    for _ in range(3):
        with Server(PROGRAM, "-i", "a.lvt", "--threads", 2) as server:
            waiting = [server.connect() for _ in range(4)]
            idle = server.connect()
            for connection in waiting:
                connection.sendall(TAGGED)
            time.sleep(0.3)  # they are the system's now
            server.end()
            for connection in waiting:
                assert read_all(connection) == expected
            assert idle.recv(10) == b""
            assert "did not end in time" not in server.read_said()


def test_a_second_signal_ends_at_once():
    with Server(PROGRAM, "-i", "a.lvt", "--drain", 60, "--request_time", 60, "--socket", "e.sock",
                lines=False, http=False) as server:  # which has small buffers
        with server.connect() as connection:
            connection.setblocking(False)
            stands_since = time.monotonic()
            while time.monotonic() - stands_since < 1:  # until nobody reads what nobody reads
                try:
                    connection.send(TAGGED)
                    stands_since = time.monotonic()
                except BlockingIOError:
                    time.sleep(0.01)
            server.signal(signal.SIGTERM)
            time.sleep(0.5)
            assert server.process.poll() is None
            server.signal(signal.SIGINT)
            assert server.process.wait(20) == 0
            assert "ended at once" in server.read_said()


def test_a_unix_socket():
    with Server(PROGRAM, "-i", "a.lvt", "--socket", "s.sock", lines=False, http=False) as server:
        assert server.lines(MIXED) == predict("a.lvt", MIXED)
        again = subprocess.run([PROGRAM, "serve", "-i", "a.lvt", "--socket", "s.sock"],
                               capture_output=True, text=True)
        assert again.returncode == 1 and "another server uses it" in again.stderr, again.stderr
        server.process.kill()
        server.process.wait()
    assert os.path.exists("s.sock")  # and is no obstacle
    with Server(PROGRAM, "-i", "a.lvt", "--socket", "s.sock", lines=False, http=False) as server:
        assert server.lines(MIXED) == predict("a.lvt", MIXED)
    assert not os.path.exists("s.sock")
    refused = subprocess.run([PROGRAM, "serve", "-i", "a.lvt", "--socket", "a.lvt"],
                             capture_output=True, text=True)
    assert refused.returncode == 1 and "it is no socket" in refused.stderr, refused.stderr


def test_a_socket_of_another_server():
    """The file that has the name by now stays, whoever took the first one's away."""
    def start():
        return Server(PROGRAM, "-i", "a.lvt", "--socket", "o.sock", lines=False, http=False)
    with start() as old:
        os.unlink("o.sock")
        with start() as new:
            old.end()
            assert new.lines(MIXED) == predict("a.lvt", MIXED)
    assert not os.path.exists("o.sock")
    with start() as old:
        os.unlink("o.sock")
        with open("o.sock", "w") as file:
            file.write("somebody's")
        old.end()
    assert open("o.sock").read() == "somebody's"


def test_systemd():
    """Sockets that are handed over, and what the service manager is told."""
    lines, web = socket.socket(), socket.socket()
    for listening in (lines, web):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind("notify.sock")
    told.settimeout(20)
    script = 'exec 3<&%d 4<&%d; LISTEN_PID=$$ exec "$0" "$@"' % (lines.fileno(), web.fileno())
    env = {"LISTEN_FDS": "2", "LISTEN_FDNAMES": "lines:http",
           "NOTIFY_SOCKET": os.path.abspath("notify.sock")}

    class HandedOver(Server):
        def __init__(self):
            super().__init__("/bin/bash", http=False, lines=False, env=env,
                             pass_fds=(lines.fileno(), web.fileno()))

    original = subprocess.Popen

    def start(command, **options):
        return original(["/bin/bash", "-c", script, PROGRAM, "serve", "-i", "a.lvt"], **options)

    subprocess.Popen = start
    try:
        server = HandedOver()
    finally:
        subprocess.Popen = original
    with server:
        server.port, server.http_port = lines.getsockname()[1], web.getsockname()[1]
        assert told.recv(100) == b"READY=1"
        assert server.lines(TAGGED) == predict("a.lvt", TAGGED)
        assert server.ask("GET", "/healthz")[0] == 200
        server.end()
        assert told.recv(100) == b"STOPPING=1"
    os.unlink("notify.sock")


def test_a_port_that_is_taken():
    with Server(PROGRAM, "-i", "a.lvt", http=False) as server:
        again = subprocess.run([PROGRAM, "serve", "-i", "a.lvt", "--port", str(server.port)],
                               capture_output=True, text=True)
        assert again.returncode == 1 and "Address already in use" in again.stderr, again.stderr
    for options, code in [(["--port", "70000"], 2), ([], 2), (["-i", "a.lvt", "--address", "x"], 1),
                          (["-i", "a.lvt", "--context", ","], 2)]:
        run = subprocess.run([PROGRAM, "serve", *options], capture_output=True, text=True, timeout=20)
        assert run.returncode == code, (options, run)


def main():
    chosen = sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        train("a.lvt", 0, 2000)
        train("b.lvt", 500, 3000, "--ffm_k", "2", "--hidden", "4")
        train("old.lvt", 0, 1000)
        leveret("train", "--quiet", "-i", "old.lvt", "-f", "new.lvt", text=b"".join(LINES[1000:2000]))
        for name, test in list(globals().items()):
            if not name.startswith("test_") or (chosen and name not in chosen):
                continue
            start = time.monotonic()
            test()
            print("%-50s %5.1f s" % (name, time.monotonic() - start), flush=True)


main()
