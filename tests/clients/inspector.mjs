// The MCP inspector on the command line lists and calls tools over every transport, against a running demo.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const packageFile = join(here, "node_modules/@modelcontextprotocol/inspector/package.json");
const bin = JSON.parse(readFileSync(packageFile, "utf8")).bin;
const inspector = join(dirname(packageFile), typeof bin === "string" ? bin : Object.values(bin)[0]);
const ready = JSON.parse(readFileSync(process.env.CEREBELLUM_READY, "utf8"));
const env = { ...process.env, CEREBELLUM_ZENOH_ENDPOINT: ready.zenoh, XDG_STATE_HOME: `${process.env.CEREBELLUM_STATE}-stdio` };

function inspect(target, ...words) {
  const output = execFileSync(process.execPath, [inspector, "--cli", ...target, ...words], { env, timeout: 60_000 });
  return JSON.parse(output.toString());
}

const targets = {
  stdio: [process.env.CEREBELLUM_BIN, "skill-control"],
  http: [ready.servers.skill_control.mcp, "--transport", "http"],
  sse: [ready.servers.skill_control.sse, "--transport", "sse"],
};
for (const [kind, target] of Object.entries(targets)) {
  const tools = inspect(target, "--method", "tools/list").tools.map((tool) => tool.name);
  assert.equal(tools.length, 6, `six tools over ${kind}: ${tools}`);
  const answer = inspect(target, "--method", "tools/call", "--tool-name", "list_skill_templates");
  const templates = JSON.parse(answer.content[0].text).templates.map((template) => template.name);
  assert.ok(templates.includes("find_object"), `the catalog over ${kind}: ${templates}`);
  console.log(`ok   inspector over ${kind}`);
}
