use anyhow::Result;

use super::tools::{Node, Python};
use crate::demo::Demo;
use crate::process::{cargo, show};

/// The last release of the first major version of the Python SDK, which most robots' scripts still use.
const MCP_1: Python = Python { name: "python-mcp-1", requirements: "tests/clients/requirements-mcp-1.txt" };
const MCP_2: Python = Python { name: "python-mcp-2", requirements: "tests/clients/requirements-mcp-2.txt" };
const FASTMCP: Python = Python { name: "python-fastmcp", requirements: "tests/clients/requirements-fastmcp.txt" };
const NODE: Node = Node { folder: "tests/clients", name: "node-clients" };

pub(super) fn missing(install: bool) -> Result<Option<String>> {
    for python in [MCP_1, MCP_2, FASTMCP] {
        if let Some(reason) = python.missing(install)? {
            return Ok(Some(reason));
        }
    }
    NODE.missing(install)
}

/// The same flows from each client over each transport it has, signed events read by a public library, a faulty robot whose
/// faults are all named, and the conformance scenarios of the protocol.
pub(super) fn run() -> Result<()> {
    let demo = Demo::start("clients", &[])?;
    for python in [MCP_1, MCP_2, FASTMCP] {
        demo.show(&mut python.run("tests/clients/flows.py"))?;
    }
    demo.show(&mut NODE.run("flows.mjs")?)?;
    demo.show(&mut NODE.run("inspector.mjs")?)?;
    drop(demo);
    show(&mut MCP_2.run("tests/clients/events.py"))?;
    show(&mut MCP_1.run("tests/clients/check.py"))?;
    conformance()
}

fn conformance() -> Result<()> {
    show(cargo().args(["build", "--locked", "--workspace", "--example", "conformance_server"]))?;
    show(&mut NODE.run("conformance.mjs")?)
}
