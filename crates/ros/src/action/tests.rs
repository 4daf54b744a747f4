use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cerebellum_core::Stamp;
use cerebellum_testkit::FakeClock;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::bus::RosBus;
use crate::bus::contract::{DEADLINE, eventually};
use crate::mem::MemBus;
use crate::msg::action::{FeedbackMessage, JSON_TASK, JsonText, SendGoalRequest};
use crate::msg::decode;

const TYPE_NAME: &str = "cerebellum_robot_interfaces/action/JsonTask";

/// Answers the goal back, when it is let.
struct Echo {
    may_end: Arc<Semaphore>,
    working: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
}

struct Working(Arc<AtomicUsize>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Work for Echo {
    type Goal = String;
    type Feedback = JsonText;
    type Result = JsonText;

    fn read(&self, request: &[u8]) -> Result<String, String> {
        let request: SendGoalRequest<JsonText> = decode(request).map_err(|error| error.to_string())?;
        if request.goal.json == "no" { Err("it says no".into()) } else { Ok(request.goal.json) }
    }

    async fn run(&self, goal: String, feedback: &(dyn Fn(JsonText) + Send + Sync)) -> Finish<JsonText> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.working.fetch_add(1, Ordering::SeqCst);
        let _working = Working(Arc::clone(&self.working));
        feedback(JsonText { json: format!("working on {goal}") });
        self.may_end.acquire().await.unwrap().forget();
        Finish { is_done: goal != "fail", result: JsonText { json: goal } }
    }
}

struct Served {
    may_end: Arc<Semaphore>,
    working: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Served {
    async fn on(bus: &Arc<dyn RosBus>) -> Self {
        let (may_end, working) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let begun = Arc::new(AtomicUsize::new(0));
        let work = Echo { may_end: may_end.clone(), working: working.clone(), begun: begun.clone() };
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_000.0)));
        serve(Arc::clone(bus), "/echo", JSON_TASK, work, clock, &tasks, stop.clone());
        eventually("the action is there", || bus.graph().unwrap().services.len() == 3).await;
        Self { may_end, working, begun, tasks, stop }
    }

    fn works_on(&self) -> usize {
        self.working.load(Ordering::SeqCst)
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(DEADLINE, self.tasks.wait()).await.expect("every task ends");
    }
}

fn text(json: &str) -> JsonText {
    JsonText { json: json.into() }
}

async fn send(client: &Client, json: &str) -> Result<Goal, ActionError> {
    client.send(TYPE_NAME, &text(json), &TaskTracker::new(), |_| {}).await
}

async fn ended(goal: &Goal) -> Result<(Status, String), ActionError> {
    let ended = tokio::time::timeout(DEADLINE, goal.result::<JsonText>()).await.expect("it ends");
    ended.map(|ended| (ended.status, ended.result.json))
}

#[tokio::test]
async fn goals_end_as_the_work_does_or_as_somebody_wishes() {
    let bus: Arc<dyn RosBus> = MemBus::new();
    goals_and_cancels(&bus.clone(), &bus).await;
}

/// Everything that happens to goals, between two ends of a bus.
pub(crate) async fn goals_and_cancels(theirs: &Arc<dyn RosBus>, ours: &Arc<dyn RosBus>) {
    let served = Served::on(theirs).await;
    eventually("the action is known", || ours.graph().unwrap().services.len() == 3).await;
    let client = Client::new(ours.clone(), "/echo");
    a_goal_gives_feedback_and_a_result(&served, &client).await;
    a_cancel_ends_the_work_and_says_so(&served, &client).await;
    a_new_goal_takes_the_place_of_the_one_that_runs(&served, &client).await;
    a_goal_that_is_dropped_is_cancelled_also_while_it_is_sent(&served, &client).await;
    a_server_that_dies_in_the_middle_is_lost(served, &client).await;
}

async fn a_goal_gives_feedback_and_a_result(served: &Served, client: &Client) {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = told.clone();
    let asked = text("a");
    let goal = client.send(TYPE_NAME, &asked, &served.tasks, move |bytes| {
        let message: FeedbackMessage<JsonText> = decode(bytes).unwrap();
        into.lock().unwrap().push(message.feedback.json);
    });
    let goal = goal.await.unwrap();
    eventually("feedback comes", || *told.lock().unwrap() == ["working on a"]).await;
    served.may_end.add_permits(1);
    assert_eq!(ended(&goal).await, Ok((Status::Succeeded, "a".into())));
    assert_eq!(ended(&goal).await, Ok((Status::Succeeded, "a".into())), "results are remembered");
    let fail = send(client, "fail").await.unwrap();
    served.may_end.add_permits(1);
    assert_eq!(ended(&fail).await, Ok((Status::Aborted, "fail".into())));
    assert!(matches!(send(client, "no").await, Err(ActionError::Rejected { .. })));
}

async fn a_cancel_ends_the_work_and_says_so(served: &Served, client: &Client) {
    let goal = send(client, "a").await.unwrap();
    eventually("it works", || served.works_on() == 1).await;
    goal.cancel().await.unwrap();
    assert_eq!(ended(&goal).await, Ok((Status::Canceled, String::new())));
    assert_eq!(served.works_on(), 0);
    let goal = send(client, "b").await.unwrap();
    eventually("it works", || served.works_on() == 1).await;
    assert_eq!(client.cancel_all(DEADLINE).await, Ok(1));
    assert_eq!(ended(&goal).await.map(|(status, _)| status), Ok(Status::Canceled));
    assert_eq!(client.cancel_all(DEADLINE).await, Ok(0));
}

async fn a_new_goal_takes_the_place_of_the_one_that_runs(served: &Served, client: &Client) {
    let first = send(client, "first").await.unwrap();
    eventually("it works", || served.works_on() == 1).await;
    let second = send(client, "second").await.unwrap();
    assert_eq!(ended(&first).await.map(|(status, _)| status), Ok(Status::Aborted));
    served.may_end.add_permits(1);
    assert_eq!(ended(&second).await, Ok((Status::Succeeded, "second".into())));
}

async fn a_goal_that_is_dropped_is_cancelled_also_while_it_is_sent(served: &Served, client: &Client) {
    let goal = send(client, "a").await.unwrap();
    eventually("it works", || served.works_on() == 1).await;
    drop(goal);
    eventually("it is cancelled", || served.works_on() == 0).await;
    let before = served.begun.load(Ordering::SeqCst);
    for _ in 0..5 {
        tokio::select! {
            biased;
            sent = send(client, "b") => drop(sent),
            () = tokio::time::sleep(std::time::Duration::from_millis(1)) => {}
        }
    }
    let last = send(client, "last").await.unwrap();
    served.may_end.add_permits(1);
    let (status, _) = ended(&last).await.unwrap();
    // A goal that was on its way may take the place of one that follows it, and is then cancelled itself.
    assert!(status == Status::Succeeded || status == Status::Aborted, "{status:?}");
    eventually("all are over", || served.works_on() == 0).await;
    assert!(served.begun.load(Ordering::SeqCst) > before);
    while served.may_end.try_acquire().is_ok_and(|permit| {
        permit.forget();
        true
    }) {}
}

async fn a_server_that_dies_in_the_middle_is_lost(served: Served, client: &Client) {
    let other = client.send("nav2_msgs/action/NavigateToPose", &text("a"), &served.tasks, |_| {}).await;
    assert!(matches!(other, Err(ActionError::OtherType { .. })));
    let goal = send(client, "a").await.unwrap();
    eventually("it works", || served.works_on() == 1).await;
    served.end().await;
    // What was on its way when it died may still say that the goal is over; that it succeeded nobody says.
    match ended(&goal).await {
        Err(ActionError::Lost { reason }) => assert!(reason.contains("/echo"), "{reason}"),
        other => assert_eq!(other.map(|(status, _)| status), Ok(Status::Canceled)),
    }
    eventually("the action is gone", || client.result_type().is_err()).await;
    assert_eq!(send(client, "a").await.err(), Some(ActionError::Unavailable { action: "/echo".into() }));
}
