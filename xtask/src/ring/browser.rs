use anyhow::Result;

use super::tools::{Node, debian};
use crate::demo::Demo;

const NODE: Node = Node { folder: "tests/browser", name: "node-browser" };

pub(crate) fn missing(install: bool) -> Result<Option<String>> {
    if let Some(reason) = debian("chromium", "chromium", install)? {
        return Ok(Some(reason));
    }
    NODE.missing(install)
}

/// The demo's page in a real browser.
pub(super) fn run() -> Result<()> {
    let demo = Demo::start("browser", &[])?;
    demo.show(&mut NODE.run("page.mjs")?)
}

/// A screenshot of the page of a demo.
pub(crate) fn screenshot(demo: &Demo, file: &std::path::Path) -> Result<()> {
    let mut node = NODE.run("screenshot.mjs")?;
    node.arg(file);
    demo.show(&mut node)
}
