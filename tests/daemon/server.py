"""A `leveret serve` of a test: started on ports of the system's choice, asked, and ended."""

import http.client
import os
import re
import signal
import socket
import subprocess
import time

PATIENCE = 300  # seconds until a test takes a server for one that hangs


class Server:
    """In a `with`: ended at its end, when it is to have said nothing of sanitizers."""

    def __init__(self, program, *options, http=True, lines=True, env=None, **popen):
        command = [program, "serve", *map(str, options)]
        if "--request_time" not in options:  # a slow machine with a sanitizer has time
            command += ["--request_time", str(PATIENCE)]
        if lines:
            command += ["--port", "0"]
        if http:
            command += ["--http", "0"]
        self.said = []
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}, **popen)
        self.port = self.http_port = self.path = None
        wanted = (1 if lines else 0) + (1 if http else 0) or 1
        while wanted:
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError("ended with %s: %s" % (self.process.wait(), "".join(self.said)))
            self.said.append(line)
            found = re.search(r"listens on (\S*?)(?::(\d+))? \((lines|HTTP)\)", line)
            if not found:
                continue
            wanted -= 1
            if found[3] == "HTTP":
                self.http_port = int(found[2])
            elif found[2]:
                self.port = int(found[2])
            else:
                self.path = found[1]
        os.set_blocking(self.process.stderr.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.end()
        if kind is not None:
            print("".join(self.said))

    def read_said(self):
        while True:
            try:
                line = self.process.stderr.readline()
            except (BlockingIOError, TypeError):
                break
            if not line:
                break
            self.said.append(line)
        return "".join(self.said)

    def wait_for(self, text, seconds=60):
        """Until the server has said so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text in self.read_said():
                return
            assert self.process.poll() is None, self.read_said()
            time.sleep(0.02)
        raise AssertionError("has not said %r: %s" % (text, self.read_said()))

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, seconds=30):
        """By SIGTERM; it is to end well."""
        self.signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        said = self.read_said()
        assert code == 0, (code, said)
        return said

    # ---- asking ----

    def connect(self):
        if self.path:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(PATIENCE)
            connection.connect(self.path)
            return connection
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def connect_http(self):
        return socket.create_connection(("127.0.0.1", self.http_port), PATIENCE)

    def lines(self, text):
        """The answers to all of the text, of a connection of its own."""
        with self.connect() as connection:
            return exchange(connection, text)

    def ask(self, method, target, body=None, headers=None):
        """Status, headers and body of a request of HTTP."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=PATIENCE)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def metrics(self):
        """Names with labels to numbers."""
        status, _, body = self.ask("GET", "/metrics")
        assert status == 200
        values = {}
        for line in body.decode().splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values


def read_all(connection):
    parts = []
    while True:
        part = connection.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def exchange(connection, text):
    """Sends all, reads all; side by side, as the server does not read from who does not read."""
    import threading

    def send():
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    got = read_all(connection)
    sender.join()
    return got
