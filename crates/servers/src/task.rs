//! A task service as anyone might write one: a closed loop over a robot's own tools, behind one tool of its own.

use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_mcp::{CallContext, Identity, Progress, Readiness, ToolServer};
use cerebellum_wire::tools::task::{self as words, grasp};
use cerebellum_wire::{ToolError, ToolOutcome, ToolSpec, arguments};
use serde_json::{Map, Value, json};

/// How often the fingers close before it is given up.
const ATTEMPTS_MAX: u32 = 3;

/// The tools of the robot's other servers, as this one calls them.
#[async_trait]
pub trait RobotTools: Send + Sync {
    /// Calls a tool and answers its object. Dropping the future cancels the call, which stops a motion. The error says
    /// which server is away and what to do.
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: &dyn Progress,
    ) -> Result<Map<String, Value>, String>;
    /// The tools that it lacks of those asked for; empty when all is there.
    async fn missing(&self, tools: &[&'static str]) -> Vec<String>;
}

/// The tools that taking a thing needs.
pub const NEEDS: [&str; 4] = ["locate_3d", "grasp_pose", "pick", "go_to_stance"];

/// The `task` server.
pub struct Server {
    tools: Arc<dyn RobotTools>,
    specs: Vec<ToolSpec>,
}

impl Server {
    /// A server over the tools of a robot.
    pub fn new(tools: Arc<dyn RobotTools>) -> Self {
        Self { tools, specs: words::specs() }
    }

    async fn grasp(&self, given: grasp::Arguments, context: &CallContext) -> ToolOutcome {
        let mut attempt = Attempt {
            tools: self.tools.as_ref(),
            progress: context.progress.as_ref(),
            answer: grasp::Answer { side: given.side.clone(), ..grasp::Answer::default() },
        };
        let taken = context.cancelled.run_until_cancelled(attempt.take(&given.object, given.side.as_deref())).await;
        match taken {
            Some(Ok(())) => ToolOutcome::done(&attempt.answer),
            Some(Err(Trouble::Outcome(code, message, next))) => {
                ToolOutcome::declined(&ToolError::new(code, message, next), &attempt.answer)
            }
            Some(Err(Trouble::Unable(message))) => {
                let next =
                    "Check that the servers this one was started with run; then look with get_state what is held.";
                ToolOutcome::failed(&ToolError::new("tools_unavailable", message, next), &attempt.answer)
            }
            None => {
                let error = ToolError::new(
                    "cancelled",
                    "the call was cancelled, and with it the motion that ran",
                    "Ask get_state what is held.",
                );
                ToolOutcome::declined(&error, &attempt.answer)
            }
        }
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Tasks", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, given: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        match tool {
            grasp::NAME => match arguments::parse(given) {
                Ok(given) => self.grasp(given, context).await,
                Err(error) => ToolOutcome::failed(&error, &()),
            },
            _ => ToolOutcome::failed(&crate::unknown_tool(tool, &self.specs), &()),
        }
    }

    async fn readiness(&self) -> Readiness {
        match self.tools.missing(&NEEDS).await {
            missing if missing.is_empty() => Readiness::Ready,
            missing => Readiness::NotReady(format!("no attached server has {}", missing.join(", "))),
        }
    }
}

/// Why nothing is held.
enum Trouble {
    /// The loop worked and the outcome is a no: code, message, next.
    Outcome(&'static str, String, &'static str),
    /// A tool could not be called.
    Unable(String),
}

/// One run of the loop, and what it can tell of itself so far.
struct Attempt<'a> {
    tools: &'a dyn RobotTools,
    progress: &'a dyn Progress,
    answer: grasp::Answer,
}

impl Attempt<'_> {
    /// Looks, measures, takes, checks; and again from a better stance or with the other arm.
    async fn take(&mut self, object: &str, wanted: Option<&str>) -> Result<(), Trouble> {
        let mut side = wanted.map(str::to_owned);
        let mut stood = false;
        while self.answer.attempts < ATTEMPTS_MAX {
            self.look(object).await?;
            let Some((grasp, arm)) = self.measure(object, side.as_deref()).await? else {
                if stood {
                    let message = format!("no arm reaches {object} from where the robot can stand");
                    return Err(Trouble::Outcome("unreachable", message, "Move it, or drive to another side of it."));
                }
                stood = true;
                self.stand(object, side.as_deref()).await?;
                continue;
            };
            self.answer.attempts += 1;
            self.answer.side = Some(arm.clone());
            let picked = self.call("pick", json!({"target": object, "grasp": grasp, "side": arm})).await?;
            if picked.get("held") == Some(&Value::Bool(true)) {
                self.step(format!("the {arm} hand holds it"));
                self.answer.held = true;
                return Ok(());
            }
            self.step(format!("the {arm} hand did not take it: {}", reason(&picked)));
            if code(&picked) == Some("stopped") {
                let message = "the robot is stopped until a person resumes it".to_owned();
                return Err(Trouble::Outcome("stopped", message, "Ask the operator to resume it."));
            }
            // A second try from the same stance with the same arm would only repeat the first.
            if self.answer.attempts.is_multiple_of(2) && wanted.is_none() {
                side = Some(other(&arm).to_owned());
            }
            self.stand(object, side.as_deref()).await?;
            stood = true;
        }
        let message = format!("{object} is not held after {ATTEMPTS_MAX} tries");
        Err(Trouble::Outcome("not_held", message, "Read `steps`; move the thing, or ask the operator to help."))
    }

    async fn look(&mut self, object: &str) -> Result<(), Trouble> {
        let located = self.call("locate_3d", json!({"query": object})).await?;
        if located.get("found") == Some(&Value::Bool(true)) {
            return Ok(());
        }
        self.step(format!("{object} is not in view"));
        let next = "Drive to where it is, or name it by colour and shape.";
        Err(Trouble::Outcome("not_found", format!("{object} is not in view: {}", reason(&located)), next))
    }

    /// The grasp and its arm, if an arm reaches it from here.
    async fn measure(&mut self, object: &str, side: Option<&str>) -> Result<Option<(Value, String)>, Trouble> {
        let mut arguments = json!({"target": object});
        if let Some(side) = side {
            arguments["side"] = json!(side);
        }
        let measured = self.call("grasp_pose", arguments).await?;
        let arm = measured.get("side").and_then(Value::as_str).or(side).unwrap_or("right").to_owned();
        match measured.get("grasp") {
            Some(grasp) if measured.get("reachable") == Some(&Value::Bool(true)) => Ok(Some((grasp.clone(), arm))),
            _ => {
                self.step(format!("no grasp from here: {}", reason(&measured)));
                Ok(None)
            }
        }
    }

    async fn stand(&mut self, object: &str, side: Option<&str>) -> Result<(), Trouble> {
        let located = self.call("locate_3d", json!({"query": object})).await?;
        let target = match (located.get("x"), located.get("y"), located.get("z")) {
            (Some(x), Some(y), Some(z)) => json!({"x": x, "y": y, "z": z, "frame": located.get("frame")}),
            _ => json!(object),
        };
        let mut arguments = json!({"target": target});
        if let Some(side) = side {
            arguments["side"] = json!(side);
        }
        let stood = self.call("go_to_stance", arguments).await?;
        let is_there = stood.get("ok") != Some(&Value::Bool(false));
        self.step(if is_there { "took a new stance".to_owned() } else { format!("no new stance: {}", reason(&stood)) });
        Ok(())
    }

    async fn call(&mut self, tool: &'static str, arguments: Value) -> Result<Map<String, Value>, Trouble> {
        let done = f64::from(self.answer.attempts);
        self.progress.report(done, Some(f64::from(ATTEMPTS_MAX)), tool);
        let Value::Object(arguments) = arguments else { unreachable!("every call above sends an object") };
        self.tools.call(tool, arguments, self.progress).await.map_err(Trouble::Unable)
    }

    fn step(&mut self, what: String) {
        self.progress.report(f64::from(self.answer.attempts), Some(f64::from(ATTEMPTS_MAX)), &what);
        self.answer.steps.push(what);
    }
}

fn other(side: &str) -> &'static str {
    if side == "left" { "right" } else { "left" }
}

fn code(answer: &Map<String, Value>) -> Option<&str> {
    answer.get("error")?.get("code")?.as_str()
}

/// Why, in the tool's own words.
fn reason(answer: &Map<String, Value>) -> String {
    let error = answer.get("error").and_then(|error| error.get("message"));
    let words = error.or_else(|| answer.get("reason")).and_then(Value::as_str);
    words.unwrap_or("the tool gave no reason").to_owned()
}

#[cfg(test)]
mod tests;
