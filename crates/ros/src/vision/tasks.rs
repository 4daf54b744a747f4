use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cerebellum_core::{BusError, CreatedTask, Skill, Subscription, TaskAction, TaskError, TaskInfo, VisionTasks};
use cerebellum_wire::{skill, tasks};
use futures::FutureExt;
use serde::Deserialize;

use super::{Service, action_from_str};
use crate::bus::{CallError, Handler, RosBus, call_again};
use crate::msg::vision::{
    CREATE_VISION_TASK, CreateRequest, CreateResponse, LIST_VISION_TASKS, ListRequest, ListResponse,
    MANAGE_VISION_TASK, ManageRequest, ManageResponse,
};
use crate::msg::{RosType, decode, encode};

/// What a service gives its work when the request carries no deadline of its own.
const WORK_DEADLINE: Duration = Duration::from_secs(60);

/// The skills of a vision node somewhere on the bus.
pub struct Tasks {
    bus: Arc<dyn RosBus>,
    node: String,
}

impl Tasks {
    /// The node of that name, such as `vision_node`. It need not be there yet.
    pub fn new(bus: Arc<dyn RosBus>, node: &str) -> Self {
        Self { bus, node: node.to_owned() }
    }

    async fn call(
        &self,
        service: Service,
        ros_type: &RosType,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, TaskError> {
        let name = service.name(&self.node);
        let started = Instant::now();
        let answer = call_again(&self.bus, &name, ros_type, request, deadline).await;
        answer.map_err(|error| match error {
            CallError::Down { reason } => TaskError::BusDown { reason },
            CallError::Unavailable => TaskError::Unavailable { service: name },
            CallError::TimedOut { .. } => TaskError::TimedOut { service: name, waited: started.elapsed() },
            CallError::Failed { reason } => TaskError::Refused { message: format!("{name}: {reason}") },
        })
    }

    fn read<'a, T: Deserialize<'a>>(&self, service: Service, response: &'a [u8]) -> Result<T, TaskError> {
        decode(response).map_err(|error| self.garbled(service, error.to_string()))
    }

    fn garbled(&self, service: Service, reason: String) -> TaskError {
        TaskError::Garbled { service: service.name(&self.node), reason }
    }
}

#[async_trait]
impl VisionTasks for Tasks {
    async fn create(&self, skill: &Skill, deadline: Duration) -> Result<CreatedTask, TaskError> {
        let skill_json = skill::to_value(skill).to_string();
        let request = encode(&CreateRequest { skill_json: &skill_json });
        let response = self.call(Service::Create, &CREATE_VISION_TASK, request, deadline).await?;
        let response: CreateResponse<'_> = self.read(Service::Create, &response)?;
        if !response.success {
            return Err(TaskError::Refused { message: words_of(response.message) });
        }
        // A node may leave out what the skill says already.
        let name = if response.name.is_empty() { skill.name.to_string() } else { response.name.to_owned() };
        let topics = response.topics.iter().map(|topic| (*topic).to_owned()).collect();
        Ok(CreatedTask { name, topics, message: response.message.to_owned() })
    }

    async fn manage(&self, name: &str, action: TaskAction, deadline: Duration) -> Result<String, TaskError> {
        let request = encode(&ManageRequest { name, action: action.as_str() });
        let response = self.call(Service::Manage, &MANAGE_VISION_TASK, request, deadline).await?;
        let response: ManageResponse<'_> = self.read(Service::Manage, &response)?;
        if response.success {
            Ok(response.message.to_owned())
        } else {
            Err(TaskError::Refused { message: words_of(response.message) })
        }
    }

    async fn list(&self, deadline: Duration) -> Result<Vec<TaskInfo>, TaskError> {
        let request = encode(&ListRequest::default());
        let response = self.call(Service::List, &LIST_VISION_TASKS, request, deadline).await?;
        let response: ListResponse<'_> = self.read(Service::List, &response)?;
        tasks::from_str(response.tasks_json)
            .map_err(|fault| self.garbled(Service::List, fault.within("tasks_json").to_string()))
    }
}

fn words_of(message: &str) -> String {
    if message.is_empty() { "the vision node refused and gave no reason".to_owned() } else { message.to_owned() }
}

/// Offers the skills of `tasks` as the three services of the node `node`, until the answer is dropped. Requests are worked on
/// side by side, as many as the bus allows.
pub async fn serve_tasks(
    bus: &Arc<dyn RosBus>,
    node: &str,
    tasks: Arc<dyn VisionTasks>,
) -> Result<Subscription, BusError> {
    let handler = |work: fn(Arc<dyn VisionTasks>, Vec<u8>) -> futures::future::BoxFuture<'static, Answer>| -> Handler {
        let tasks = tasks.clone();
        Arc::new(move |request| work(tasks.clone(), request))
    };
    let services: [(Service, RosType, Handler); 3] = [
        (Service::Create, CREATE_VISION_TASK, handler(|tasks, request| create(tasks, request).boxed())),
        (Service::Manage, MANAGE_VISION_TASK, handler(|tasks, request| manage(tasks, request).boxed())),
        (Service::List, LIST_VISION_TASKS, handler(|tasks, request| list(tasks, request).boxed())),
    ];
    let mut serving = Vec::with_capacity(services.len());
    for (service, ros_type, handler) in services {
        serving.push(bus.serve(&service.name(node), &ros_type, handler).await?);
    }
    Ok(Box::new(serving))
}

/// How many vision nodes of that name offer their services on the bus now, our own too.
pub fn nodes_named(bus: &dyn RosBus, node: &str) -> Result<usize, BusError> {
    let service = Service::Create.name(node);
    Ok(bus.graph()?.services.iter().filter(|endpoint| endpoint.name == service).count())
}

type Answer = Result<Vec<u8>, String>;

async fn create(tasks: Arc<dyn VisionTasks>, request: Vec<u8>) -> Answer {
    let skill = match decode::<CreateRequest<'_>>(&request) {
        Ok(request) => skill::from_str(request.skill_json).map_err(|fault| format!("skill_json: {fault}")),
        Err(error) => Err(format!("the request cannot be read: {error}")),
    };
    let created = match skill {
        Ok(skill) => tasks.create(&skill, WORK_DEADLINE).await.map_err(|error| error.to_string()),
        Err(message) => Err(message),
    };
    let response = match &created {
        Ok(created) => encode(&CreateResponse {
            success: true,
            message: &created.message,
            name: &created.name,
            topics: created.topics.iter().map(String::as_str).collect(),
        }),
        Err(message) => encode(&CreateResponse { success: false, message, name: "", topics: Vec::new() }),
    };
    Ok(response)
}

async fn manage(tasks: Arc<dyn VisionTasks>, request: Vec<u8>) -> Answer {
    let managed = match decode::<ManageRequest<'_>>(&request) {
        Ok(ManageRequest { name, action }) => match action_from_str(action) {
            Some(action) => tasks.manage(name, action, WORK_DEADLINE).await.map_err(|error| error.to_string()),
            None => Err(format!("action: {:?} is none; use delete, enable or disable", shown(action))),
        },
        Err(error) => Err(format!("the request cannot be read: {error}")),
    };
    Ok(match &managed {
        Ok(message) => encode(&ManageResponse { success: true, message }),
        Err(message) => encode(&ManageResponse { success: false, message }),
    })
}

async fn list(tasks: Arc<dyn VisionTasks>, _request: Vec<u8>) -> Answer {
    let tasks = tasks.list(WORK_DEADLINE).await.map_err(|error| error.to_string())?;
    Ok(encode(&ListResponse { tasks_json: &tasks::to_string(&tasks) }))
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}
