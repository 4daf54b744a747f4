use anyhow::{Result, bail};

use crate::demo::{self, Demo};
use crate::process::{command, root, show};
use crate::ring::browser;

/// Views of the simulated home that the README shows: file and what the simulator is asked for.
const VIEWS: &[(&str, &str)] = &[("home-head.png", "head"), ("home-room.png", "room"), ("home-person.png", "person")];

/// Renders the simulated home and takes a screenshot of the demo's page into `docs/pictures/`.
pub(crate) fn run() -> Result<bool> {
    let folder = root().join("docs/pictures");
    std::fs::create_dir_all(&folder)?;
    let program = demo::program()?;
    for (file, view) in VIEWS {
        show(command(&program).args(["sim", "snapshot"]).arg(folder.join(file)).args(["--view", view]))?;
    }
    if let Some(reason) = browser::missing(true)? {
        bail!("the screenshot cannot be taken: {reason}");
    }
    let demo = Demo::start("pictures", &[])?;
    browser::screenshot(&demo, &folder.join("page.png"))?;
    Ok(true)
}
