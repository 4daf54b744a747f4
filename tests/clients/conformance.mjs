// The protocol's own conformance scenarios against a fixture server built on the shipped transports. What the crate does not
// advertise stands in expected-failures files, each with its reason; a scenario that passes against its expectation fails too.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = process.cwd();
const fixture = join(root, "target/debug/examples/conformance_server");
const expected = (version) => join(root, `crates/mcp/conformance/expected-failures-${version}.yaml`);
const suite = (name) => join(here, "node_modules", name, "dist/index.js");

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

async function answers(url) {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    try {
      return await fetch(url.replace("/mcp", "/health"));
    } catch {
      await new Promise((resume) => setTimeout(resume, 50));
    }
  }
  throw new Error(`${url} does not answer`);
}

const port = await freePort();
const url = `http://127.0.0.1:${port}/mcp`;
const server = spawn(fixture, [String(port)], { stdio: "ignore" });
let failed = false;
try {
  await answers(url);
  const runs = [
    ["0.1.16", suite("conformance-stable"), ["--suite", "all"], "0.1.16"],
    ["0.2.0-alpha.12, 2025-11-25", suite("conformance-alpha"), ["--requirements", "2025-11-25"], "0.2.0-alpha.12"],
    ["0.2.0-alpha.12, 2026-07-28", suite("conformance-alpha"), ["--requirements", "2026-07-28"], "0.2.0-alpha.12"],
  ];
  for (const [index, [name, script, words, version]] of runs.entries()) {
    const out = join(here, `conformance-${index}`);
    mkdirSync(out, { recursive: true });
    const all = [script, "server", "--url", url, ...words, "--expected-failures", expected(version), "-o", out];
    const run = spawnSync(process.execPath, all, { encoding: "utf8", timeout: 600_000 });
    failed ||= run.status !== 0;
    if (run.status === 0) console.log(`ok   conformance ${name}`);
    else console.log(`FAIL conformance ${name}\n${run.stdout.slice(-4000)}\n${run.stderr.slice(-2000)}`);
  }
} finally {
  server.kill();
}
process.exit(failed ? 1 : 0);
