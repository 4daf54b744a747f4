"""The flows of a planner, from the Python client that this environment has (mcp 1.x, mcp 2.x or fastmcp), over every transport.

A demo runs; `CEREBELLUM_READY` names the file with its endpoints, `CEREBELLUM_BIN` the program for stdio servers.
"""

import asyncio
import json
import os
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import metadata

READY = json.load(open(os.environ["CEREBELLUM_READY"], encoding="utf-8"))
PROGRAM = os.environ["CEREBELLUM_BIN"]
SUBCOMMAND = {"skill_control": "skill-control", "perception": "perception-buffer"}
DEADLINE_S = 30.0


def has(package):
    try:
        metadata.version(package)
        return True
    except metadata.PackageNotFoundError:
        return False


FASTMCP = has("fastmcp")
MAJOR = int(metadata.version("mcp").split(".")[0])


def stdio_environment():
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MCP_")}
    environment["CEREBELLUM_ZENOH_ENDPOINT"] = READY["zenoh"]
    environment["XDG_STATE_HOME"] = os.environ["CEREBELLUM_STATE"] + "-stdio"
    return environment


@asynccontextmanager
async def sdk_session(server, transport):
    """A session of the official SDK, either major version."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client

    async with AsyncExitStack() as stack:
        if transport == "stdio":
            parameters = StdioServerParameters(command=PROGRAM, args=[SUBCOMMAND[server]], env=stdio_environment())
            streams = await stack.enter_async_context(stdio_client(parameters))
        elif transport == "sse":
            streams = await stack.enter_async_context(sse_client(READY["servers"][server]["sse"]))
        else:
            if MAJOR >= 2:
                from mcp.client.streamable_http import streamable_http_client as client
            else:
                from mcp.client.streamable_http import streamablehttp_client as client
            streams = await stack.enter_async_context(client(READY["servers"][server]["mcp"]))
        session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
        await session.initialize()
        yield session


@asynccontextmanager
async def fastmcp_session(server, transport):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    if transport == "stdio":
        target = StdioTransport(PROGRAM, [SUBCOMMAND[server]], env=stdio_environment())
    else:
        target = READY["servers"][server]["sse" if transport == "sse" else "mcp"]
    async with Client(target) as client:
        yield client


class Server:
    """One server through one client: calls answer the parsed JSON and whether it is an error."""

    def __init__(self, session):
        self.session = session

    async def tools(self):
        answer = await self.session.list_tools()
        return answer if FASTMCP else answer.tools

    async def call(self, tool, **arguments):
        if FASTMCP:
            answer = await self.session.call_tool(tool, arguments, raise_on_error=False)
        else:
            answer = await self.session.call_tool(tool, arguments)
        is_error = getattr(answer, "is_error", None)
        if is_error is None:
            is_error = answer.isError
        structured = getattr(answer, "structured_content", None)
        if structured is None:
            structured = getattr(answer, "structuredContent", None)
        text = answer.content[0].text
        value = json.loads(text)
        expect(structured == value, f"{tool}: structured content is the same JSON as the text")
        expect(isinstance(value.get("ok"), bool), f"{tool}: the answer says ok")
        return value, bool(is_error), text


def expect(fact, words):
    if not fact:
        raise AssertionError(words)


async def until(words, probe):
    """Asks again until the probe answers something true; fails after the deadline."""
    start = time.monotonic()
    last = None
    while time.monotonic() - start < DEADLINE_S:
        last = await probe()
        if last[0]:
            return last[1]
        await asyncio.sleep(0.1)
    raise AssertionError(f"{words} not within {DEADLINE_S:.0f} s; last answer: {json.dumps(last[1])[:600]}")


async def stop_everything(skills):
    running, _, _ = await skills.call("list_running_skills")
    for skill in running["skills"]:
        await skills.call("stop_skill", skill_id=skill["skill_id"])


async def find_the_can(skills, perception):
    answer, is_error, text = await skills.call("instantiate_skill", template="find_object", params={"query": "red can"})
    expect(not is_error and answer["ok"], f"instantiate_skill: {text}")
    wanted = (
        '{"ok":true,"skill_id":"find_object","name":"find_object","topic":"/vision/find_object/detections",'
        '"semantic_topics":["/vision/find_object/found"]}'
    )
    expect(text == wanted, f"instantiate_skill answers {wanted}, not {text}")

    async def seen():
        latest, _, _ = await perception.call("get_latest", skill="find_object")
        found = latest.get("outputs", {}).get("found", {})
        return bool(latest["ok"] and latest["detections"] and found.get("value") is True and not latest["stale"]), latest

    latest = await until("a fresh detection of the red can", seen)
    can = latest["detections"][0]
    expect(can["label"] == "red can", f"the label is the asked phrase, not {can['label']!r}")
    expect(len(can["box"]) == 4 and all(isinstance(value, int) for value in can["box"]), f"box {can['box']}")
    expect(0.0 < can["score"] <= 1.0, f"score {can['score']}")
    expect({"x", "y", "z", "frame"} <= set(can["point"]), f"point {can.get('point')}")
    expect(can["mask_ref"] == {"topic": "/vision/find_object/detections", "stamp": latest["stamp"]}, f"{can['mask_ref']}")
    expect("age_s" in latest["outputs"]["found"], "an output carries its age")
    expect("base64" not in json.dumps(latest) and "data" not in can, "no pixels over MCP")

    second, _, text = await skills.call("instantiate_skill", template="find_object", params={"query": "blue box"})
    expect(second["skill_id"] == "find_object_2", f"the second gets _2: {text}")
    snapshot, _, _ = await perception.call("what_do_you_see")
    expect("red can" in snapshot["text"], f"what_do_you_see tells of the can: {snapshot['text']}")
    for skill in ("find_object", "find_object_2"):
        stopped, is_error, text = await skills.call("stop_skill", skill_id=skill)
        expect(stopped["ok"] and not is_error, f"stop_skill: {text}")

    async def gone():
        streams, _, _ = await perception.call("list_streams")
        return not any("find_object" in stream["topic"] for stream in streams["streams"]), streams

    await until("the stopped skill's topics gone from list_streams", gone)


async def faults(skills, perception):
    answer, is_error, text = await skills.call("stop_skill", skill_id="find_object")
    expect(is_error and not answer["ok"] and answer["error"]["next"], f"stopping a stopped skill: {text}")
    answer, is_error, text = await skills.call("instantiate_skill", template="no_such", params={})
    expect(is_error and "find_object" in text, f"an unknown template names the known ones: {text}")
    answer, is_error, text = await skills.call("instantiate_skill", template="find_object", params={})
    expect(is_error and "query" in text, f"a missing parameter is named: {text}")
    answer, _, text = await perception.call("get_latest", skill="no_such")
    expect(not answer["ok"] and isinstance(answer["known"], list), f"an unknown skill: {text}")
    answer, is_error, text = await skills.call("list_skill_templates", response_text="Let me look.", colour="red")
    expect(answer["ok"] and any("colour" in warning for warning in answer["warnings"]), f"unknown arguments warn: {text}")
    expect(not any("response_text" in warning for warning in answer["warnings"]), f"response_text is ignored: {text}")


async def flow(transport):
    connect = fastmcp_session if FASTMCP else sdk_session
    async with connect("skill_control", transport) as one, connect("perception", transport) as two:
        skills, perception = Server(one), Server(two)
        names = {tool.name for tool in await skills.tools()} | {tool.name for tool in await perception.tools()}
        expect(len(names) == 10, f"six tools and four: {sorted(names)}")

        async def connected():
            answer, _, _ = await skills.call("list_running_skills")
            return answer["ok"], answer

        await until("the bus connected", connected)
        await stop_everything(skills)
        await find_the_can(skills, perception)
        await faults(skills, perception)


def main():
    client = f"fastmcp {metadata.version('fastmcp')}" if FASTMCP else f"mcp {metadata.version('mcp')}"
    for transport in ("stdio", "http", "sse"):
        start = time.monotonic()
        asyncio.run(asyncio.wait_for(flow(transport), 4 * DEADLINE_S))
        print(f"ok   {client} over {transport} ({time.monotonic() - start:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
