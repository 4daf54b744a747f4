"""The same two tools as skill-control would have in Python: what the benchmark compares with."""

import json
import os
import pathlib

import yaml
import zenoh
from fastmcp import FastMCP

CATALOG = pathlib.Path(__file__).parents[2] / "config" / "skills.yaml"
TEMPLATES = yaml.safe_load(CATALOG.read_text(encoding="utf-8"))["templates"]

zenoh.init_log_from_env_or("error")
BUS = zenoh.open(zenoh.Config.from_json5('{mode: "client", scouting: {multicast: {enabled: false}}, connect: {endpoints: ["%s"]}}' % os.environ["BUS"]))

server = FastMCP("skill_control")


@server.tool
def list_skill_templates() -> dict:
    """Call this to see what the robot can be configured to perceive."""
    rows = [{"name": row["name"], "description": row["description"], "params": row["params"]} for row in TEMPLATES]
    return {"ok": True, "templates": rows}


if __name__ == "__main__":
    transport = os.environ.get("MCP_TRANSPORT", "stdio")
    if transport == "stdio":
        server.run(show_banner=False)
    else:
        server.run(transport=transport, host="127.0.0.1", port=int(os.environ["MCP_PORT"]), show_banner=False)
