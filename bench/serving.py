"""Calls a second, memory and start of our MCP servers against the same tools in Python `fastmcp`, in one run.

    cargo build --release
    python -m venv target/bench && target/bench/bin/pip install -r bench/requirements.txt
    target/bench/bin/python bench/serving.py

Both servers of a pair are driven by the same raw client in turn: stdio lines, one kept-open connection for /mcp, and the
event stream for /sse. The client's own time is in both figures, so the true ratio is larger than the one printed.
"""

import http.client
import json
import os
import pathlib
import queue
import socket
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).parents[1]
OURS = ROOT / "target" / "release" / "cerebellum"
CALLS = int(os.environ.get("CALLS", "500"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PAIRS = {
    "list_skill_templates": (["skill-control"], "peers/skill_control.py"),
    "what_do_you_see": (["perception-buffer"], "peers/perception.py"),
}
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def message(identifier, method, params):
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


class Stdio:
    def __init__(self, words, environment):
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def request(self, body):
        self.process.stdin.write(json.dumps(body).encode() + b"\n")
        self.process.stdin.flush()
        while "id" in body:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == body["id"]:
                return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


class Web:
    def __init__(self, words, environment, port):
        self.port = port
        self.process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def connection(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def close(self):
        self.process.terminate()
        self.process.wait(20)


class Streamable(Web):
    def __init__(self, words, environment, port):
        super().__init__(words, environment, port)
        self.http = self.connection()
        self.session = None

    def request(self, body):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if self.session:
            headers |= {"mcp-session-id": self.session, "mcp-protocol-version": INITIALIZE["protocolVersion"]}
        self.http.request("POST", "/mcp", json.dumps(body), headers)
        answer = self.http.getresponse()
        self.session = answer.headers.get("mcp-session-id") or self.session
        text = answer.read().decode()
        if "id" not in body:
            return None
        for line in text.splitlines():
            line = line.removeprefix("data:").strip()
            if line.startswith("{"):
                value = json.loads(line)
                if value.get("id") == body["id"]:
                    return value
        raise RuntimeError(f"{answer.status}: {text[:300]}")


class Sse(Web):
    def __init__(self, words, environment, port):
        super().__init__(words, environment, port)
        self.answers = queue.Queue()
        self.stream = self.connection()
        self.stream.request("GET", "/sse", headers={"accept": "text/event-stream"})
        self.lines = self.stream.getresponse()
        self.endpoint = None
        while not self.endpoint:
            line = self.lines.readline().decode().strip()
            if line.startswith("data:"):
                self.endpoint = line.removeprefix("data:").strip()
        threading.Thread(target=self.read, daemon=True).start()
        self.http = self.connection()

    def read(self):
        while line := self.lines.readline():
            if line.startswith(b"data:"):
                self.answers.put(json.loads(line[5:]))

    def request(self, body):
        self.http.request("POST", self.endpoint, json.dumps(body), {"content-type": "application/json"})
        self.http.getresponse().read()
        while "id" in body:
            answer = self.answers.get(timeout=30)
            if answer.get("id") == body["id"]:
                return answer


def start(side, tool, transport):
    """A fresh server, ready to be called, and the seconds from its start to the first answer of the tool."""
    ours, peer = PAIRS[tool]
    port = free_port()
    environment = {**os.environ, "MCP_TRANSPORT": transport, "MCP_PORT": str(port), "BUS": BUS, "CEREBELLUM_ZENOH_ENDPOINT": BUS}
    words = [str(OURS), *ours] if side == "ours" else [sys.executable, str(ROOT / "bench" / peer)]
    begin = time.perf_counter()
    client = {"stdio": lambda: Stdio(words, environment), "http": lambda: Streamable(words, environment, port), "sse": lambda: Sse(words, environment, port)}[transport]()
    client.request(message(0, "initialize", INITIALIZE))
    client.request({"jsonrpc": "2.0", "method": "notifications/initialized"})
    call(client, 1, tool)
    return client, time.perf_counter() - begin


def call(client, identifier, tool):
    answer = client.request(message(identifier, "tools/call", {"name": tool, "arguments": {}}))
    if answer.get("result", {}).get("isError") or "result" not in answer:
        raise RuntimeError(f"{tool}: {answer}")


def resident_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def measure(tool, transport):
    rows = {"ours": [], "python": []}
    for _ in range(ROUNDS):
        for side, figures in rows.items():
            client, first = start(side, tool, transport)
            times = []
            for identifier in range(2, CALLS + 2):
                begin = time.perf_counter()
                call(client, identifier, tool)
                times.append(time.perf_counter() - begin)
            figures.append((statistics.median(times) * 1e6, resident_mb(client.process.pid), first))
            client.close()
    return {side: [statistics.median(column) for column in zip(*figures)] for side, figures in rows.items()}


def main():
    import zenoh

    global BUS
    BUS = f"tcp/127.0.0.1:{free_port()}"
    router = zenoh.open(zenoh.Config.from_json5('{mode: "router", listen: {endpoints: ["%s"]}, scouting: {multicast: {enabled: false}}}' % BUS))
    print(f"{CALLS} calls, median of {ROUNDS} rounds; both sides in turn\n")
    print("| tool | transport | ours us | python us | faster | ours MB | python MB | smaller | ours start ms | python start ms | sooner |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for tool in PAIRS:
        for transport in ("stdio", "http", "sse"):
            figures = measure(tool, transport)
            (us, mb, first), (peer_us, peer_mb, peer_first) = figures["ours"], figures["python"]
            print(
                f"| {tool} | {transport} | {us:.0f} | {peer_us:.0f} | {peer_us / us:.1f}x | {mb:.1f} | {peer_mb:.1f} | {peer_mb / mb:.1f}x "
                f"| {first * 1e3:.0f} | {peer_first * 1e3:.0f} | {peer_first / first:.0f}x |",
                flush=True,
            )
    router.close()


if __name__ == "__main__":
    main()
