"""A ROS 2 peer without ROS (pyzeros over Zenoh, as rmw_zenoh speaks it) against a running vision node.

    python peer.py tcp/127.0.0.1:7557 [--domain 0] [--node vision_node] [--buffer http://127.0.0.1:9202/mcp]

Without an endpoint it asks the running demo's file that `CEREBELLUM_READY` names, for everything else too.
Needs a C compiler the first time: pyzeros builds its codecs then. Prints one line for each thing it finds in order, and
exits 0; or says what is wrong and exits 1.
"""

import argparse
import asyncio
import json
import os
import sys
import time
import urllib.request

import asyncio_for_robotics as afor
import pyzeros
import zenoh
from ros2_pyterfaces.cyclone.geometry_msgs.msg import Point, PointStamped
from ros2_pyterfaces.cyclone.sensor_msgs.msg import CompressedImage, RegionOfInterest
from ros2_pyterfaces.cyclone.std_msgs.msg import Header

from interfaces import (
    CreateVisionTask,
    ListVisionTasks,
    ManageVisionTask,
    StampedString,
    VisionDetection,
    VisionDetectionArray,
)

SKILL = "peer_look"
FED = "peer_feed"
PATIENCE_S = 30.0


class Wrong(Exception):
    """What is not as it should be."""


def good(text):
    print(f"ok    {text}", flush=True)


def check(holds, text):
    if not holds:
        raise Wrong(text)
    good(text)


def dds_name(ros_type):
    package, kind, name = ros_type.get_type_name().split("/")
    return f"{package}::{kind}::dds_::{name}_"


class Graph:
    """Who tells of itself on the bus: (kind, name) -> (type, hash)."""

    def __init__(self, session, domain):
        self.session, self.pattern = session, f"@ros2_lv/{domain}/**"

    def read(self):
        found = {}
        for reply in self.session.liveliness().get(self.pattern, timeout=2.0):
            parts = str(reply.ok.key_expr).split("/") if reply.ok else []
            if len(parts) == 13:
                found[parts[5], parts[9].replace("%", "/")] = (parts[10], parts[11])
        return found

    async def wait(self, holds, what):
        until = time.monotonic() + PATIENCE_S
        while not holds(found := self.read()):
            if time.monotonic() > until:
                raise Wrong(f"{what}; on the bus: {sorted(name for _, name in found)}")
            await asyncio.sleep(0.1)
        return found


async def call(ros_type, service, /, **fields):
    client = pyzeros.Client(ros_type, service)
    try:
        return await asyncio.wait_for(client.call_async(ros_type.Request(**fields)), PATIENCE_S)
    except asyncio.TimeoutError:
        raise Wrong(f"{service} did not answer within {PATIENCE_S} s") from None


async def first(ros_type, topic, fits):
    sub = pyzeros.Sub(ros_type, topic)

    async def look():
        async for message in sub.listen_reliable():
            if fits(message):
                return message

    try:
        return await asyncio.wait_for(look(), PATIENCE_S)
    except asyncio.TimeoutError:
        raise Wrong(f"nothing fitting came on {topic} within {PATIENCE_S} s") from None


def detections_of_our_own():
    now = time.time_ns()
    header = Header(frame_id="peer_camera")
    header.stamp.sec, header.stamp.nanosec = now // 1_000_000_000, now % 1_000_000_000
    seen = VisionDetection(
        id="1",
        label="peer cup",
        score=0.75,
        box=RegionOfInterest(x_offset=10, y_offset=20, width=30, height=40),
        has_mask=True,
        mask=CompressedImage(header=header, format="png", data=[0x89, 0x50, 0x4E, 0x47]),
        has_point=True,
        point=PointStamped(header=header, point=Point(x=0.5, y=-0.25, z=1.5)),
    )
    return VisionDetectionArray(header=header, skill=FED, image_width=640, image_height=480, detections=[seen])


class Mcp:
    """Just enough of MCP over streamable HTTP to call one tool."""

    def __init__(self, url):
        self.url, self.session = url, None
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}
        self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        request = urllib.request.Request(self.url, json.dumps(message).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            self.session = answer.headers.get("Mcp-Session-Id") or self.session
            text = answer.read().decode()
        for line in text.splitlines():
            line = line.removeprefix("data:").strip()
            if line.startswith("{") and "id" in (parsed := json.loads(line)):
                return parsed
        return None

    def tool(self, name, **arguments):
        params = {"name": name, "arguments": arguments}
        result = self.post({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})["result"]
        return result.get("structuredContent") or json.loads(result["content"][0]["text"])


async def feed(buffer_url):
    pub = pyzeros.Pub(VisionDetectionArray, f"/vision/{FED}/detections")
    if not buffer_url:
        pub.publish(detections_of_our_own())
        good("published detections of our own (no --buffer to ask for them)")
        return
    mcp = await asyncio.to_thread(Mcp, buffer_url)
    until = time.monotonic() + PATIENCE_S
    while True:
        pub.publish(detections_of_our_own())
        await asyncio.sleep(0.2)
        latest = await asyncio.to_thread(mcp.tool, "get_latest", skill=FED)
        if latest.get("ok") and latest.get("detections"):
            break
        if time.monotonic() > until:
            raise Wrong(f"the buffer does not show our detections: {latest}")
    seen = latest["detections"][0]
    check(seen["label"] == "peer cup" and seen["box"] == [10, 20, 30, 40], f"the buffer shows our detection: {seen}")


@afor.scoped
async def run(session, args):
    """What is wrong, or nothing. The scope would wrap an exception."""
    try:
        await look(session, args)
    except Wrong as wrong:
        return str(wrong)


async def look(session, args):
    graph = Graph(session, args.domain)
    services = {
        f"/{args.node}/create_vision_task": CreateVisionTask,
        f"/{args.node}/manage_vision_task": ManageVisionTask,
        f"/{args.node}/list_vision_tasks": ListVisionTasks,
    }
    create, manage, listing = services
    found = await graph.wait(lambda found: all(("SS", name) in found for name in services), "a service is missing")
    for name, ros_type in services.items():
        expected = (dds_name(ros_type), ros_type.hash_rihs01())
        check(found["SS", name] == expected, f"service {name} has type {expected[0]} {expected[1]}")

    await call(ManageVisionTask, manage, name=SKILL, action="delete")
    skill = {
        "name": SKILL,
        "mode": "segment_all",
        "segment": True,
        "rate_hz": 5.0,
        "outputs": [{"name": "count", "type": "number", "description": "how many things are in view"}],
    }
    made = await call(CreateVisionTask, create, skill_json=json.dumps(skill))
    check(made.success and made.name == SKILL, f"create_vision_task runs {made.name} ({made.message or 'no notes'})")
    again = await call(CreateVisionTask, create, skill_json=json.dumps(skill))
    check(not again.success and SKILL in again.message, f"the same name is refused: {again.message}")
    bad = await call(CreateVisionTask, create, skill_json='{"name": "a", "mode": "nonsense"}')
    check(not bad.success and "mode" in bad.message, f"a bad skill is refused: {bad.message}")
    tasks = json.loads((await call(ListVisionTasks, listing)).tasks_json)
    check(any(task["name"] == SKILL for task in tasks), "list_vision_tasks lists it")

    topics = {
        f"/vision/{SKILL}/detections": VisionDetectionArray,
        f"/vision/{SKILL}/count": StampedString,
        f"/vision/{SKILL}/overlay": CompressedImage,
    }
    check(sorted(made.topics) == sorted(topics), f"its topics are {sorted(made.topics)}")
    found = await graph.wait(lambda found: all(("MP", name) in found for name in topics), "a topic is missing")
    for name, ros_type in topics.items():
        expected = (dds_name(ros_type), ros_type.hash_rihs01())
        check(found["MP", name] == expected, f"topic {name} has type {expected[0]} {expected[1]}")

    frame = await first(VisionDetectionArray, f"/vision/{SKILL}/detections", lambda message: True)
    labels = [seen.label for seen in frame.detections]
    check(frame.skill == SKILL and frame.image_width > 0, f"detections came, {frame.image_width}x{frame.image_height}: {labels}")
    overlay = await first(CompressedImage, f"/vision/{SKILL}/overlay", lambda message: len(message.data) > 0)
    check(bytes(overlay.data[:2]) == b"\xff\xd8", f"an overlay came, {len(overlay.data)} bytes of JPEG")

    await feed(args.buffer)

    gone = await call(ManageVisionTask, manage, name=SKILL, action="delete")
    check(gone.success, "manage_vision_task deletes it")
    await graph.wait(lambda found: not any(name in topics for kind, name in found if kind == "MP"), "a topic stays")
    good("its topics have left the graph")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endpoint", nargs="?", help="the Zenoh router, such as tcp/127.0.0.1:7557")
    parser.add_argument("--domain", type=int, default=0, help="the ROS domain id (0)")
    parser.add_argument("--node", default="vision_node", help="the vision node's name")
    parser.add_argument("--buffer", help="the perception buffer's /mcp, to be asked for what we feed it")
    args = parser.parse_args()
    if not args.endpoint:
        if "CEREBELLUM_READY" not in os.environ:
            parser.error("say which endpoint, or run beside a demo with CEREBELLUM_READY")
        with open(os.environ["CEREBELLUM_READY"], encoding="utf-8") as file:
            ready = json.load(file)
        args.endpoint, args.domain, args.node = ready["zenoh"], ready["domain_id"], ready["vision_node"]
        args.buffer = args.buffer or ready["servers"]["perception"]["mcp"]
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", json.dumps([args.endpoint]))
    config.insert_json5("timestamping/enabled", "true")
    try:
        with zenoh.open(config) as session, pyzeros.auto_context(
            node="peer", zenoh_session=session, domain_id=args.domain
        ):
            wrong = asyncio.run(run(session, args))
    except (zenoh.ZError, OSError) as error:
        wrong = str(error)
    if wrong:
        print(f"WRONG {wrong}", flush=True)
        return 1
    print("all is as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
