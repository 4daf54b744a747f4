use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_mcp::{CallContext, Count, Identity, Readiness, ToolServer};
use cerebellum_wire::tools::perception::{self as words, get_latest, get_overlay_ref, list_streams, what_do_you_see};
use cerebellum_wire::{ToolError, ToolOutcome, ToolSpec, arguments, text};
use serde_json::{Map, Value, json};

use super::answers;
use super::reconcile::Buffer;
use super::store::{Bus, View};

/// The most names of skills an error lists.
const KNOWN_MAX: usize = 100;

/// The `perception` server. Every answer comes from memory.
pub struct Server {
    buffer: Arc<Buffer>,
    specs: Vec<ToolSpec>,
}

impl Server {
    /// A server over a buffer that runs.
    pub fn new(buffer: Arc<Buffer>) -> Self {
        Self { buffer, specs: words::specs() }
    }

    fn what_do_you_see(&self) -> ToolOutcome {
        ToolOutcome::done(&answers::scene(self.buffer.store(), self.buffer.now()))
    }

    fn get_latest(&self, given: Map<String, Value>) -> Result<ToolOutcome, ToolOutcome> {
        let get_latest::Arguments { skill } = parse(given)?;
        let view = self.view(&skill)?;
        Ok(ToolOutcome::done(&answers::latest(&view, self.buffer.now())))
    }

    fn list_streams(&self, given: Map<String, Value>) -> Result<ToolOutcome, ToolOutcome> {
        let list_streams::Arguments { prefix, limit } = parse(given)?;
        let limit = limit.unwrap_or(list_streams::LIMIT_DEFAULT);
        let prefix = prefix.unwrap_or_default();
        Ok(ToolOutcome::done(&answers::streams(self.buffer.store(), &prefix, limit, self.buffer.now())))
    }

    fn get_overlay_ref(&self, given: Map<String, Value>) -> Result<ToolOutcome, ToolOutcome> {
        let get_overlay_ref::Arguments { skill } = parse(given)?;
        let view = self.view(&skill)?;
        let Some(answer) = answers::overlay_ref(&view, self.buffer.now()) else {
            let error = ToolError::new(
                "no_overlay",
                format!("skill {skill} has published no annotated picture yet"),
                "Call again after a second; if it stays so, check the skill with list_streams.",
            );
            return Err(ToolOutcome::declined(&error, &()));
        };
        Ok(ToolOutcome::done(&answer))
    }

    fn view(&self, skill: &str) -> Result<View, ToolOutcome> {
        self.buffer.store().view(skill).ok_or_else(|| {
            let shown = text::cut(skill);
            let known: Vec<String> =
                self.buffer.store().skills().iter().take(KNOWN_MAX).map(|name| text::cut(name)).collect();
            let error = ToolError::new(
                "unknown_skill",
                format!("no skill named {shown:?} runs or was seen lately"),
                "Take a name from `known`, or start the skill with instantiate_skill.",
            );
            ToolOutcome::failed(&error, &json!({"known": known}))
        })
    }

    /// Before the bus was reached for the first time there is nothing to answer from.
    fn check_bus(&self) -> Result<(), ToolOutcome> {
        let Bus::NotYet(reason) = self.buffer.store().bus() else { return Ok(()) };
        let error = ToolError::new(
            "bus_down",
            format!("the ROS bus is not connected yet: {reason}"),
            "Wait a few seconds and call again; if it stays so, tell the operator to check the ROS bus.",
        );
        Err(ToolOutcome::failed(&error, &()))
    }

    fn answer(&self, tool: &str, given: Map<String, Value>) -> Result<ToolOutcome, ToolOutcome> {
        if !self.specs.iter().any(|spec| spec.name == tool) {
            return Err(ToolOutcome::failed(&crate::unknown_tool(tool, &self.specs), &()));
        }
        self.check_bus()?;
        match tool {
            what_do_you_see::NAME => Ok(self.what_do_you_see()),
            get_latest::NAME => self.get_latest(given),
            list_streams::NAME => self.list_streams(given),
            _ => self.get_overlay_ref(given),
        }
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Perception", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, _context: &CallContext) -> ToolOutcome {
        self.buffer.first_reached().await;
        self.answer(tool, arguments).unwrap_or_else(|outcome| outcome)
    }

    async fn readiness(&self) -> Readiness {
        match answers::problems(self.buffer.store()).as_slice() {
            [] => Readiness::Ready,
            problems => Readiness::NotReady(problems.join("; ")),
        }
    }

    fn counts(&self) -> Vec<Count> {
        let (received, lost) = self.buffer.received_and_lost();
        vec![
            Count { name: "messages", help: "Messages of skills that came", value: received },
            Count { name: "messages_lost", help: "Messages of skills that were sent and did not come", value: lost },
        ]
    }
}

fn parse<T: serde::de::DeserializeOwned>(given: Map<String, Value>) -> Result<T, ToolOutcome> {
    arguments::parse(given).map_err(|error| ToolOutcome::failed(&error, &()))
}
