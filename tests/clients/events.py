"""A watched skill posts exactly one signed event a rising edge, and the public package `standardwebhooks` verifies it.

Starts a demo of its own with this script as the brain. `CEREBELLUM_BIN` names the program.
"""

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook

PROGRAM = os.environ.get("CEREBELLUM_BIN", str(pathlib.Path("target/debug/cerebellum").resolve()))
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
DEADLINE_S = 40.0
EVENTS = queue.Queue()


class Brain(BaseHTTPRequestHandler):
    """Takes events that the public library verifies."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = Webhook(SECRET).verify(body, dict(self.headers.items()))
        except Exception as error:
            EVENTS.put({"refused": repr(error)})
            self.send_response(401)
        else:
            EVENTS.put({"id": self.headers["webhook-id"], "event": event})
            self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def expect(fact, words):
    if not fact:
        raise AssertionError(words)


def run(environment, *words):
    done = subprocess.run([PROGRAM, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def next_event(words):
    try:
        event = EVENTS.get(timeout=DEADLINE_S)
    except queue.Empty:
        raise AssertionError(f"no event within {DEADLINE_S:.0f} s: {words}") from None
    expect("refused" not in event, f"the library refused an event: {event}")
    return event


def start_demo(folder, port):
    environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state", "RVC_EVENT_SECRET": SECRET}
    environment["RVC_CALLBACK_URL"] = f"http://127.0.0.1:{port}/api/agent/events"
    ready = pathlib.Path(folder) / "ready.json"
    log = open(pathlib.Path(folder) / "demo.log", "w", encoding="utf-8")
    words = [PROGRAM, "demo", "--ports", "0", "--ready-file", str(ready)]
    demo = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log)
    start = time.monotonic()
    while not (ready.exists() and ready.read_text().rstrip().endswith("}")):
        expect(demo.poll() is None, f"the demo ended: {(pathlib.Path(folder) / 'demo.log').read_text()[-2000:]}")
        expect(time.monotonic() - start < DEADLINE_S, "the demo does not serve")
        time.sleep(0.05)
    return demo, environment, json.loads(ready.read_text())


def watch(environment, endpoints):
    skills = endpoints["servers"]["skill_control"]["mcp"]
    perception = endpoints["servers"]["perception"]["mcp"]
    control = endpoints["control"]
    condition = json.dumps({"template": "watch_for", "params": {"condition": "a person is in view"}})
    started = json.loads(run(environment, "call", skills, "instantiate_skill", condition))
    expect(started["ok"] and started["skill_id"] == "watch_for", f"{started}")
    # The skill must have said "no" once, or its first value would be the edge.
    start = time.monotonic()
    while True:
        latest = json.loads(run(environment, "call", perception, "get_latest", "skill=watch_for"))
        if latest.get("outputs", {}).get("triggered", {}).get("value") is False:
            break
        expect(time.monotonic() - start < DEADLINE_S, f"watch_for never judged the empty room: {latest}")
        time.sleep(0.1)
    ids = set()
    for round_ in (1, 2):
        run(environment, "sim", "scene", "--control", control, "person", "enter")
        event = next_event(f"the person entered, round {round_}")
        ids.add(event["id"])
        body = event["event"]
        expect(body["type"] == "watch_event" and body["task_id"] == "watch_for" and body["server"] == "perception", f"{body}")
        payload = body["payload"]
        expect(payload["value"] is True and payload["condition"] == "a person is in view", f"{payload}")
        expect({"skill", "detection_summary", "overlay_ref"} <= set(payload), f"{payload}")
        run(environment, "sim", "scene", "--control", control, "person", "leave")
        start = time.monotonic()
        while True:
            latest = json.loads(run(environment, "call", perception, "get_latest", "skill=watch_for"))
            if latest["outputs"]["triggered"]["value"] is False:
                break
            expect(time.monotonic() - start < DEADLINE_S, f"the person never left: {latest}")
            time.sleep(0.1)
    time.sleep(1.0)
    expect(EVENTS.empty(), "exactly one event a rising edge")
    expect(len(ids) == 2, f"each edge has an id of its own: {ids}")


def main():
    brain = ThreadingHTTPServer(("127.0.0.1", 0), Brain)
    threading.Thread(target=brain.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        demo, environment, endpoints = start_demo(folder, brain.server_port)
        try:
            watch(environment, endpoints)
        finally:
            demo.send_signal(signal.SIGTERM)
            demo.wait(timeout=30)
    print("ok   one signed event a rising edge, verified by standardwebhooks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
