// The flows of a planner from the TypeScript SDK, over every transport it has, against a running demo.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const ready = JSON.parse(readFileSync(process.env.CEREBELLUM_READY, "utf8"));
const subcommand = { skill_control: "skill-control", perception: "perception-buffer" };
const deadlineMs = 30_000;

function transportTo(server, kind) {
  if (kind === "http") return new StreamableHTTPClientTransport(new URL(ready.servers[server].mcp));
  if (kind === "sse") return new SSEClientTransport(new URL(ready.servers[server].sse));
  const env = { ...process.env, CEREBELLUM_ZENOH_ENDPOINT: ready.zenoh, XDG_STATE_HOME: `${process.env.CEREBELLUM_STATE}-stdio` };
  return new StdioClientTransport({ command: process.env.CEREBELLUM_BIN, args: [subcommand[server]], env, stderr: "ignore" });
}

async function attach(server, kind) {
  const client = new Client({ name: "flows", version: "1.0.0" });
  await client.connect(transportTo(server, kind));
  return {
    close: () => client.close(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => {
      const answer = await client.callTool({ name, arguments: args });
      const value = JSON.parse(answer.content[0].text);
      assert.deepEqual(answer.structuredContent, value, `${name}: structured content is the same JSON as the text`);
      return { value, isError: answer.isError === true, text: answer.content[0].text };
    },
  };
}

async function until(words, probe) {
  const end = Date.now() + deadlineMs;
  let last;
  while (Date.now() < end) {
    last = await probe();
    if (last.done) return last.value;
    await new Promise((resume) => setTimeout(resume, 100));
  }
  assert.fail(`${words} not within ${deadlineMs / 1000} s; last answer: ${JSON.stringify(last.value).slice(0, 600)}`);
}

async function flow(kind) {
  const skills = await attach("skill_control", kind);
  const perception = await attach("perception", kind);
  try {
    const tools = [...(await skills.tools()), ...(await perception.tools())];
    assert.equal(tools.length, 10, "six tools and four");
    for (const tool of tools) {
      assert.match(tool.name, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(tool.inputSchema.type, "object");
      assert.ok(!JSON.stringify(tool).includes('"$ref"'), `${tool.name}: no references`);
    }
    await until("the bus connected", async () => {
      const { value } = await skills.call("list_running_skills");
      return { done: value.ok, value };
    });
    for (const skill of (await skills.call("list_running_skills")).value.skills) {
      await skills.call("stop_skill", { skill_id: skill.skill_id });
    }
    const started = await skills.call("instantiate_skill", { template: "find_object", params: { query: "red can" } });
    assert.equal(started.value.topic, "/vision/find_object/detections", started.text);
    const latest = await until("a fresh detection of the red can", async () => {
      const { value } = await perception.call("get_latest", { skill: "find_object" });
      return { done: value.ok && value.detections.length > 0 && value.outputs.found?.value === true, value };
    });
    assert.equal(latest.detections[0].label, "red can");
    assert.deepEqual(latest.detections[0].mask_ref, { topic: latest.topic, stamp: latest.stamp });
    // An agent sometimes sends an object argument as text.
    const second = await skills.call("instantiate_skill", { template: "find_object", params: '{"query": "blue box"}' });
    assert.equal(second.value.skill_id, "find_object_2", second.text);
    for (const skill of ["find_object", "find_object_2"]) {
      const stopped = await skills.call("stop_skill", { skill_id: skill });
      assert.ok(stopped.value.ok && !stopped.isError, stopped.text);
    }
    const again = await skills.call("stop_skill", { skill_id: "find_object" });
    assert.ok(again.isError && !again.value.ok, again.text);
  } finally {
    await skills.close();
    await perception.close();
  }
}

for (const kind of ["stdio", "http", "sse"]) {
  const start = Date.now();
  await flow(kind);
  console.log(`ok   TypeScript SDK over ${kind} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}
process.exit(0);
