use std::time::Duration;

use anyhow::{Result, bail};

use crate::demo::Demo;
use crate::process::{root, show};
use crate::ring::browser;

/// Views of the simulated home that the README shows: file, and what the simulator is asked for.
const VIEWS: &[(&str, &[&str])] = &[
    ("home-head.png", &["--view", "head"]),
    ("home-room.png", &["--view", "room", "--width", "560", "--height", "420"]),
    ("home-person.png", &["--view", "person", "--width", "400", "--height", "300"]),
];

/// How long the person takes to walk in, amply.
const WALK: Duration = Duration::from_secs(15);

/// Renders the simulated home and takes a screenshot of the demo's page into `docs/pictures/`.
pub(crate) fn run() -> Result<bool> {
    let folder = root().join("docs/pictures");
    std::fs::create_dir_all(&folder)?;
    if let Some(reason) = browser::missing(true)? {
        bail!("the screenshot cannot be taken: {reason}");
    }
    let demo = Demo::start("pictures", &[])?;
    let control = demo.endpoint("control")?;
    let sim = |words: &[&str]| {
        let mut command = demo.command();
        command.arg("sim").args(words).args(["--control", &control]);
        command
    };
    show(&mut sim(&["scene", "person", "enter"]))?;
    #[allow(clippy::disallowed_methods, reason = "no async runtime here, nothing else waits")]
    std::thread::sleep(WALK);
    for (file, words) in VIEWS {
        show(sim(&["snapshot"]).arg(folder.join(file)).args(*words))?;
    }
    show(&mut sim(&["scene", "reset"]))?;
    browser::screenshot(&demo, &folder.join("page.jpg"))?;
    Ok(true)
}
