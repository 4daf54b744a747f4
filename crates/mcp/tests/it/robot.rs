//! A small robot behind the port: what every test of this crate calls.

use std::time::Duration;

use async_trait::async_trait;
use cerebellum_mcp::{CallContext, Count, Identity, Readiness, ResourceSpec, ToolServer};
use cerebellum_wire::{ToolClass, ToolError, ToolOutcome, ToolSpec, arguments};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

/// How often a drive looks around.
const STEP: Duration = Duration::from_millis(10);

/// What tests watch from outside.
pub(crate) struct Robot {
    specs: Vec<ToolSpec>,
    /// Whether the robot moves.
    pub(crate) moving: watch::Sender<bool>,
    /// How the last call of `drive` or `wait` ended.
    pub(crate) ended: watch::Sender<Option<&'static str>>,
}

#[derive(Deserialize)]
struct Look {
    query: String,
    limit: Option<u32>,
    region: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Steps {
    steps: u32,
}

impl Default for Robot {
    fn default() -> Self {
        Self { specs: specs(), moving: watch::Sender::new(false), ended: watch::Sender::new(None) }
    }
}

impl Robot {
    /// Without its motion tool.
    pub(crate) fn standing() -> Self {
        let mut robot = Self::default();
        robot.specs.retain(|spec| spec.class != ToolClass::Motion);
        robot
    }

    async fn walk(&self, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        let steps = match arguments::parse::<Steps>(arguments) {
            Ok(Steps { steps }) => steps,
            Err(error) => return ToolOutcome::failed(&error, &()),
        };
        for step in 0..steps {
            if context.cancelled.is_cancelled() {
                self.ended.send_replace(Some("cancelled"));
                let error = ToolError::new("cancelled", "stopped on the way", "Call again to go on.");
                return ToolOutcome::declined(&error, &json!({"steps": step}));
            }
            context.progress.report(f64::from(step), Some(f64::from(steps)), "on the way");
            tokio::time::sleep(STEP).await;
        }
        self.ended.send_replace(Some("finished"));
        ToolOutcome::done(&json!({"steps": steps}))
    }
}

#[async_trait]
impl ToolServer for Robot {
    fn identity(&self) -> Identity {
        Identity { name: "robot", title: "A robot", instructions: "Look first, then drive.".to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    fn counts(&self) -> Vec<Count> {
        vec![Count { name: "steps", help: "Steps driven", value: 7 }]
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        match tool {
            "look" => match arguments::parse::<Look>(arguments) {
                Ok(look) => {
                    ToolOutcome::done(&json!({"query": look.query, "limit": look.limit, "region": look.region}))
                }
                Err(error) => ToolOutcome::failed(&error, &()),
            },
            "drive" => {
                self.moving.send_replace(true);
                let outcome = self.walk(arguments, context).await;
                self.moving.send_replace(false);
                outcome
            }
            "wait" => self.walk(arguments, context).await,
            "frame" => ToolOutcome::done(&json!({"picture": "x".repeat(30_000)})),
            "stuck" => std::future::pending().await,
            _ => panic!("this tool always panics"),
        }
    }

    fn resources(&self) -> &[ResourceSpec] {
        const {
            &[ResourceSpec {
                uri: "prompt://system",
                name: "system prompt",
                description: "How to use this robot",
                mime_type: "text/plain",
            }]
        }
    }

    async fn read_resource(&self, uri: &str) -> Option<String> {
        (uri == "prompt://system").then(|| "You drive a robot.".to_owned())
    }

    async fn readiness(&self) -> Readiness {
        if *self.moving.borrow() { Readiness::NotReady("the robot is busy".to_owned()) } else { Readiness::Ready }
    }
}

fn specs() -> Vec<ToolSpec> {
    let steps = json!({"type": "object", "properties": {"steps": {"type": "integer"}}, "required": ["steps"]});
    let look = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "region": {"type": "object", "properties": {}}
        },
        "required": ["query"]
    });
    let nothing = json!({"type": "object", "properties": {}});
    vec![
        spec("look", ToolClass::Read, look, true),
        spec("drive", ToolClass::Motion, steps.clone(), true),
        spec("wait", ToolClass::Read, steps, true),
        spec("frame", ToolClass::Read, nothing.clone(), false),
        spec("stuck", ToolClass::Read, nothing.clone(), true),
        spec("boom", ToolClass::Write, nothing, true),
    ]
}

fn spec(name: &'static str, class: ToolClass, input_schema: Value, structured: bool) -> ToolSpec {
    let answer = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    ToolSpec {
        name,
        title: name,
        description: "A tool of the test robot",
        class,
        blocking: class == ToolClass::Motion,
        input_schema,
        output_schema: structured.then_some(answer),
    }
}
