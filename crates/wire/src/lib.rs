//! Everything JSON that others read or write: skills, task lists, tools and their answers, events.
//!
//! The domain's words are in `cerebellum-core`; this crate is the only place that says how they look as JSON. It does no IO.
#![warn(missing_docs)]

/// Arguments of tool calls: repair, and reading them as a type.
pub mod arguments;
/// Templates of skills.
pub mod catalog;
/// The tools that robot and brain agree on: what `check` and the plan checker know of them.
pub mod contract;
/// Events that servers post to the brain.
pub mod event;
/// What is wrong with a piece of JSON, and where.
pub mod fault;
/// What LLM interfaces would refuse in a tool.
pub mod lint;
/// YAML that knows its lines.
pub mod located;
/// The text and the JSON of semantic outputs.
pub mod output;
/// The JSON of the robot's words, and of the link to a robot in another process.
pub mod robot;
/// JSON Schemas that every LLM interface takes.
pub mod schema;
/// The JSON of a skill.
pub mod skill;
/// The JSON of the vision node's task list.
pub mod tasks;
/// A caller's text inside messages.
pub mod text;
/// Tools: what a server offers an agent, and what a call answers.
pub mod tool;
/// The tools of each server: words, arguments and answers.
pub mod tools;

pub use fault::Fault;
pub use tool::{ToolClass, ToolError, ToolOutcome, ToolSpec};
