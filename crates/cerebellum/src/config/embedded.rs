/// A file of `config/` as it was when the program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// Its path below `config/`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),+ $(,)?) => {
        &[$(EmbeddedFile { name: $name, text: include_str!(concat!("../../../../config/", $name)) }),+]
    };
}

/// The shipped configuration: what an installed program uses when there is no file.
pub(super) const FILES: &[EmbeddedFile] = embedded![
    "config.yaml",
    "buffer.yaml",
    "camera/folder.yaml",
    "camera/ros.yaml",
    "camera/sim.yaml",
    "deployment/demo.yaml",
    "deployment/robot.yaml",
    "deployment/test.yaml",
    "memory/sqlite.yaml",
    "robot/none.yaml",
    "robot/ros2.yaml",
    "robot/sim.yaml",
    "ros/mem.yaml",
    "ros/zenoh.yaml",
    "services/capability.yaml",
    "services/events.yaml",
    "services/locate.yaml",
    "services/log.yaml",
    "services/skill_control.yaml",
    "services/vision_node.yaml",
    "skills.yaml",
    "vision/geometry.yaml",
    "vision/ground_truth.yaml",
    "vision/things.yaml",
];

/// The shipped file of a name.
pub fn find(name: &str) -> Option<EmbeddedFile> {
    FILES.iter().copied().find(|file| file.name == name)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_shipped_file_is_in_the_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
        let mut found = Vec::new();
        walk(&root, &mut found);
        for path in found.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml")) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            assert!(find(name).is_some(), "{name} is not embedded");
        }
    }
}
