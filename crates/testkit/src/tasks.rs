use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, CreatedTask, Skill, Spend, TaskAction, TaskError, TaskInfo, VisionTasks};

/// How the next call of a service goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// Answers after that long on the clock; past the deadline the caller gets a time-out, and the work is done all the same.
    Late(Duration),
    /// Takes the call and never answers, not even with a time-out: a port that breaks its promise.
    Hang,
    /// Nobody answers within the deadline.
    Silent,
    /// Nobody offers the service.
    Away,
    /// The bus is not connected.
    BusDown,
    /// Says no, in these words.
    Refuse(String),
    /// Answers something unreadable.
    Garble(String),
    /// Somebody else creates a task of that name just before.
    Overtaken(String),
}

/// A call that came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `create_vision_task`.
    Create(Skill),
    /// `manage_vision_task`.
    Manage(String, TaskAction),
    /// `list_vision_tasks`.
    List,
}

/// A vision node's task list in memory. Obeys the port's contract unless a [`Script`] says otherwise.
pub struct FakeVisionTasks {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: Vec<TaskInfo>,
    message: String,
    scripts: VecDeque<Script>,
    always: Option<Script>,
    calls: Vec<Call>,
}

impl FakeVisionTasks {
    /// An empty node. Stamps and delays are those of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// The next call goes like that; scripts are used up in order.
    pub fn script(&self, script: Script) {
        self.state().scripts.push_back(script);
    }

    /// From now on every call without a script of its own goes like that; `None` ends it.
    pub fn always(&self, script: Option<Script>) {
        self.state().always = script;
    }

    /// What `create` answers as message from now on.
    pub fn say(&self, message: &str) {
        message.clone_into(&mut self.state().message);
    }

    /// The calls so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// The tasks as they are.
    pub fn tasks(&self) -> Vec<TaskInfo> {
        self.state().tasks.clone()
    }

    /// Changes the tasks from outside, as another caller or a restart would.
    pub fn edit(&self, change: impl FnOnce(&mut Vec<TaskInfo>)) {
        change(&mut self.state().tasks);
    }

    /// Adds a skill as if it had been created now.
    pub fn add(&self, skill: &Skill) {
        let created = self.clock.now();
        self.state().tasks.push(task_of(skill, created));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the call and plays its script. `Ok(true)`: do the work, then answer a time-out.
    async fn play(&self, call: Call, service: &str, deadline: Duration) -> Result<bool, TaskError> {
        let script = {
            let mut state = self.state();
            state.calls.push(call);
            state.scripts.pop_front().or_else(|| state.always.clone())
        };
        let service = format!("/vision_node/{service}");
        match script {
            None => Ok(false),
            Some(Script::Late(delay)) => {
                self.clock.sleep(delay.min(deadline)).await;
                Ok(delay > deadline)
            }
            Some(Script::Hang) => std::future::pending().await,
            Some(Script::Silent) => {
                self.clock.sleep(deadline).await;
                Err(TaskError::TimedOut { service, waited: deadline })
            }
            Some(Script::Away) => Err(TaskError::Unavailable { service }),
            Some(Script::BusDown) => Err(TaskError::BusDown { reason: "no router at tcp/127.0.0.1:7447".to_owned() }),
            Some(Script::Refuse(message)) => Err(TaskError::Refused { message }),
            Some(Script::Garble(reason)) => Err(TaskError::Garbled { service, reason }),
            Some(Script::Overtaken(name)) => {
                let skill =
                    cerebellum_wire::skill::from_value(&serde_json::json!({"name": name, "mode": "segment_all"}))
                        .expect("the name is a skill's name");
                self.add(&skill);
                Ok(false)
            }
        }
    }
}

/// The task a vision node reports for a skill that just began.
pub fn task_of(skill: &Skill, created: cerebellum_core::Stamp) -> TaskInfo {
    TaskInfo {
        name: skill.name.to_string(),
        enabled: true,
        topic: skill.detections_topic(),
        semantic_topics: skill.semantic_topics(),
        skill: Some(skill.clone()),
        error: None,
        engine: Some("fake".to_owned()),
        notes: Vec::new(),
        created,
        spend: Some(Spend::default()),
    }
}

fn late(service: &str, deadline: Duration) -> TaskError {
    TaskError::TimedOut { service: format!("/vision_node/{service}"), waited: deadline }
}

#[async_trait]
impl VisionTasks for FakeVisionTasks {
    async fn create(&self, skill: &Skill, deadline: Duration) -> Result<CreatedTask, TaskError> {
        let is_late = self.play(Call::Create(skill.clone()), "create_vision_task", deadline).await?;
        let created = self.clock.now();
        let mut state = self.state();
        if state.tasks.iter().any(|task| task.name == skill.name.as_str()) {
            return Err(TaskError::Refused { message: format!("a task named {} runs already", skill.name) });
        }
        state.tasks.push(task_of(skill, created));
        if is_late {
            return Err(late("create_vision_task", deadline));
        }
        let mut topics = vec![skill.detections_topic()];
        topics.extend(skill.semantic_topics());
        topics.push(skill.overlay_topic());
        Ok(CreatedTask { name: skill.name.to_string(), topics, message: state.message.clone() })
    }

    async fn manage(&self, name: &str, action: TaskAction, deadline: Duration) -> Result<String, TaskError> {
        let is_late = self.play(Call::Manage(name.to_owned(), action), "manage_vision_task", deadline).await?;
        let mut state = self.state();
        let Some(index) = state.tasks.iter().position(|task| task.name == name) else {
            return Err(TaskError::Refused { message: format!("no task named {name}") });
        };
        match action {
            TaskAction::Delete => {
                state.tasks.remove(index);
            }
            TaskAction::Enable => state.tasks[index].enabled = true,
            TaskAction::Disable => state.tasks[index].enabled = false,
        }
        if is_late { Err(late("manage_vision_task", deadline)) } else { Ok(format!("{}d {name}", action.as_str())) }
    }

    async fn list(&self, deadline: Duration) -> Result<Vec<TaskInfo>, TaskError> {
        let is_late = self.play(Call::List, "list_vision_tasks", deadline).await?;
        if is_late { Err(late("list_vision_tasks", deadline)) } else { Ok(self.tasks()) }
    }
}
