//! Templates and params in, running skills out. It configures and never reads results.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{CreatedTask, Skill, SkillName, TaskAction, TaskError, TaskInfo, VisionTasks, WallClock};
use cerebellum_mcp::{CallContext, Identity, Readiness, ToolServer};
use cerebellum_wire::catalog::FillError;
use cerebellum_wire::skill::WatchJson;
use cerebellum_wire::tools::skill_control::{
    self as words, instantiate_raw_skill, instantiate_skill, list_running_skills, list_skill_templates,
    set_skill_enabled, stop_skill,
};
use cerebellum_wire::{ToolError, ToolOutcome, ToolSpec, arguments, skill, text};
use serde_json::{Map, Value, json};

use self::budget::{Budget, CallError};
pub use self::catalogs::{CatalogError, Catalogs};
use self::names::Names;
use crate::fitting;

mod budget;
mod catalogs;
mod names;

/// How long one call may wait for the vision node, unless told: below the 30 s that clients wait.
pub const SERVICE_DEADLINE_DEFAULT: Duration = Duration::from_secs(25);
/// How long `/readyz` waits for the vision node.
const READY_DEADLINE: Duration = Duration::from_secs(2);
/// How often a name is chosen anew because somebody else took it meanwhile.
const NAME_ATTEMPTS: usize = 8;
/// The size of a list, in bytes of compact JSON; leaves room for other writers' spaces below 20 kB.
const ANSWER_BYTES_MAX: usize = 15_000;
/// The size of the problems beside a list, in bytes.
const PROBLEMS_BYTES_MAX: usize = 2_000;
/// The longest problem, in characters.
const PROBLEM_CHARS_MAX: usize = 400;
/// The most names an error lists.
const KNOWN_MAX: usize = 100;
/// The most notes of the node that are passed on, and the longest, in characters.
const NOTES_MAX: usize = 8;
const NOTE_CHARS_MAX: usize = 300;

/// The `skill_control` server.
pub struct Server {
    tasks: Arc<dyn VisionTasks>,
    catalogs: Catalogs,
    wall: Arc<dyn WallClock>,
    service_deadline: Duration,
    names: Names,
    specs: Vec<ToolSpec>,
}

impl Server {
    /// A server over a vision node's tasks. One tool call waits at most `service_deadline` for the node in all.
    pub fn new(
        tasks: Arc<dyn VisionTasks>,
        catalogs: Catalogs,
        wall: Arc<dyn WallClock>,
        service_deadline: Duration,
    ) -> Self {
        Self { tasks, catalogs, wall, service_deadline, names: Names::default(), specs: words::specs() }
    }

    fn list_skill_templates(&self) -> ToolOutcome {
        let catalog = self.catalogs.current();
        let all = catalog.templates().iter().map(|template| list_skill_templates::Template {
            name: template.name.clone(),
            description: template.description.clone(),
            params: template.params.clone(),
        });
        let templates = fitting(all, ANSWER_BYTES_MAX);
        let left_out = catalog.templates().len() - templates.len();
        let told = catalog.faults().iter().map(|fault| text::cut_to(&fault.to_string(), PROBLEM_CHARS_MAX));
        let mut problems = fitting(told, PROBLEMS_BYTES_MAX);
        let untold = catalog.faults().len() - problems.len();
        if untold > 0 {
            problems.push(format!("and {untold} more problems"));
        }
        let omitted = (left_out > 0).then_some(left_out);
        ToolOutcome::done(&list_skill_templates::Answer { templates, omitted, problems })
    }

    async fn list_running_skills(&self, budget: &Budget<'_>) -> Result<ToolOutcome, Failure> {
        let tasks = budget.run("list_vision_tasks", |deadline| self.tasks.list(deadline)).await?;
        let total = tasks.len();
        let skills = fitting(tasks.iter().map(running_skill), ANSWER_BYTES_MAX);
        let omitted = (skills.len() < total).then(|| total - skills.len());
        Ok(ToolOutcome::done(&list_running_skills::Answer { skills, omitted }))
    }

    async fn instantiate_skill(&self, given: Map<String, Value>, budget: &Budget<'_>) -> Result<ToolOutcome, Failure> {
        let given: instantiate_skill::Arguments = arguments::parse(given)?;
        let skill =
            self.catalogs.current().fill(&given.template, &given.params).map_err(|error| refused_fill(&error))?;
        self.start(skill, budget).await
    }

    async fn instantiate_raw_skill(
        &self,
        given: Map<String, Value>,
        budget: &Budget<'_>,
    ) -> Result<ToolOutcome, Failure> {
        let given: instantiate_raw_skill::Arguments = arguments::parse(given)?;
        let skill = skill::from_value(&given.skill).map_err(|fault| {
            let fault = fault.within("skill");
            ToolError::new("bad_skill", fault.to_string(), "Correct the named part of the skill and call again.")
        })?;
        self.start(skill, budget).await
    }

    /// Starts the skill under a free name. The node has the last word on names: when it refuses one that somebody else took
    /// meanwhile, another is chosen.
    async fn start(&self, skill: Skill, budget: &Budget<'_>) -> Result<ToolOutcome, Failure> {
        let wanted = skill.name.clone();
        let mut running = self.running(budget).await?;
        let mut skill = skill;
        for _ in 0..NAME_ATTEMPTS {
            let claim = self.names.claim(&wanted, &running);
            skill.name = claim.name().clone();
            match budget.run("create_vision_task", |deadline| self.tasks.create(&skill, deadline)).await {
                Ok(created) => return Ok(ToolOutcome::done(&started(&skill, created))),
                Err(CallError::Task(error @ TaskError::Refused { .. })) => {
                    running = self.running(budget).await?;
                    if !running.iter().any(|name| name == claim.name().as_str()) {
                        return Err(CallError::Task(error).into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ToolError::new(
            "name_taken",
            format!("others took every name tried for {wanted}, {NAME_ATTEMPTS} times in a row"),
            "Call again.",
        )
        .into())
    }

    async fn stop_skill(&self, given: Map<String, Value>, budget: &Budget<'_>) -> Result<ToolOutcome, Failure> {
        let stop_skill::Arguments { skill_id } = arguments::parse(given)?;
        self.manage(&skill_id, TaskAction::Delete, budget).await?;
        Ok(ToolOutcome::done(&stop_skill::Answer { skill_id, known: None }))
    }

    async fn set_skill_enabled(&self, given: Map<String, Value>, budget: &Budget<'_>) -> Result<ToolOutcome, Failure> {
        let set_skill_enabled::Arguments { skill_id, enabled } = arguments::parse(given)?;
        let action = if enabled { TaskAction::Enable } else { TaskAction::Disable };
        self.manage(&skill_id, action, budget).await?;
        Ok(ToolOutcome::done(&set_skill_enabled::Answer { skill_id, enabled, known: None }))
    }

    async fn manage(&self, skill_id: &str, action: TaskAction, budget: &Budget<'_>) -> Result<(), Failure> {
        let managed = budget.run("manage_vision_task", |deadline| self.tasks.manage(skill_id, action, deadline)).await;
        let Err(error) = managed else { return Ok(()) };
        if !matches!(error, CallError::Task(TaskError::Refused { .. })) {
            return Err(error.into());
        }
        // The node's words differ between nodes; its list tells for certain whether the name is the reason.
        match self.running(budget).await {
            Ok(known) if !known.iter().any(|name| name == skill_id) => Err(unknown_skill(skill_id, &known)),
            Ok(_) | Err(_) => Err(error.into()),
        }
    }

    async fn running(&self, budget: &Budget<'_>) -> Result<Vec<String>, CallError> {
        let tasks = budget.run("list_vision_tasks", |deadline| self.tasks.list(deadline)).await?;
        Ok(tasks.into_iter().map(|task| task.name).collect())
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Skill control", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        let budget = Budget::begin(self.wall.as_ref(), self.service_deadline, &context.cancelled);
        let answered = match tool {
            list_skill_templates::NAME => Ok(self.list_skill_templates()),
            list_running_skills::NAME => self.list_running_skills(&budget).await,
            instantiate_skill::NAME => self.instantiate_skill(arguments, &budget).await,
            instantiate_raw_skill::NAME => self.instantiate_raw_skill(arguments, &budget).await,
            stop_skill::NAME => self.stop_skill(arguments, &budget).await,
            set_skill_enabled::NAME => self.set_skill_enabled(arguments, &budget).await,
            other => Err(crate::unknown_tool(other, &self.specs).into()),
        };
        answered.unwrap_or_else(|failure| ToolOutcome::failed(&failure.error, &failure.details))
    }

    async fn readiness(&self) -> Readiness {
        let never = tokio_util::sync::CancellationToken::new();
        let budget = Budget::begin(self.wall.as_ref(), READY_DEADLINE, &never);
        match budget.run("list_vision_tasks", |deadline| self.tasks.list(deadline)).await {
            Ok(_) => Readiness::Ready,
            Err(error) => Readiness::NotReady(ToolError::from(error).message),
        }
    }
}

/// Why a call failed, with what belongs beside the error.
struct Failure {
    error: ToolError,
    details: Value,
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self { error, details: Value::Null }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        ToolError::from(error).into()
    }
}

fn unknown_skill(skill_id: &str, known: &[String]) -> Failure {
    let shown = text::cut(skill_id);
    let error = ToolError::new(
        "unknown_skill",
        format!("no skill named {shown:?} runs; it may have been stopped already"),
        "Take a skill_id from `known`, or call list_running_skills.",
    );
    Failure { error, details: shown_names(known) }
}

fn shown_names(known: &[String]) -> Value {
    let shown: Vec<String> = known.iter().take(KNOWN_MAX).map(|name| text::cut(name)).collect();
    json!({"known": shown})
}

fn refused_fill(error: &FillError) -> Failure {
    let message = error.to_string();
    match error {
        FillError::UnknownTemplate { known, .. } => Failure {
            error: ToolError::new(
                "unknown_template",
                message,
                "Take a name from `known`, or call list_skill_templates.",
            ),
            details: shown_names(known),
        },
        FillError::MissingParams { known, .. } | FillError::UnknownParams { known, .. } => Failure {
            error: ToolError::new("bad_params", message, "Give exactly the params in `known`, each as plain text."),
            details: shown_names(known),
        },
        FillError::BadValue { .. } => {
            ToolError::new("bad_params", message, "Give the param as one line of plain text and call again.").into()
        }
        FillError::BadSkill { .. } => ToolError::new("bad_skill", message, "Change the params and call again.").into(),
    }
}

fn started(skill: &Skill, created: CreatedTask) -> instantiate_skill::Answer {
    let name = if created.name.is_empty() { skill.name.to_string() } else { created.name };
    let lines = created.message.lines().map(str::trim).filter(|line| !line.is_empty());
    let notes = lines.take(NOTES_MAX).map(|line| text::cut_to(line, NOTE_CHARS_MAX)).collect();
    let (topic, semantic_topics) = match created.topics.split_first() {
        Some((topic, rest)) => {
            (topic.clone(), rest.iter().filter(|topic| !topic.ends_with("/overlay")).cloned().collect())
        }
        None => (skill.detections_topic(), skill.semantic_topics()),
    };
    instantiate_skill::Answer { skill_id: name.clone(), name, topic, semantic_topics, notes }
}

fn running_skill(task: &TaskInfo) -> list_running_skills::RunningSkill {
    list_running_skills::RunningSkill {
        skill_id: task.name.clone(),
        name: task.name.clone(),
        topic: task.topic.clone(),
        enabled: task.enabled,
        semantic_topics: task.semantic_topics.clone(),
        watch: task.skill.as_ref().and_then(|skill| skill.watch.as_ref()).map(WatchJson::from),
        engine: task.engine.clone(),
        notes: task.notes.clone(),
        error: task.error.clone(),
        spend: task.spend.map(|spend| list_running_skills::SpendAnswer { calls: spend.calls, usd: spend.usd }),
    }
}

/// The name with a number behind it, cut so that it stays a name.
fn numbered(name: &SkillName, number: usize) -> SkillName {
    let suffix = format!("_{number}");
    let kept = cerebellum_core::skill::NAME_LENGTH_MAX - suffix.len();
    let base: String = name.as_str().chars().take(kept).collect();
    format!("{base}{suffix}").parse().expect("the beginning of a name with digits behind it is a name")
}

#[cfg(test)]
mod tests;
