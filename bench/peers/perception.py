"""The same buffer as perception-buffer would be in Python, at its cheapest: what the benchmarks compare with.

One subscriber for all topics that keeps bytes; only the latest message of a skill is read, and only when it is asked for.
"""

import json
import os
import time
from collections import deque

import cdr
import zenoh
from fastmcp import FastMCP

HISTORY = 10
WINDOW_S = 5.0
NAMED_MAX = 5
STREAMS = {}
LAST = {}
COUNTS = {"messages": 0, "messages_lost": 0}

zenoh.init_log_from_env_or("error")
BUS = zenoh.open(zenoh.Config.from_json5('{mode: "client", scouting: {multicast: {enabled: false}}, connect: {endpoints: ["%s"]}}' % os.environ["BUS"]))


def keep(sample):
    key = str(sample.key_expr)
    entry = STREAMS.get(key)
    if entry is None:
        entry = STREAMS[key] = deque(maxlen=HISTORY)
    entry.append((time.monotonic(), bytes(sample.payload)))
    COUNTS["messages"] += 1
    if sample.attachment is not None:
        attachment = bytes(sample.attachment)
        sequence, publisher = int.from_bytes(attachment[:8], "little", signed=True), attachment[17:]
        COUNTS["messages_lost"] += sequence - LAST.get(publisher, sequence - 1) - 1
        LAST[publisher] = sequence


SUBSCRIBER = BUS.declare_subscriber("0/vision/**", keep)
server = FastMCP("perception")


@server.tool
def what_do_you_see() -> dict:
    """Call this to learn what the robot sees now."""
    now = time.monotonic()
    skills = []
    for key, entry in list(STREAMS.items())[:20]:
        at, payload = entry[-1]
        seen = [f"{one['label']} {one['score']:.2f} {one['box']}" for one in cdr.detections(payload)[:NAMED_MAX]]
        skills.append({"skill": key.split("/")[2], "age_s": round(now - at, 3), "stale": now - at > WINDOW_S, "summary": ", ".join(seen)})
    return {"ok": True, "text": json.dumps(skills), "skills": skills}


@server.tool
def counts() -> dict:
    """For the benchmark: messages that came and that did not."""
    return COUNTS


if __name__ == "__main__":
    transport = os.environ.get("MCP_TRANSPORT", "stdio")
    if transport == "stdio":
        server.run(show_banner=False)
    else:
        server.run(transport=transport, host="127.0.0.1", port=int(os.environ["MCP_PORT"]), show_banner=False)
