use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cerebellum_core::name::folded;
use cerebellum_core::{Process, ProcessStore, RankedProcess, StoreError, StoredProcess, WallClock};

/// Processes in memory. Obeys the port's contract; ranks by the share of the query's words alone.
pub struct FakeProcesses {
    wall: Arc<dyn WallClock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Vec<StoredProcess>,
    made: usize,
    notes: Vec<String>,
    broken: Option<String>,
    hangs: bool,
}

impl FakeProcesses {
    /// An empty store, whose versions are stamped with `wall`.
    pub fn new(wall: Arc<dyn WallClock>) -> Self {
        Self { wall, state: Mutex::default() }
    }

    /// From now on every call answers that the store does not work, for this reason.
    pub fn break_down(&self, reason: &str) {
        self.with(|state| state.broken = Some(reason.to_owned()));
    }

    /// From now on no call answers.
    pub fn hang(&self) {
        self.with(|state| state.hangs = true);
    }

    /// The notes of all outcomes so far.
    pub fn notes(&self) -> Vec<String> {
        self.with(|state| state.notes.clone())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn answer<T>(&self, work: impl FnOnce(&mut State) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.with(|state| state.hangs) {
            std::future::pending::<()>().await;
        }
        self.with(|state| match &state.broken {
            Some(reason) => Err(StoreError::Unavailable { reason: reason.clone() }),
            None => work(state),
        })
    }
}

impl State {
    fn place(&self, id: &str) -> Result<usize, StoreError> {
        let by_id = self.kept.iter().position(|one| one.id == id);
        let found = by_id.or_else(|| self.kept.iter().position(|one| one.process.name == folded(id)));
        found.ok_or_else(|| StoreError::Unknown { id: id.to_owned() })
    }
}

#[async_trait]
impl ProcessStore for FakeProcesses {
    async fn save(&self, mut process: Process) -> Result<StoredProcess, StoreError> {
        process.name = folded(&process.name);
        let saved = self.wall.now();
        self.answer(|state| {
            if let Some(known) = state.kept.iter_mut().find(|one| one.process.name == process.name) {
                if !known.process.says_the_same_as(&process) {
                    *known = StoredProcess { version: known.version + 1, process, saved, ..known.clone() };
                }
                return Ok(known.clone());
            }
            state.made += 1;
            let id = format!("fake_{}", state.made);
            let stored = StoredProcess { id, version: 1, process, successes: 0, failures: 0, saved };
            state.kept.push(stored.clone());
            Ok(stored)
        })
        .await
    }

    async fn find(&self, query: &str, limit: usize) -> Result<Vec<RankedProcess>, StoreError> {
        let wanted = words(query);
        let name = folded(query);
        self.answer(|state| {
            let ranked = state.kept.iter().map(|stored| {
                let matched = if name.is_empty() || stored.process.name == name {
                    1.0
                } else {
                    let has = words_of(&stored.process);
                    wanted.intersection(&has).count() as f64 / wanted.len().max(1) as f64
                };
                RankedProcess { stored: stored.clone(), score: matched * merit(stored) }
            });
            let mut ranked: Vec<RankedProcess> = ranked.filter(|ranked| ranked.score > 0.0).collect();
            ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
            ranked.truncate(limit);
            Ok(ranked)
        })
        .await
    }

    async fn list(&self, skip: usize, limit: usize) -> Result<(Vec<StoredProcess>, usize), StoreError> {
        self.answer(|state| {
            let mut all = state.kept.clone();
            all.sort_by(|a, b| a.process.name.cmp(&b.process.name));
            Ok((all.into_iter().skip(skip).take(limit).collect(), state.kept.len()))
        })
        .await
    }

    async fn forget(&self, id: &str) -> Result<StoredProcess, StoreError> {
        self.answer(|state| Ok(state.kept.remove(state.place(id)?))).await
    }

    async fn record(&self, id: &str, worked: bool, note: Option<&str>) -> Result<StoredProcess, StoreError> {
        self.answer(|state| {
            let place = state.place(id)?;
            let stored = &mut state.kept[place];
            let count = if worked { &mut stored.successes } else { &mut stored.failures };
            *count += 1;
            let stored = stored.clone();
            state.notes.extend(note.map(str::to_owned));
            Ok(stored)
        })
        .await
    }
}

/// How often it is expected to work.
fn merit(stored: &StoredProcess) -> f64 {
    f64::from(stored.successes + 1) / f64::from(stored.successes + stored.failures + 2)
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn words_of(process: &Process) -> BTreeSet<String> {
    let texts = [&process.name, &process.description].into_iter().chain(&process.when);
    texts.chain(&process.steps).chain(&process.tags).flat_map(|text| words(text)).collect()
}

#[cfg(test)]
mod tests {
    use cerebellum_core::Stamp;

    use super::*;
    use crate::FakeClock;
    use crate::contract::processes;

    #[tokio::test]
    async fn the_fake_keeps_the_contract() {
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
        processes::check(&FakeProcesses::new(clock)).await;
    }
}
