"""From a published value to the signed POST that tells of it, beside a bare loopback POST of the same size.

    cargo build --release --example edges --bin cerebellum -p cerebellum
    python3 bench/watcher.py

`edges` is the router, the vision node, the receiver and the bare poster, and measures both in turn with one clock; the
perception buffer runs in a process of its own.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from clients import free_port

ROOT = pathlib.Path(__file__).parents[1]
RELEASE = ROOT / "target" / "release"
OURS = os.environ.get("CEREBELLUM", str(RELEASE / "cerebellum"))
COUNT, RUNS = os.environ.get("COUNT", "500"), int(os.environ.get("RUNS", "5"))


def run():
    bus, receiver = f"tcp/127.0.0.1:{free_port()}", free_port()
    with tempfile.TemporaryDirectory() as state:
        environment = {
            **os.environ, "MCP_TRANSPORT": "http", "MCP_PORT": str(free_port()), "CEREBELLUM_ZENOH_ENDPOINT": bus, "XDG_STATE_HOME": state,
            "RVC_CALLBACK_URL": f"http://127.0.0.1:{receiver}/", "RVC_EVENT_SECRET": "only-for-this-benchmark",
        }
        buffer = subprocess.Popen([OURS, "perception-buffer"], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            said = subprocess.run([RELEASE / "examples" / "edges", bus, str(receiver), COUNT], check=True, capture_output=True, text=True, timeout=300)
        finally:
            buffer.terminate()
            buffer.wait(20)
    return json.loads(said.stdout)


def quantile(values, share):
    return sorted(values)[int(len(values) * share)]


def main():
    runs = [run() for _ in range(RUNS)]
    print(f"{COUNT} edges a run, medians of {RUNS} runs; body {runs[0]['bytes']} bytes\n")
    print("| | value to signed POST | bare POST | ratio |")
    print("|---|---|---|---|")
    for name, share in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)]:
        pairs = [(quantile(run["event_us"], share), quantile(run["post_us"], share)) for run in runs]
        event, post = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(event / post for event, post in pairs)
        print(f"| {name} | {event / 1e3:.2f} ms | {post / 1e3:.2f} ms | {ratio:.1f} |")


if __name__ == "__main__":
    main()
