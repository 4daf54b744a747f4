"""What it costs a buffer to keep what a busy vision node says, and how fast it answers meanwhile; ours and a Python one in turn.

    cargo build --release --example flood -p cerebellum-ros --bin cerebellum -p cerebellum
    target/bench/bin/python bench/ingest.py            # after `bench/serving.py`'s head

`flood` is the router and the publisher: 200 topics at 30 Hz, each message with 20 detections and their 64x64 masks. It blocks
rather than drops, so that whatever the subscriber misses was lost by the subscriber. The buffer runs in a process of its own
with a history of 10, and is asked `what_do_you_see` twenty times a second over /mcp. CPU is that of the buffer's process.
`SECONDS=120 RUNS=1 SIDES=ours` shows whether memory is flat: the resident set is printed once in ten seconds.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import urllib.request

from clients import Streamable, call, free_port
from process import usage

ROOT = pathlib.Path(__file__).parents[1]
RELEASE = ROOT / "target" / "release"
OURS = os.environ.get("CEREBELLUM", str(RELEASE / "cerebellum"))
TOPICS, HZ, DETECTIONS = (int(os.environ.get(name, default)) for name, default in [("TOPICS", 200), ("HZ", 30), ("DETECTIONS", 20)])
SECONDS, RUNS = int(os.environ.get("SECONDS", "20")), int(os.environ.get("RUNS", "5"))
SIDES = os.environ.get("SIDES", "ours,python").split(",")
ASK_EVERY_S = 0.05
# How long a fresh buffer may take to find the topics and subscribe to them.
SUBSCRIBED_AFTER_S = 4


def counts(side, client):
    if side == "python":
        text = client.ask(call(99_999_999, "counts")).decode()
        return [int(re.search(rf'{name}\\?": ?(\d+)', text)[1]) for name in ("messages", "messages_lost")]
    with urllib.request.urlopen(f"http://127.0.0.1:{client.port}/metrics") as answer:
        text = answer.read().decode()
    return [int(re.search(rf"^perception_{name}_total (\d+)", text, re.M)[1]) for name in ("messages", "messages_lost")]


def inside_ms(client):
    """The mean time of a call inside our server, without the way there and back."""
    with urllib.request.urlopen(f"http://127.0.0.1:{client.port}/metrics") as answer:
        text = answer.read().decode()
    total, count = (float(re.search(rf"^mcp_tool_call_seconds_{name}\S* (\S+)", text, re.M)[1]) for name in ("sum", "count"))
    return total / count * 1e3


def run(side):
    bus, port = f"tcp/127.0.0.1:{free_port()}", free_port()
    flood = subprocess.Popen(
        [RELEASE / "examples" / "flood", bus, str(TOPICS), str(HZ), str(DETECTIONS), str(SECONDS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    about = json.loads(flood.stdout.readline())
    state = str(ROOT / "target" / "bench" / "state")
    environment = {**os.environ, "MCP_TRANSPORT": "http", "MCP_PORT": str(port), "BUS": bus, "CEREBELLUM_ZENOH_ENDPOINT": bus, "XDG_STATE_HOME": state}
    words = [OURS, "perception-buffer"] if side == "ours" else [sys.executable, str(ROOT / "bench" / "peers" / "perception.py")]
    client = Streamable(words, environment, port)
    client.greet()
    time.sleep(SUBSCRIBED_AFTER_S)
    begin, (cpu_before, _) = time.monotonic(), usage(client.process.pid)
    flood.stdin.write("go\n")
    flood.stdin.flush()
    waits, resident, identifier = [], [], 10
    while (elapsed := time.monotonic() - begin) < SECONDS:
        time.sleep(ASK_EVERY_S)
        asked = time.perf_counter()
        answer = client.ask(call(identifier, "what_do_you_see"))
        waits.append((time.perf_counter() - asked) * 1e3)
        identifier += 1
        if b'"isError":false' not in answer:
            raise RuntimeError(answer[:500])
        if elapsed >= 5 + 10 * len(resident):
            resident.append(round(usage(client.process.pid)[1], 1))
    cpu, _ = usage(client.process.pid)
    took = time.monotonic() - begin
    sent = json.loads(flood.stdout.readline())
    time.sleep(1)
    received, lost = counts(side, client)
    memory = usage(client.process.pid)[1]
    inside = inside_ms(client) if side == "ours" else 0.0
    flood.stdin.write("end\n")
    flood.stdin.close()
    client.close()
    flood.wait(20)
    waits.sort()
    result = {
        "cpu_percent": (cpu - cpu_before) / took * 100, "p50_ms": statistics.median(waits), "p99_ms": waits[int(len(waits) * 0.99)],
        "sent": sent["sent"], "received": received, "lost": lost, "late_ms": sent["late_ms_max"], "mb": memory,
        "inside_ms": inside,
    }
    print(f"{side}: {json.dumps({key: round(value, 2) for key, value in result.items()})} resident {resident} bytes {about['bytes']}", flush=True)
    return result


def main():
    rows = {side: [] for side in SIDES}
    for _ in range(RUNS):
        for side, results in rows.items():
            results.append(run(side))
    print(f"\n{TOPICS} topics at {HZ} Hz, {DETECTIONS} detections; {SECONDS} s a run, medians of {RUNS} runs in turn\n")
    print("| buffer | CPU of one core | p50 | p99 | sent | received | lost by sequence | publisher late at most | MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for side, results in rows.items():
        middle = {key: statistics.median(result[key] for result in results) for key in results[0]}
        print(
            f"| {side} | {middle['cpu_percent']:.1f} % | {middle['p50_ms']:.2f} ms | {middle['p99_ms']:.2f} ms | {middle['sent']:.0f} | {middle['received']:.0f} "
            f"| {sum(result['lost'] for result in results)} | {middle['late_ms']:.0f} ms | {middle['mb']:.1f} |"
        )


if __name__ == "__main__":
    main()
