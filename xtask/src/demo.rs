use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{cargo, command, root, show};

/// How long a demo may take until it serves.
const READY_DEADLINE: Duration = Duration::from_secs(50);

/// The program under test, built if need be.
fn program() -> Result<PathBuf> {
    show(cargo().args(["build", "--locked"]))?;
    Ok(root().join("target/debug/cerebellum"))
}

/// A demo on free ports with a state folder of its own; stopped when dropped.
pub(crate) struct Demo {
    child: Child,
    folder: PathBuf,
}

impl Demo {
    /// Starts one and waits until it serves. `variables` are set for it alone.
    pub(crate) fn start(name: &str, variables: &[(&str, &str)]) -> Result<Self> {
        let program = program()?;
        let folder = root().join("target/rings").join(format!("demo-{name}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let log = std::fs::File::create(folder.join("demo.log"))?;
        let mut demo = Command::new(program);
        demo.args(["demo", "--ports", "0", "--ready-file"]).arg(folder.join("ready.json"));
        demo.current_dir(&folder).env("XDG_STATE_HOME", folder.join("state")).envs(variables.iter().copied());
        demo.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = demo.spawn().context("cannot start the demo")?;
        let mut demo = Self { child, folder };
        demo.wait_until_ready()?;
        Ok(demo)
    }

    /// The file with all endpoints.
    pub(crate) fn ready_file(&self) -> PathBuf {
        self.folder.join("ready.json")
    }

    /// One of the endpoints of the ready file.
    pub(crate) fn endpoint(&self, key: &str) -> Result<String> {
        let ready: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(self.ready_file())?)?;
        ready[key].as_str().map(str::to_owned).with_context(|| format!("the ready file has no {key}"))
    }

    /// The program, with the state folder of this demo.
    pub(crate) fn command(&self) -> Command {
        let mut command = command(root().join("target/debug/cerebellum"));
        command.env("XDG_STATE_HOME", self.folder.join("state"));
        command
    }

    /// Runs a command that finds the demo through `CEREBELLUM_READY` and the program through `CEREBELLUM_BIN`.
    pub(crate) fn show(&self, client: &mut Command) -> Result<()> {
        client.env("CEREBELLUM_READY", self.ready_file());
        client.env("CEREBELLUM_BIN", root().join("target/debug/cerebellum"));
        client.env("CEREBELLUM_STATE", self.folder.join("state"));
        show(client).with_context(|| format!("the demo's log is {}", self.folder.join("demo.log").display()))
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let start = Instant::now();
        while !complete(&self.ready_file()) {
            if let Some(status) = self.child.try_wait()? {
                bail!("the demo ended with {status}:\n{}", self.log());
            }
            if start.elapsed() > READY_DEADLINE {
                bail!("the demo does not serve after {} s:\n{}", READY_DEADLINE.as_secs(), self.log());
            }
            #[allow(clippy::disallowed_methods, reason = "no async runtime here, nothing else waits")]
            std::thread::sleep(Duration::from_millis(50));
        }
        println!("  demo ready after {:.1} s", start.elapsed().as_secs_f64());
        Ok(())
    }

    fn log(&self) -> String {
        let mut text = String::new();
        if let Ok(mut file) = std::fs::File::open(self.folder.join("demo.log")) {
            // What cannot be read is only missing from an error message.
            drop(file.read_to_string(&mut text));
        }
        text
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let asked = command("kill").arg(self.child.id().to_string()).status().is_ok_and(|status| status.success());
        let start = Instant::now();
        while asked && start.elapsed() < Duration::from_secs(10) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            #[allow(clippy::disallowed_methods, reason = "no async runtime here, nothing else waits")]
            std::thread::sleep(Duration::from_millis(50));
        }
        eprintln!("xtask: the demo did not stop when asked and is killed");
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn complete(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.trim_end().ends_with('}'))
}
