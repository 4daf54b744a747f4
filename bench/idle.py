"""CPU and memory of a demo that has nothing to do, and of one that looks at a still scene.

    cargo build --release
    python3 bench/idle.py
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from process import usage

ROOT = pathlib.Path(__file__).parents[1]
OURS = os.environ.get("CEREBELLUM", str(ROOT / "target" / "release" / "cerebellum"))
SECONDS = int(os.environ.get("SECONDS", "20"))
SKILL = '{"template":"find_object","params":{"query":"red can"}}'


def busy(pid):
    before, _ = usage(pid)
    time.sleep(SECONDS)
    after, megabytes = usage(pid)
    return f"{(after - before) / SECONDS * 100:.1f} % of a core, {megabytes:.0f} MB resident"


def main():
    with tempfile.TemporaryDirectory() as state:
        ready = pathlib.Path(state) / "ready.json"
        demo = subprocess.Popen(
            [OURS, "demo", "--ports", "0", "--ready-file", ready],
            env={**os.environ, "XDG_STATE_HOME": state}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            begin = time.monotonic()
            while not ready.exists():
                time.sleep(0.01)
            print(f"serves after {time.monotonic() - begin:.2f} s")
            time.sleep(3)
            print(f"idle: {busy(demo.pid)}")
            endpoints = json.loads(ready.read_text(encoding="utf-8"))
            subprocess.run([OURS, "call", endpoints["servers"]["skill_control"]["mcp"], "instantiate_skill", SKILL], check=True, stdout=subprocess.DEVNULL)
            time.sleep(3)
            print(f"one skill twice a second: {busy(demo.pid)}")
        finally:
            demo.terminate()
            demo.wait(20)


if __name__ == "__main__":
    main()
