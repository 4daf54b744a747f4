"""Time of a call, memory and start of our MCP servers against the same tools in Python `fastmcp`, in one run.

    cargo build --release
    python -m venv target/bench && target/bench/bin/pip install -r bench/requirements.txt
    target/bench/bin/python bench/serving.py

Both servers of a pair are driven by the same raw client, round after round in turn. "client alone" is the same client against
a process that answers ready-made bytes: what of each figure is not the server. Ratios are of the whole figures, so the true
ones are larger. Memory is the resident set after the calls. Start is from the creation of the process to the first answer of
the tool.
"""

import os
import pathlib
import statistics
import sys
import time

from clients import CLIENTS, call, free_port
from process import usage

ROOT = pathlib.Path(__file__).parents[1]
OURS = os.environ.get("CEREBELLUM", str(ROOT / "target" / "release" / "cerebellum"))
CALLS = int(os.environ.get("CALLS", "500"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
PAIRS = {
    "list_skill_templates": ("skill-control", "skill_control.py"),
    "what_do_you_see": ("perception-buffer", "perception.py"),
}
BUS_WITHIN_S = 20


def words(side, tool):
    command, peer = PAIRS[tool]
    peers = ROOT / "bench" / "peers"
    return {"ours": [OURS, command], "python": [sys.executable, str(peers / peer)], "client": [sys.executable, str(peers / "canned.py")]}[side]


def start(side, tool, transport, bus):
    """A fresh server, ready to be called, and the seconds from its start to the first answer of the tool."""
    port = free_port()
    state = str(ROOT / "target" / "bench" / "state")
    environment = {**os.environ, "MCP_TRANSPORT": transport, "MCP_PORT": str(port), "BUS": bus, "CEREBELLUM_ZENOH_ENDPOINT": bus, "XDG_STATE_HOME": state}
    begin = time.perf_counter()
    client = CLIENTS[transport](words(side, tool), environment, port)
    client.greet()
    answer = client.ask(call(1, tool))
    first = time.perf_counter() - begin
    # A server that answers before the bus is up says so; what is timed is the answer with the bus.
    end = time.monotonic() + BUS_WITHIN_S
    while is_error(answer) and b"bus_down" in answer and time.monotonic() < end:
        time.sleep(0.05)
        answer = client.ask(call(1, tool))
    if is_error(answer):
        raise RuntimeError(f"{tool}: {answer[:500]}")
    return client, first


def is_error(answer):
    return b'"isError":false' not in answer


def measure(tool, transport, bus):
    rows = {"ours": [], "python": [], "client": []}
    for _ in range(ROUNDS):
        for side, figures in rows.items():
            client, first = start(side, tool, transport, bus)
            requests = [call(identifier, tool) for identifier in range(2, CALLS + 2)]
            times = []
            for request in requests:
                begin = time.perf_counter()
                answer = client.ask(request)
                times.append(time.perf_counter() - begin)
                if is_error(answer):
                    raise RuntimeError(f"{tool}: {answer[:500]}")
            figures.append((statistics.median(times) * 1e6, usage(client.process.pid)[1], first))
            client.close()
    return {side: [statistics.median(column) for column in zip(*figures)] for side, figures in rows.items()}


def main():
    import zenoh

    zenoh.init_log_from_env_or("error")
    bus = f"tcp/127.0.0.1:{free_port()}"
    router = zenoh.open(zenoh.Config.from_json5('{mode: "router", listen: {endpoints: ["%s"]}, scouting: {multicast: {enabled: false}}}' % bus))
    print(f"{CALLS} calls a round, medians, median of {ROUNDS} rounds, both sides in turn; µs a call, MB resident, ms to the first answer\n")
    print("| tool | transport | ours | python | faster | client alone | ours MB | python MB | smaller | ours start | python start | sooner |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for tool in PAIRS:
        for transport in CLIENTS:
            figures = measure(tool, transport, bus)
            (us, mb, first), (peer_us, peer_mb, peer_first) = figures["ours"], figures["python"]
            print(
                f"| `{tool}` | {transport} | {us:.0f} | {peer_us:.0f} | {peer_us / us:.1f}x | {figures['client'][0]:.0f} "
                f"| {mb:.1f} | {peer_mb:.1f} | {peer_mb / mb:.1f}x | {first * 1e3:.0f} | {peer_first * 1e3:.0f} | {peer_first / first:.0f}x |",
                flush=True,
            )
    router.close()


if __name__ == "__main__":
    main()
