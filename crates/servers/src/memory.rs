//! Ways of doing things that the robot was taught. It keeps and finds them, and follows none.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{ProcessStore, StoreError, StoredProcess, WallClock};
use cerebellum_mcp::{CallContext, Identity, Readiness, ToolServer};
use cerebellum_wire::tools::memory::{
    self as words, ProcessAnswer, find_processes, forget_process, list_processes, record_outcome, save_process,
};
use cerebellum_wire::{Fault, ToolError, ToolOutcome, ToolSpec, arguments, text};
use serde_json::{Map, Value, json};

use crate::fitting;

/// Learned skill templates as files of skill-control's catalog.
pub mod export;
mod limits;
mod nearest;

/// How long one call may wait for the store: below the 30 s that clients wait.
const STORE_DEADLINE: Duration = Duration::from_secs(20);
/// How long `/readyz` waits for the store.
const READY_DEADLINE: Duration = Duration::from_secs(2);
/// The size of the processes in an answer, in bytes of compact JSON; leaves room for other writers' spaces below 20 kB.
const ANSWER_BYTES_MAX: usize = 15_000;
/// The longest description in a list, in characters.
const LISTED_CHARS_MAX: usize = 200;
/// How many processes a name is compared with when it is none, and how many of the nearest are told.
const COMPARED_MAX: usize = 1_000;
const NEAREST_MAX: usize = 8;
/// The source of what a client saves that did not say who it is.
const UNNAMED_CLIENT: &str = "an MCP client";

/// The `memory` server.
pub struct Server {
    store: Arc<dyn ProcessStore>,
    wall: Arc<dyn WallClock>,
    specs: Vec<ToolSpec>,
}

impl Server {
    /// A server over a store of processes. What is saved carries the name of the client that saved it.
    pub fn new(store: Arc<dyn ProcessStore>, wall: Arc<dyn WallClock>) -> Self {
        Self { store, wall, specs: words::specs() }
    }

    async fn find_processes(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let given: find_processes::Arguments = arguments::parse(given)?;
        let limit = limit(given.limit, find_processes::LIMIT_DEFAULT, find_processes::LIMIT_MAX)?;
        let found = self.store.find(&given.query, limit).await?;
        let total = found.len();
        let all = found.into_iter().map(|found| ProcessAnswer::new(found.stored, found.score));
        let processes = fitting(all, ANSWER_BYTES_MAX);
        let omitted = left_out(total - processes.len());
        Ok(ToolOutcome::done(&find_processes::Answer { processes, omitted }))
    }

    async fn save_process(&self, given: Map<String, Value>, context: &CallContext) -> Result<ToolOutcome, Failure> {
        let given: save_process::Arguments = arguments::parse(given)?;
        let caller = context.caller.name.as_str();
        let source = if caller.is_empty() { UNNAMED_CLIENT } else { caller };
        let process = limits::checked(given, text::cut(source)).map_err(|fault| arguments::bad(&fault))?;
        let StoredProcess { id, version, process, .. } = self.store.save(process).await?;
        Ok(ToolOutcome::done(&save_process::Answer { id, version, name: process.name }))
    }

    async fn list_processes(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let given: list_processes::Arguments = arguments::parse(given)?;
        let limit = limit(given.limit, list_processes::LIMIT_DEFAULT, list_processes::LIMIT_MAX)?;
        let skip = given.skip.unwrap_or(0);
        let (page, total) = self.store.list(skip, limit).await?;
        // Every entry is small against the room there is, so those that fit are the first ones and `skip` can go on.
        let processes = fitting(page.into_iter().map(listed), ANSWER_BYTES_MAX);
        let omitted = left_out(total.saturating_sub(skip.saturating_add(processes.len())));
        Ok(ToolOutcome::done(&list_processes::Answer { total, processes, omitted }))
    }

    async fn forget_process(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let given: forget_process::Arguments = arguments::parse(given)?;
        match self.store.forget(&given.id).await {
            Ok(StoredProcess { id, version, process, .. }) => {
                Ok(ToolOutcome::done(&forget_process::Answer { id, name: process.name, version, known: None }))
            }
            Err(error) => self.unknown(&given.id, error).await,
        }
    }

    async fn record_outcome(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let given: record_outcome::Arguments = arguments::parse(given)?;
        let note = limits::note(given.note.as_deref()).map_err(|fault| arguments::bad(&fault))?;
        match self.store.record(&given.id, given.ok, note).await {
            Ok(StoredProcess { id, process, successes, failures, .. }) => {
                let name = process.name;
                Ok(ToolOutcome::done(&record_outcome::Answer { id, name, successes, failures, known: None }))
            }
            Err(error) => self.unknown(&given.id, error).await,
        }
    }

    /// What to say of a process that is not there: which names come near.
    async fn unknown(&self, id: &str, error: StoreError) -> Result<ToolOutcome, Failure> {
        if !matches!(error, StoreError::Unknown { .. }) {
            return Err(error.into());
        }
        let found = self.store.find(id, NEAREST_MAX).await?;
        let (listed, _) = self.store.list(0, COMPARED_MAX).await?;
        let names = found.into_iter().map(|found| found.stored).chain(listed).map(|stored| stored.process.name);
        let known = nearest::nearest(id, names.collect(), NEAREST_MAX);
        let error = ToolError::new(
            "unknown_process",
            format!("there is no process {:?}", text::cut(id)),
            "Take a name from `known`, or an id that find_processes answers.",
        );
        Ok(ToolOutcome::declined(&error, &json!({"known": known})))
    }

    /// The work, unless its time is over or nobody waits for it any more. A write that was begun is undone then.
    async fn within(
        &self,
        deadline: Duration,
        context: &CallContext,
        work: impl Future<Output = Result<ToolOutcome, Failure>>,
    ) -> ToolOutcome {
        let answered = tokio::select! {
            answered = work => answered,
            () = context.cancelled.cancelled() => {
                Err(Failure(ToolError::new("cancelled", "the call was cancelled", "Call again.")))
            }
            () = self.wall.sleep(deadline) => Err(Failure(ToolError::new(
                "timed_out",
                format!("the store of processes did not answer within {} s", deadline.as_secs()),
                "Call again; if that stays so, look at the disk that the store is on.",
            ))),
        };
        answered.unwrap_or_else(|failure| ToolOutcome::failed(&failure.0, &()))
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Memory", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        let work = async {
            match tool {
                find_processes::NAME => self.find_processes(arguments).await,
                save_process::NAME => self.save_process(arguments, context).await,
                list_processes::NAME => self.list_processes(arguments).await,
                forget_process::NAME => self.forget_process(arguments).await,
                record_outcome::NAME => self.record_outcome(arguments).await,
                other => Err(crate::unknown_tool(other, &self.specs).into()),
            }
        };
        self.within(STORE_DEADLINE, context, work).await
    }

    async fn readiness(&self) -> Readiness {
        tokio::select! {
            listed = self.store.list(0, 1) => match listed {
                Ok(_) => Readiness::Ready,
                Err(error) => Readiness::NotReady(error.to_string()),
            },
            () = self.wall.sleep(READY_DEADLINE) => Readiness::NotReady("the store of processes does not answer".to_owned()),
        }
    }
}

/// Why a call could not be done.
struct Failure(ToolError);

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let next = "Call again; if that stays so, tell the operator. The task can be done without the memory.";
        Self(ToolError::new("store_unavailable", error.to_string(), next))
    }
}

fn limit(given: Option<usize>, default: usize, max: usize) -> Result<usize, ToolError> {
    match given.unwrap_or(default) {
        limit if (1..=max).contains(&limit) => Ok(limit),
        limit => Err(arguments::bad(&Fault::at("limit", format!("is {limit}, must be 1 to {max}")))),
    }
}

fn left_out(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

fn listed(stored: StoredProcess) -> list_processes::Listed {
    let StoredProcess { id, version, process, successes, failures, saved } = stored;
    list_processes::Listed {
        id,
        name: process.name,
        description: text::cut_to(&process.description, LISTED_CHARS_MAX),
        tags: process.tags,
        version,
        successes,
        failures,
        source: process.source,
        saved: saved.as_secs_micros(),
    }
}

#[cfg(test)]
mod tests;
