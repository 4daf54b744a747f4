//! The configuration: one root file, one line for each port, each line including the file of an adapter.
//!
//! Nothing is merged. Changing an adapter is changing one line; a deployment preset is another root file over the same
//! group files. Files on disk win over those the program carries. Everything is checked before anything starts.

mod document;
mod embedded;
mod environment;
mod fault;
mod interpolate;
mod node;
mod settings;
mod show;
mod source;
mod table;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

pub use embedded::{EmbeddedFile, find as embedded_file};
pub use environment::{DotenvError, Environment};
pub use fault::{ConfigFault, ConfigFaults};
pub use node::Place;
pub use settings::{
    Camera, Capability, Events, FolderCamera, Locate, Log, LogFormat, Memory, Pace, Robot, Ros, Ros2Robot, RosCamera,
    RouterRole, Settings, SimCamera, SimRobot, SkillControl, Vision, VisionNode, Zenoh, state_folder,
};
pub use show::Row;
pub use source::{Lookup, Resource, Root, locate};
pub use write::{Existing, InitError, init};

/// A configuration that was read and is sound.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// Where they were read.
    pub root: Root,
    /// The files that were read, the root first.
    pub files: Vec<Arc<str>>,
    /// Every value and where it stands; secrets redacted.
    pub rows: Vec<Row>,
}

/// Reads and checks the whole configuration. All faults are reported together, in the order of the files; only what YAML
/// itself refuses, or an include that cannot be read, is reported alone.
pub fn load(lookup: &Lookup<'_>) -> Result<Loaded, ConfigFaults> {
    let root = source::locate(lookup)?;
    load_root(root, lookup.working_folder, lookup.environment)
}

/// Reads and checks the configuration of a root that is already known, such as a preset of the program's own.
pub fn load_root(root: Root, working_folder: &Path, environment: &Environment) -> Result<Loaded, ConfigFaults> {
    let document = document::read(&root, environment)?;
    let findings = table::Findings::default();
    findings.faults.borrow_mut().extend(document.faults);
    let context = settings::Context { root: &root, working_folder, environment, findings: &findings };
    let settings = settings::read(&document.node, &context);
    let mut faults = findings.faults.into_inner();
    match settings {
        Some(settings) if faults.is_empty() => {
            let rows = show::rows(&document.node, &findings.secrets.into_inner());
            Ok(Loaded { settings, root, files: document.files, rows })
        }
        _ => {
            let order = |fault: &ConfigFault| {
                let place = fault.place.as_ref();
                let file = place.and_then(|place| document.files.iter().position(|file| *file == place.file));
                (file, place.map(|place| place.line))
            };
            faults.sort_by_key(order);
            Err(ConfigFaults(faults))
        }
    }
}
