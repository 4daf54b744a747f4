"""Raw MCP clients that cost as little as Python can: ready-made bytes, one kept-open connection, no JSON in the timed part."""

import json
import os
import socket
import subprocess
import time

PROTOCOL = "2025-06-18"
INITIALIZE = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
PATIENCE_S = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def message(identifier, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}).encode()


def call(identifier, tool):
    return message(identifier, "tools/call", {"name": tool, "arguments": {}})


class Server:
    """A server process, and how it is stopped."""

    def __init__(self, words, environment, pipes=subprocess.DEVNULL):
        self.process = subprocess.Popen(words, env=environment, stdin=pipes, stdout=pipes, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        self.process.wait(20)

    def greet(self):
        self.ask(message(0, "initialize", INITIALIZE))
        self.tell(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')


class Stdio(Server):
    def __init__(self, words, environment, _port):
        super().__init__(words, environment, subprocess.PIPE)
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()

    def tell(self, body):
        os.write(self.into, body + b"\n")

    def ask(self, body):
        """The bytes of the answer. Notifications before it are part of them."""
        self.tell(body)
        read = b""
        while not read.endswith(b"\n"):
            some = os.read(self.out, 1 << 16)
            if not some:
                raise RuntimeError("the server ended")
            read += some
        return read


class Web(Server):
    def __init__(self, words, environment, port):
        super().__init__(words, environment)
        self.port, self.extra = port, b""
        self.connection = self.connect()

    def connect(self):
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.001)

    def post(self, path, body):
        head = b"POST %s HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n%scontent-length: %d\r\n\r\n"
        self.connection.sendall(head % (path, self.port, self.extra, len(body)) + body)

    def answer(self):
        """Head and body of the next answer on the kept-open connection."""
        read = b""
        while b"\r\n\r\n" not in read:
            read += self.more(self.connection)
        head, _, body = read.partition(b"\r\n\r\n")
        lowered = head.lower()
        if b"content-length:" in lowered:
            length = int(lowered.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            while len(body) < length:
                body += self.more(self.connection)
        elif b"transfer-encoding: chunked" in lowered:
            while not body.endswith(b"0\r\n\r\n"):
                body += self.more(self.connection)
        return head, body

    def more(self, connection):
        some = connection.recv(1 << 16)
        if not some:
            raise RuntimeError("the server closed the connection")
        return some


class Streamable(Web):
    def ask(self, body):
        self.post(b"/mcp", body)
        head, answer = self.answer()
        if not self.extra:
            session = next(line.split(b":", 1)[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"mcp-session-id:"))
            self.extra = b"mcp-session-id: %s\r\nmcp-protocol-version: %s\r\n" % (session, PROTOCOL.encode())
        return answer

    def tell(self, body):
        self.post(b"/mcp", body)
        self.answer()


class Sse(Web):
    def __init__(self, words, environment, port):
        super().__init__(words, environment, port)
        self.stream = self.connect()
        self.stream.sendall(b"GET /sse HTTP/1.1\r\nhost: 127.0.0.1:%d\r\naccept: text/event-stream\r\n\r\n" % port)
        read = b""
        while b"data:" not in read or b"\n" not in read.split(b"data:", 1)[1]:
            read += self.more(self.stream)
        self.endpoint = read.split(b"data:", 1)[1].split(b"\n", 1)[0].strip()

    def ask(self, body):
        self.post(self.endpoint, body)
        read = b""
        # An event ends with an empty line, and is a chunk of its own.
        while b"data:" not in read or not read.endswith((b"\n\n\r\n", b"\r\n\r\n\r\n")):
            read += self.more(self.stream)
        self.answer()
        return read

    def tell(self, body):
        self.post(self.endpoint, body)
        self.answer()


CLIENTS = {"stdio": Stdio, "http": Streamable, "sse": Sse}
