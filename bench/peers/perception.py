"""The same buffer as perception-buffer would be in Python: what the benchmark compares with."""

import json
import os
import time
from collections import deque

import zenoh
from fastmcp import FastMCP

HISTORY = 10
WINDOW_S = 5.0
STREAMS = {}

zenoh.init_log_from_env_or("error")
BUS = zenoh.open(zenoh.Config.from_json5('{mode: "client", scouting: {multicast: {enabled: false}}, connect: {endpoints: ["%s"]}}' % os.environ["BUS"]))


def keep(sample):
    entry = STREAMS.setdefault(str(sample.key_expr), deque(maxlen=HISTORY))
    entry.append((time.monotonic(), bytes(sample.payload)))


SUBSCRIBER = BUS.declare_subscriber("0/vision/**", keep)
server = FastMCP("perception")


@server.tool
def what_do_you_see() -> dict:
    """Call this to learn what the robot sees now."""
    now = time.monotonic()
    skills = []
    for key, entry in list(STREAMS.items()):
        age = now - entry[-1][0]
        skills.append({"skill": key.split("/")[2], "age_s": round(age, 3), "stale": age > WINDOW_S})
    return {"ok": True, "text": json.dumps(skills), "skills": skills[:20]}


if __name__ == "__main__":
    transport = os.environ.get("MCP_TRANSPORT", "stdio")
    if transport == "stdio":
        server.run(show_banner=False)
    else:
        server.run(transport=transport, host="127.0.0.1", port=int(os.environ["MCP_PORT"]), show_banner=False)
