use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cerebellum_core::{Skill, Stamp};
use cerebellum_wire::{Fault, skill};
use serde_json::{Value, json};
use tracing::warn;

use super::StartError;
use super::latched::Latched;

/// The version this program writes, and the only one it reads.
const VERSION: u64 = 1;
/// How many unreadable files are kept before the last is overwritten.
const ASIDE_MAX: usize = 10;

/// The skill list on disk: `{"version": 1, "skills": [{"created_ns", "enabled", "skill", "result"}]}`. A write replaces the file as a
/// whole, so a crash leaves the old list or the new one.
pub(super) struct Store {
    path: PathBuf,
}

/// A skill of the list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Saved {
    pub(super) skill: Skill,
    pub(super) enabled: bool,
    pub(super) created: Stamp,
    /// The one result of a skill that looks once.
    pub(super) latched: Option<Arc<Latched>>,
}

impl Store {
    /// Keeps the list in this file, whose folder is made if it is missing.
    pub(super) fn open(path: PathBuf) -> Result<Self, StartError> {
        let folder = folder_of(&path);
        match fs::create_dir_all(folder) {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(StartError::StateFile { path, source }),
        }
    }

    /// The list. A file that cannot be understood is moved aside, and a skill that cannot is left out, both with a warning;
    /// the file then stays beside as it was.
    pub(super) fn load(&self) -> Result<Vec<Saved>, StartError> {
        let text = match fs::read(&self.path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StartError::StateFile { path: self.path.clone(), source }),
        };
        let (saved, faults) = match read(&text) {
            Ok(read) => read,
            Err(fault) => (Vec::new(), vec![fault]),
        };
        if faults.is_empty() {
            return Ok(saved);
        }
        let aside = self.aside();
        fs::rename(&self.path, &aside).map_err(|source| StartError::StateFile { path: self.path.clone(), source })?;
        for fault in &faults {
            warn!(file = %self.path.display(), kept_as = %aside.display(), reason = %fault, "skill list not read whole");
        }
        if let Err(error) = self.write(&saved) {
            warn!(file = %self.path.display(), %error, "skill list not saved");
        }
        Ok(saved)
    }

    /// Replaces the list. Blocks until it is on disk.
    pub(super) fn write(&self, list: &[Saved]) -> io::Result<()> {
        let skills: Vec<Value> = list
            .iter()
            .map(|saved| {
                let skill = skill::to_value(&saved.skill);
                let mut entry = json!({"created_ns": saved.created.nanos(), "enabled": saved.enabled, "skill": skill});
                if let Some(latched) = &saved.latched {
                    entry["result"] = latched.to_value();
                }
                entry
            })
            .collect();
        let text = format!("{:#}\n", json!({"version": VERSION, "skills": skills}));
        let fresh = self.beside("new");
        let mut file = File::create(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, &self.path)?;
        File::open(folder_of(&self.path))?.sync_all()
    }

    fn aside(&self) -> PathBuf {
        let free = (1..ASIDE_MAX).map(|number| self.beside(&format!("unread.{number}"))).find(|path| !path.exists());
        free.unwrap_or_else(|| self.beside(&format!("unread.{ASIDE_MAX}")))
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The skills that can be understood, and what is wrong with the others.
fn read(text: &str) -> Result<(Vec<Saved>, Vec<Fault>), Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| Fault::at("", format!("not JSON: {error}")))?;
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return Err(Fault::at("version", format!("is {other}; this program reads {VERSION}"))),
        None => return Err(Fault::at("version", "is missing")),
    }
    let Some(entries) = value.get("skills").and_then(Value::as_array) else {
        return Err(Fault::at("skills", "is no list"));
    };
    let (mut saved, mut faults) = (Vec::<Saved>::with_capacity(entries.len()), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        let place = format!("skills[{index}]");
        match read_entry(entry) {
            Ok(entry) if saved.iter().any(|other| other.skill.name == entry.skill.name) => {
                faults.push(Fault::at(place, format!("{} stands twice; the first is used", entry.skill.name)));
            }
            Ok(entry) => saved.push(entry),
            Err(fault) => faults.push(fault.within(&place)),
        }
    }
    Ok((saved, faults))
}

fn read_entry(entry: &Value) -> Result<Saved, Fault> {
    let Some(skill) = entry.get("skill") else { return Err(Fault::at("skill", "is missing")) };
    let skill = skill::from_value(skill).map_err(|fault| fault.within("skill"))?;
    let Some(created) = entry.get("created_ns").and_then(Value::as_i64) else {
        return Err(Fault::at("created_ns", "is no whole number"));
    };
    let Some(enabled) = entry.get("enabled").and_then(Value::as_bool) else {
        return Err(Fault::at("enabled", "is neither true nor false"));
    };
    let latched = match entry.get("result") {
        None => None,
        Some(result) => {
            let latched = Latched::from_value(result, skill.name.as_str());
            Some(Arc::new(latched.map_err(|fault| fault.within("result"))?))
        }
    };
    Ok(Saved { skill, enabled, created: Stamp::from_nanos(created), latched })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(name: &str) -> Saved {
        let skill = skill::from_value(&json!({"name": name, "mode": "describe", "rate_hz": 0.3})).unwrap();
        Saved { skill, enabled: name != "off", created: Stamp::from_nanos(1_750_000_000_123_456_789), latched: None }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_list_reads_back_equal_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("deep/skills.json")).unwrap();
        assert_eq!(store.load().unwrap(), []);
        let list = [saved("on"), saved("off")];
        store.write(&[saved("before")]).unwrap();
        store.write(&list).unwrap();
        assert_eq!(store.load().unwrap(), list);
        assert_eq!(names(&folder.path().join("deep")), ["skills.json"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_kept_beside() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("skills.json")).unwrap();
        let texts: [&[u8]; 6] =
            [b"", b"{\"version\": 1, \"ski", b"[]", b"{\"version\": 2}", b"\xff\xfe", b"{\"version\":1}"];
        for text in texts {
            fs::write(&store.path, text).unwrap();
            assert_eq!(store.load().unwrap(), []);
            assert_eq!(store.load().unwrap(), [], "the next start reads a good file");
        }
        assert_eq!(fs::read(folder.path().join("skills.json.unread.2")).unwrap(), texts[1]);
        assert_eq!(names(folder.path()).len(), 1 + texts.len());
    }

    #[test]
    fn one_bad_skill_does_not_lose_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("skills.json")).unwrap();
        store.write(&[saved("first"), saved("second")]).unwrap();
        let mut value: Value = serde_json::from_slice(&fs::read(&store.path).unwrap()).unwrap();
        let good = value["skills"][0].clone();
        let mut bad_mode = good.clone();
        bad_mode["skill"]["mode"] = json!("paint");
        let more = [bad_mode, good, json!(7), json!({"skill": {"name": "x", "mode": "describe"}})];
        value["skills"].as_array_mut().unwrap().splice(1..1, more);
        let text = value.to_string();
        fs::write(&store.path, &text).unwrap();

        assert_eq!(store.load().unwrap(), [saved("first"), saved("second")]);
        assert_eq!(fs::read_to_string(folder.path().join("skills.json.unread.1")).unwrap(), text);
        assert_eq!(store.load().unwrap(), [saved("first"), saved("second")]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let Err(error) = Store::open(folder.path().join("file/skills.json")) else { panic!("a file is no folder") };
        assert!(error.to_string().contains("skills.json"), "{error}");
    }

    #[test]
    fn a_left_over_of_an_interrupted_write_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("skills.json")).unwrap();
        store.write(&[saved("kept")]).unwrap();
        fs::write(folder.path().join("skills.json.new"), "{\"vers").unwrap();
        assert_eq!(store.load().unwrap(), [saved("kept")]);
        store.write(&[saved("next")]).unwrap();
        assert_eq!(names(folder.path()), ["skills.json"]);
    }
}
