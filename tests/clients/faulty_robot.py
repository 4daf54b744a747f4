"""A small robot as anyone might write it with FastMCP, in memory alone, with faults that can be planted.

    python faulty_robot.py PORT [FAULT ...]

Without a fault it keeps the contract. `cerebellum check` must name each planted fault and nothing else; `check.py` says so.
"""

import asyncio
import base64
import math
import sys
import time

from mcp.server.fastmcp import FastMCP

FAULTS = set(sys.argv[2:])
robot = FastMCP("faulty-robot", host="127.0.0.1", port=int(sys.argv[1]), log_level="WARNING")

PLACES = {"home": {"name": "home", "x": 0.0, "y": 0.0, "yaw_deg": 0.0}}
BASE = {"x": 0.0, "y": 0.0, "yaw_deg": 0.0}
TURN_DPS = 45.0
TICK_S = 0.02
# One grey pixel.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6"
    "/+b9//j/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"
)


def tool(name, description, fault=None, other_name=None):
    """A tool under its name, or under another one when that fault is planted."""

    def register(function):
        planted = fault in FAULTS
        return robot.tool(name=other_name if planted and other_name else name, description=description)(function)

    return register


async def turn(degrees):
    """Turns a step at a time; a cancelled call stops where it is."""
    left = degrees
    while abs(left) > 1e-6:
        step = math.copysign(min(abs(left), TURN_DPS * TICK_S), left)
        BASE["yaw_deg"] = (BASE["yaw_deg"] + step + 180.0) % 360.0 - 180.0
        left -= step
        await asyncio.sleep(TICK_S)


@tool("list_waypoints", "The places this robot knows.")
async def list_waypoints() -> dict:
    if "places_as_list" in FAULTS:
        return {"ok": True, "waypoints": list(PLACES.values())}
    return {"ok": True, "waypoints": PLACES}


@tool("navigate_to_named", "Drive to a saved place.")
async def navigate_to_named(name: str) -> dict:
    place = PLACES.get(name.lower())
    if place is None:
        if "unknown_place_raises" in FAULTS:
            raise KeyError(name)
        return {"ok": False, "error": "unknown place", "known": list(PLACES)}
    BASE.update(x=place["x"], y=place["y"], yaw_deg=place["yaw_deg"])
    return {"ok": True, **place}


@tool("get_pose", "Where the base is.")
async def get_pose() -> dict:
    return {"ok": True, **BASE, "frame": "map", "age_s": 0.0}


def limited(value, limit):
    return math.isfinite(value) and abs(value) <= limit


@tool("turn_by", "Turn in place; positive is left.")
async def turn_by(degrees: float) -> dict:
    if not limited(degrees, 180.0):
        return {"ok": False, "error": "max_turn_deg is 180"}
    if "answers_early" in FAULTS:
        asyncio.get_running_loop().create_task(turn(degrees))
    elif "ignores_cancel" in FAULTS:
        await asyncio.shield(asyncio.get_running_loop().create_task(turn(degrees)))
    else:
        await turn(degrees)
    return {"ok": True, "moved": degrees, **BASE}


@tool("drive_by", "Drive straight; positive is forward.")
async def drive_by(distance_m: float) -> dict:
    if not limited(distance_m, 2.0) and "no_limit" not in FAULTS:
        return {"ok": False, "error": "max_drive_m is 2"}
    BASE["x"] += distance_m
    return {"ok": True, "moved": distance_m, **BASE}


@tool("pick", "Pick up a thing.", "dotted_name", "motion.pick")
async def pick(target: str, side: str | None = None) -> dict:
    held = "pick_always_held" in FAULTS
    return {"ok": held, "held": held, "side": side or "left"}


@tool("place", "Put down what is held.")
async def place(surface: str, side: str | None = None) -> dict:
    done = "places_nothing" in FAULTS
    return {"ok": done, "side": side or "left"}


@tool("locate_3d", "Find a thing in view.")
async def locate_3d(query: str) -> dict:
    if "finds_everything" in FAULTS:
        return {"found": True, "label": query, "score": 0.9, "x": 1.0, "y": 0.0, "z": 0.7, "frame": "map"}
    return {"found": False}


if "text_answer" in FAULTS:

    @robot.tool(description="Whether the robot is well.", structured_output=False)
    async def robot_state() -> str:
        return "all is well"
else:

    @robot.tool(description="Whether the robot is well.")
    async def robot_state() -> dict:
        return {"ok": True, "issue": "", "reasoning": "no joint reports a fault"}


@tool("observe_task", "Judge what is going on.")
async def observe_task(context: str) -> dict:
    answer = {"ok": True, "issue": "", "reasoning": "nothing moves"}
    if "no_reasoning" in FAULTS:
        del answer["reasoning"]
    return answer


if "other_argument" in FAULTS:

    @robot.tool(description="Save where the robot stands.")
    async def save_waypoint(label: str) -> dict:
        return {"ok": True, "name": label, **BASE}
else:

    @robot.tool(description="Save where the robot stands.")
    async def save_waypoint(name: str) -> dict:
        return {"ok": True, "name": name, **BASE}


@tool("get_frame", "" if "no_description" in FAULTS else "The live picture.")
async def get_frame() -> dict:
    if "slow_frames" in FAULTS:
        await asyncio.sleep(0.8)
    stamp = time.time() - (3600.0 if "clock_off" in FAULTS else 0.0)
    if "frozen_stamp" in FAULTS:
        stamp = round(time.time(), -3)
    width = 640 if "wrong_size" in FAULTS else 1
    picture = base64.b64encode(JPEG).decode()
    return {"ok": True, "image_jpeg_b64": picture, "width": width, "height": 1, "stamp": stamp}


if "no_prompt" not in FAULTS:

    @robot.resource("prompt://system")
    def system_prompt() -> str:
        return "A robot in memory. It turns, and has no hands to speak of."


if __name__ == "__main__":
    robot.run(transport="sse")
