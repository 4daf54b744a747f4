use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Stamp, WallClock};
use cerebellum_testkit::FakeClock;
use cerebellum_wire::event::{Event, EventType};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wiremock::matchers::{body_string_contains, method};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::*;
use crate::signing::{self, Secret, Signed};

const SECRET: &str = "test-event-secret-0123456789abcdef";
/// Ten times what anything here takes.
const DEADLINE: Duration = Duration::from_secs(20);

struct Rig {
    poster: Arc<Poster>,
    clock: Arc<FakeClock>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Rig {
    fn to(url: &str) -> Self {
        let (clock, tasks, stop) =
            (Arc::new(FakeClock::at(Stamp::from_ros(1_750_000_000, 0))), TaskTracker::new(), CancellationToken::new());
        let push = Push::from_settings(Some(url), Some(SECRET)).unwrap();
        let poster = Poster::start(push, Arc::clone(&clock) as Arc<dyn WallClock>, &tasks, stop.clone()).unwrap();
        Self { poster, clock, tasks, stop }
    }

    fn post(&self, task_id: &str) {
        self.poster.post(event(task_id));
    }

    /// Waits until the counters are as `wanted` says.
    async fn until(&self, what: &str, wanted: impl Fn(&Stats) -> bool) -> Stats {
        let waited = tokio::time::timeout(DEADLINE, async {
            loop {
                let stats = self.poster.stats();
                if wanted(&stats) {
                    return stats;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        waited.await.unwrap_or_else(|_| panic!("not so in time: {what}; {:?}", self.poster.stats()))
    }

    /// Waits until the line waits for another try, and lets that much time pass.
    async fn pass_the_pause(&self) -> Duration {
        let held_for = self.until("the line waits", |stats| stats.held_for.is_some()).await.held_for.unwrap();
        self.clock.advance(held_for);
        held_for
    }

    async fn finish(self) -> Stats {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(DEADLINE, self.tasks.wait()).await.expect("the poster ends");
        self.poster.stats()
    }
}

fn event(task_id: &str) -> Event {
    Event::new(EventType::WatchEvent, task_id, "perception", &json!({"skill": task_id, "value": true}))
}

async fn receiver() -> MockServer {
    MockServer::start().await
}

async fn answers(server: &MockServer, status: u16, times: u64) {
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(status)).up_to_n_times(times).mount(server).await;
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
}

fn task_ids(requests: &[Request]) -> Vec<String> {
    requests.iter().map(|request| Event::from_body(&request.body).unwrap().task_id).collect()
}

#[tokio::test]
async fn an_event_arrives_signed_over_its_exact_bytes() {
    let server = receiver().await;
    answers(&server, 202, 1).await;
    let rig = Rig::to(&format!("{}/api/agent/events", server.uri()));
    rig.poster.post(event("watch_for").with_id("evt_01"));
    rig.until("delivered", |stats| stats.delivered == 1).await;

    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.url.path(), "/api/agent/events");
    assert_eq!((header(request, "content-type"), header(request, "webhook-id")), ("application/json", "evt_01"));
    assert_eq!(request.body, event("watch_for").body().unwrap());
    let key: Secret = SECRET.parse().unwrap();
    let headers = Signed {
        id: header(request, "webhook-id"),
        timestamp: header(request, "webhook-timestamp"),
        signatures: header(request, "webhook-signature"),
    };
    assert_eq!(signing::verify(&[key], headers, &request.body, WallClock::now(rig.clock.as_ref())), Ok(()));
    assert_eq!(rig.finish().await, Stats { delivered: 1, ..Stats::default() });
}

#[tokio::test]
async fn a_retry_has_the_same_id_and_body_and_a_new_timestamp_and_signature() {
    let server = receiver().await;
    answers(&server, 503, 2).await;
    answers(&server, 202, 1).await;
    let rig = Rig::to(&server.uri());
    rig.post("watch_for");
    assert_eq!(rig.pass_the_pause().await, Duration::from_secs(5));
    rig.until("two tries failed", |stats| stats.failed_tries == 2).await;
    assert_eq!(rig.pass_the_pause().await, Duration::from_secs(30));
    rig.until("delivered", |stats| stats.delivered == 1).await;

    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 3);
    for request in &requests[1..] {
        assert_eq!(header(request, "webhook-id"), header(&requests[0], "webhook-id"));
        assert_eq!(request.body, requests[0].body);
        assert_ne!(header(request, "webhook-signature"), header(&requests[0], "webhook-signature"));
    }
    let timestamps: Vec<&str> = requests.iter().map(|request| header(request, "webhook-timestamp")).collect();
    assert_eq!(timestamps, ["1750000000", "1750000005", "1750000035"]);
}

#[tokio::test]
async fn a_refusal_is_final_and_the_next_event_goes_out() {
    let server = receiver().await;
    answers(&server, 401, 1).await;
    answers(&server, 202, 1).await;
    let rig = Rig::to(&server.uri());
    rig.post("a");
    rig.post("b");
    let stats = rig.until("both settled", |stats| stats.refused + stats.delivered == 2).await;
    assert!(stats.last_error.unwrap().contains("401"));
    assert_eq!(task_ids(&server.received_requests().await.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn a_redirect_is_refused_and_not_followed() {
    let (server, elsewhere) = (receiver().await, receiver().await);
    let redirect = ResponseTemplate::new(307).insert_header("location", elsewhere.uri());
    Mock::given(method("POST")).respond_with(redirect).mount(&server).await;
    let rig = Rig::to(&server.uri());
    rig.post("a");
    rig.until("refused", |stats| stats.refused == 1).await;
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_flooded_receiver_gets_the_pause_it_asks_for() {
    let server = receiver().await;
    let flooded = ResponseTemplate::new(429).insert_header("retry-after", "42");
    Mock::given(method("POST")).respond_with(flooded).up_to_n_times(1).mount(&server).await;
    answers(&server, 202, 1).await;
    let rig = Rig::to(&server.uri());
    rig.post("a");
    assert_eq!(rig.pass_the_pause().await, Duration::from_secs(42));
    rig.until("delivered", |stats| stats.delivered == 1).await;
}

#[tokio::test]
async fn a_receiver_that_comes_back_gets_everything_in_order() {
    let address = free_address().await;
    let rig = Rig::to(&format!("http://{address}/"));
    for id in ["a", "b", "c"] {
        rig.post(id);
    }
    let stats = rig.until("refused once", |stats| stats.failed_tries == 1).await;
    assert!(stats.last_error.unwrap().to_lowercase().contains("refused"));

    let server = MockServer::builder().listener(std::net::TcpListener::bind(address).unwrap()).start().await;
    answers(&server, 202, 3).await;
    rig.pass_the_pause().await;
    rig.until("all delivered", |stats| stats.delivered == 3).await;
    assert_eq!(task_ids(&server.received_requests().await.unwrap()), ["a", "b", "c"]);
}

#[tokio::test]
async fn an_event_the_receiver_chokes_on_holds_up_nobody() {
    let server = receiver().await;
    Mock::given(body_string_contains("poison")).respond_with(ResponseTemplate::new(500)).mount(&server).await;
    answers(&server, 202, 10).await;
    let rig = Rig::to(&server.uri());
    rig.post("poison");
    rig.post("b");
    rig.pass_the_pause().await;
    rig.until("b delivered", |stats| stats.delivered == 1).await;
    rig.post("c");
    let stats = rig.until("c delivered", |stats| stats.delivered == 2).await;
    assert_eq!(stats.waiting, 1);
}

#[tokio::test]
async fn a_receiver_that_never_answers_is_given_up_on_after_the_time_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rig = Rig::to(&format!("http://{}/", listener.local_addr().unwrap()));
    rig.post("a");
    let _held_open = tokio::time::timeout(DEADLINE, listener.accept()).await.unwrap().unwrap();
    rig.clock.advance(Duration::from_secs(10));
    let stats = rig.until("timed out", |stats| stats.failed_tries == 1).await;
    assert_eq!(stats.last_error.as_deref(), Some("no answer within 10 s"));
    assert_eq!(stats.held_for, Some(Duration::from_secs(5)));
}

#[tokio::test]
async fn what_waits_at_the_stop_is_tried_once_more() {
    let server = receiver().await;
    answers(&server, 503, 1).await;
    answers(&server, 202, 2).await;
    let rig = Rig::to(&server.uri());
    rig.post("a");
    rig.until("the line waits", |stats| stats.held_for.is_some()).await;
    rig.post("b");
    let poster = Arc::clone(&rig.poster);
    let stats = rig.finish().await;
    assert_eq!((stats.delivered, stats.dropped, stats.waiting), (2, 0, 0));
    poster.post(event("late"));
    assert_eq!(poster.stats().dropped, 1);
}

#[tokio::test]
async fn a_receiver_that_hangs_does_not_hold_up_the_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rig = Rig::to(&format!("http://{}/", listener.local_addr().unwrap()));
    rig.post("a");
    let _held_open = tokio::time::timeout(DEADLINE, listener.accept()).await.unwrap().unwrap();
    rig.stop.cancel();
    let (clock, waiter) = (Arc::clone(&rig.clock), tokio::spawn(rig.finish()));
    // The grace begins when the poster notices the stop; time passes until it ended.
    let stats = tokio::time::timeout(DEADLINE, async {
        while !waiter.is_finished() {
            clock.advance(Duration::from_millis(100));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        waiter.await.unwrap()
    });
    assert_eq!(stats.await.unwrap().dropped, 1);
}

#[tokio::test]
async fn an_event_that_is_too_large_is_dropped_and_counted() {
    let server = receiver().await;
    let rig = Rig::to(&server.uri());
    rig.poster.post(Event::new(EventType::TaskCompleted, "t", "s", &json!({"text": "x".repeat(300_000)})));
    let stats = rig.finish().await;
    assert_eq!((stats.dropped, stats.waiting), (1, 0));
}

#[tokio::test]
async fn without_settings_nothing_runs_and_events_vanish() {
    let (tasks, clock) = (TaskTracker::new(), Arc::new(FakeClock::at(Stamp::from_ros(1, 0))));
    let push = Push::from_settings(None, None).unwrap();
    let poster = Poster::start(push, clock, &tasks, CancellationToken::new()).unwrap();
    poster.post(event("a"));
    assert!(!poster.is_on() && tasks.is_empty());
    assert_eq!(poster.stats(), Stats::default());
}

#[tokio::test]
async fn an_https_receiver_gets_a_client_with_certificates_of_the_host() {
    let target = Target::new("https://brain.invalid/events", vec![SECRET.parse().unwrap()]).unwrap();
    assert!(delivery::client(&target).is_ok());
}

async fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}
