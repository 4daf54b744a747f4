"""`cerebellum check` names every fault that is planted in a FastMCP robot, and nothing else.

`CEREBELLUM_BIN` names the program.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time

PROGRAM = os.environ.get("CEREBELLUM_BIN", str(pathlib.Path("target/debug/cerebellum").resolve()))
ROBOT = pathlib.Path(__file__).with_name("faulty_robot.py")
DEADLINE_S = 300.0

PLANTED = {
    (): set(),
    ("places_as_list", "unknown_place_raises", "pick_always_held", "places_nothing", "finds_everything"): {
        "answer list_waypoints", "unknown place", "honest held", "empty hand", "honest locate_3d",
    },
    ("text_answer", "no_reasoning", "other_argument", "no_description", "wrong_size", "no_prompt", "no_limit"): {
        "answer robot_state", "answer observe_task", "tool save_waypoint", "schema get_frame", "answer get_frame",
        "prompt://system", "limit drive_by",
    },
    ("answers_early", "clock_off"): {"blocking turn_by", "cancel turn_by", "dropped connection", "clock"},
    ("ignores_cancel", "slow_frames", "dotted_name"): {"cancel turn_by", "dropped connection", "frame rate", "tool pick", "schema motion.pick"},
    ("frozen_stamp",): {"clock"},
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(faults):
    port = free_port()
    process = subprocess.Popen([sys.executable, str(ROBOT), str(port), *faults], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            if time.monotonic() > end or process.poll() is not None:
                raise
            time.sleep(0.05)


def examine(faults):
    process, port = start(faults)
    try:
        url = f"http://127.0.0.1:{port}/sse"
        words = [PROGRAM, "check", url, "--allow-motion", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        report = json.loads(done.stdout)
        failing = {item["id"]: item for item in report["items"] if item["outcome"] == "fails"}
        assert done.returncode == (1 if failing else 0), (done.returncode, done.stderr)
        for item in failing.values():
            assert item["change"], item
        return failing
    finally:
        process.terminate()
        process.wait(20)


for faults, expected in PLANTED.items():
    found = examine(faults)
    assert set(found) == expected, (faults, sorted(set(found) ^ expected), found)
    print(f"check: {', '.join(faults) or 'no fault planted'}: {len(found)} items fail, as they should")
