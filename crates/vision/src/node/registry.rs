use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cerebellum_core::{SkillName, Stamp};

use super::store::{Saved, Store};
use super::task::Task;

/// All skills, in order of creation, and their file.
pub(super) struct Registry {
    skills_max: usize,
    skills: Mutex<Skills>,
    /// Locked while the file is written, so that the newest list is written last.
    store: Option<Mutex<Store>>,
}

#[derive(Default)]
struct Skills {
    tasks: Vec<Arc<Task>>,
    /// Names that are being created.
    reserved: BTreeSet<SkillName>,
    last_created: Stamp,
}

/// Why a name cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("a skill {name} runs already; choose another name, or delete it first")]
    Runs { name: SkillName },
    #[error("{running} skills run already, which is the most ({limit}); delete one first")]
    Full { running: usize, limit: usize },
}

impl Registry {
    pub(super) fn new(skills_max: usize, store: Option<Store>) -> Self {
        Self { skills_max, skills: Mutex::default(), store: store.map(Mutex::new) }
    }

    /// Keeps the name until the answer is filled or dropped.
    pub(super) fn reserve(self: &Arc<Self>, name: &SkillName) -> Result<Reservation, Refusal> {
        let mut skills = self.lock();
        let taken = skills.reserved.contains(name) || skills.tasks.iter().any(|task| task.skill.name == *name);
        if taken {
            return Err(Refusal::Runs { name: name.clone() });
        }
        let running = skills.tasks.len() + skills.reserved.len();
        if running >= self.skills_max {
            return Err(Refusal::Full { running, limit: self.skills_max });
        }
        skills.reserved.insert(name.clone());
        Ok(Reservation { registry: Arc::clone(self), name: name.clone(), filled: false })
    }

    /// A stamp for a skill created now; no other skill has it, even while the clock stands still.
    pub(super) fn creation_stamp(&self, now: Stamp) -> Stamp {
        let mut skills = self.lock();
        let mut stamp = now;
        while stamp == skills.last_created || skills.tasks.iter().any(|task| task.created == stamp) {
            stamp = Stamp::from_nanos(stamp.nanos().saturating_add(1_000));
        }
        skills.last_created = stamp;
        stamp
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<Task>> {
        self.lock().tasks.iter().find(|task| task.skill.name.as_str() == name).cloned()
    }

    /// Ends this skill. Answers whether it was still there.
    pub(super) fn remove(&self, task: &Arc<Task>) -> bool {
        let mut skills = self.lock();
        let before = skills.tasks.len();
        skills.tasks.retain(|other| !Arc::ptr_eq(other, task));
        let removed = skills.tasks.len() < before;
        drop(skills);
        task.close();
        removed
    }

    pub(super) fn all(&self) -> Vec<Arc<Task>> {
        self.lock().tasks.clone()
    }

    /// Writes the list to its file, if there is one. Blocks.
    pub(super) fn save(&self) -> std::io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        let list: Vec<Saved> = self
            .all()
            .iter()
            .map(|task| Saved {
                skill: task.skill.clone(),
                enabled: task.is_enabled(),
                created: task.created,
                latched: task.latched(),
            })
            .collect();
        store.write(&list)
    }

    fn lock(&self) -> MutexGuard<'_, Skills> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name that is being created.
pub(super) struct Reservation {
    registry: Arc<Registry>,
    name: SkillName,
    filled: bool,
}

impl Reservation {
    /// The skill runs now.
    pub(super) fn fill(mut self, task: Arc<Task>) {
        self.filled = true;
        let mut skills = self.registry.lock();
        skills.reserved.remove(&self.name);
        skills.tasks.push(task);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.filled {
            self.registry.lock().reserved.remove(&self.name);
        }
    }
}
