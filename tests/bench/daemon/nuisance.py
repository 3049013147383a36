#!/usr/bin/env python3
"""Clients that nobody wants: a server is to serve the others, and to live.

    nuisance.py --lines ADDRESS:PORT --http ADDRESS:PORT --rows FILE --seconds S [--strange N]

Garbage on both ports, lines that are too long, requests that trickle in, clients that never read,
that end in the middle (closed or reset), that close their half and read on, and N (a million) names
of namespaces that no model knows. FILE has some good lines. Lines are no blocks. Exit code 1
where a well-behaved client in between (half-closed, or of a page) has not got what it must.
"""
import argparse
import collections
import json
import random
import socket
import struct
import sys
import time


class Nuisance:
    def __init__(self, lines, http, rows, seed):
        self.lines, self.http, self.rows = lines, http, rows
        self.random = random.Random(seed)
        self.counts = collections.Counter()
        self.kept = collections.deque()  # sockets that are left open for a while
        self.strange = 0

    def connect(self, address, receive=None):
        client = socket.socket()
        if receive:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.settimeout(20)
        client.connect(address)
        return client

    def keep(self, client):
        self.kept.append(client)
        if len(self.kept) > 40:
            self.kept.popleft().close()

    def garbage(self):
        """Bytes of any kind; the answers are read for a moment, if at all."""
        size = self.random.choice([1, 10, 1000, 100_000])
        for address in (self.lines, self.http):
            with self.connect(address) as client:
                client.settimeout(0.05)
                try:
                    client.sendall(self.random.randbytes(size))
                    client.recv(1000)
                except OSError:
                    pass

    def bad_http(self):
        heads = [b"GET /predict HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /predict HTTP/9.9\r\n\r\n",
                 b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                 b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
                 b"POST /predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"y" * 50_000 + b"\r\n\r\n",
                 b"POST /predict?model=none HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
                 b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 b"Content-Length: 5000\r\n\r\n" + b"[" * 5000]
        with self.connect(self.http) as client:
            client.settimeout(0.5)
            try:
                client.sendall(self.random.choice(heads))
                client.recv(1000)
            except OSError:
                pass

    def long_line(self):
        with self.connect(self.lines) as client:
            client.sendall(b"|" + b"x" * 1_500_000 + b"\n" + self.rows[0])
            self.expect("long line", client, 2)

    def never_reads(self):
        """The server is to stop reading from it, and to close it when its time is over."""
        client = self.connect(self.lines, receive=4096)
        client.setblocking(False)
        try:
            for _ in range(200):
                client.send(b"".join(self.rows) * 4)
        except OSError:
            pass
        self.keep(client)

    def trickles(self):
        """A byte now and then."""
        client = self.connect(self.random.choice([self.lines, self.http]))
        client.sendall(b"POST /pre")
        self.keep(client)
        for client in self.kept:
            try:
                client.send(b"x")
            except OSError:
                pass

    def breaks_off(self):
        """In the middle of a line or a body, with or without a reset."""
        for address, text in ((self.lines, b"".join(self.rows) + b"|A x"),
                              (self.http, b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n|A")):
            with self.connect(address) as client:
                client.sendall(text)
                if self.random.random() < 0.5:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def half_closed(self):
        """All answers are to come, that of a last line without an end, too."""
        with self.connect(self.lines) as client:
            client.sendall(b"".join(self.rows)[:-1])
            client.shutdown(socket.SHUT_WR)
            self.expect("half-closed client", client, len(self.rows), to_end=True)

    def page(self):
        path = self.random.choice(["/metrics", "/healthz", "/status.json", "/model", "/"])
        with self.connect(self.http) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            answer = self.read(client)
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            sys.exit(f"nuisance.py: {path}: {head[:100]!r}")
        if path in ("/status.json", "/model"):
            json.loads(body)

    def strangers(self, count):
        """Lines of 50 namespaces each that nobody knows."""
        lines = [b" ".join(b"|strange%d x%d" % (self.strange + 50 * i + j, i) for j in range(50))
                 for i in range(count // 50)]
        self.strange += len(lines) * 50
        with self.connect(self.lines) as client:
            for begin in range(0, len(lines), 50):
                some = lines[begin:begin + 50]
                client.sendall(b"\n".join(some) + b"\n")
                self.expect("client of strange namespaces", client, len(some))
        body = json.dumps({"context": {f"strange{self.strange}": ["a"]},
                           "candidates": [{f"other{self.strange}": ["b"]}]}).encode()
        self.strange += 2
        with self.connect(self.http) as client:
            client.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                           b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            if not self.read(client).startswith(b"HTTP/1.1 200 "):
                sys.exit("nuisance.py: JSON with a strange namespace is not answered")

    @staticmethod
    def read(client):
        parts = []
        while part := client.recv(1 << 16):
            parts.append(part)
        return b"".join(parts)

    def expect(self, who, client, lines, to_end=False):
        """This many lines; and the end of the connection, if it is waited for."""
        seen = 0
        while seen < lines or to_end:
            part = client.recv(1 << 16)
            if not part:
                break
            seen += part.count(b"\n")
        if seen != lines:
            sys.exit(f"nuisance.py: a {who} has {seen} answers, not {lines}")

    def run(self, seconds, strange):
        start = time.monotonic()
        kinds = [self.garbage, self.bad_http, self.long_line, self.never_reads, self.trickles,
                 self.breaks_off, self.half_closed, self.page]
        while True:
            passed = time.monotonic() - start
            # Strange names come evenly; all of them, though time be short.
            wanted = strange if passed >= seconds else strange * passed / seconds
            if self.strange < wanted:
                self.strangers(min(10_000, strange - self.strange + 50))
            if passed >= seconds and self.strange >= strange:
                break
            kind = self.random.choice(kinds)
            kind()
            self.counts[kind.__name__] += 1
            time.sleep(0.005)
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        print(f"nuisances: {kinds}; strange namespaces {self.strange}")


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lines", type=address, required=True)
    options.add_argument("--http", type=address, required=True)
    options.add_argument("--rows", required=True, help="a file of lines that are good")
    options.add_argument("--seconds", type=float, required=True)
    options.add_argument("--strange", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    args = options.parse_args()
    with open(args.rows, "rb") as file:
        rows = [line for line in file if line.strip()][:50]
    Nuisance(args.lines, args.http, rows, args.seed).run(args.seconds, args.strange)


main()
