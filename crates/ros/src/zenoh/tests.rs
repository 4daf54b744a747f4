use std::net::TcpListener;

use super::*;
use crate::bus::contract::{self, DEADLINE, eventually};
use crate::msg::Message;
use crate::msg::common::Text;

/// Programs that use the bus, and how they end.
pub(crate) struct Program {
    pub(crate) bus: Arc<ZenohBus>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl Program {
    fn open(endpoint: &str, router: RouterRole, name: &str) -> Self {
        let config = ZenohConfig::new(endpoint, router, 7, name).unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        Self { bus: ZenohBus::open(config, tasks.clone(), stop.clone()), tasks, stop }
    }

    pub(crate) async fn connected(endpoint: &str, router: RouterRole, name: &str) -> Self {
        let program = Self::open(endpoint, router, name);
        program.bus.connected(DEADLINE).await.unwrap();
        program
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(DEADLINE, self.tasks.wait()).await.expect("every task ends");
    }
}

/// An endpoint nobody listens on.
pub(crate) fn free_endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("tcp/{}", listener.local_addr().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_the_contract_of_a_bus() {
    let endpoint = free_endpoint();
    let ours = Program::connected(&endpoint, RouterRole::Auto, "ours").await;
    let theirs = Program::connected(&endpoint, RouterRole::Never, "theirs").await;
    contract::check(ours.bus.clone(), theirs.bus.clone()).await;
    contract::check(theirs.bus.clone(), theirs.bus.clone()).await;
    theirs.end().await;
    ours.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_waits_for_the_router_and_says_so() {
    let endpoint = free_endpoint();
    let waiting = Program::open(&endpoint, RouterRole::Never, "waiting");
    eventually("the reason names what to start", || {
        let Err(BusError::Down { reason }) = waiting.bus.graph() else { return false };
        reason.contains("no Zenoh router answers") && reason.contains(&endpoint)
    })
    .await;
    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    waiting.bus.connected(DEADLINE).await.unwrap();
    waiting.end().await;
    router.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_right_after_the_start_waits_for_the_first_connection() {
    let endpoint = free_endpoint();
    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    let _serving =
        router.bus.serve("/echo", &Text::TYPE, Arc::new(|request| Box::pin(async move { Ok(request) }))).await.unwrap();
    for (patience, is_down) in [(Duration::ZERO, true), (DEADLINE, false)] {
        let config = ZenohConfig::new(&endpoint, RouterRole::Never, 7, "caller").unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let bus = ZenohBus::open_patient(config, tasks.clone(), stop.clone(), patience);
        let answer = bus.call("/echo", &Text::TYPE, vec![1], DEADLINE).await;
        assert_eq!(matches!(answer, Err(CallError::Down { .. })), is_down, "{patience:?}: {answer:?}");
        Program { bus, tasks, stop }.end().await;
    }
    router.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_the_first_connection_no_longer_than_its_deadline() {
    let config = ZenohConfig::new(&free_endpoint(), RouterRole::Never, 7, "caller").unwrap();
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let bus = ZenohBus::open_patient(config, tasks.clone(), stop.clone(), DEADLINE * 100);
    let call = async { bus.call("/echo", &Text::TYPE, vec![1], Duration::from_millis(50)).await };
    let answer = tokio::time::timeout(DEADLINE, call).await.expect("the deadline holds");
    assert!(matches!(answer, Err(CallError::Down { .. })), "{answer:?}");
    Program { bus, tasks, stop }.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_held_by_something_else_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("tcp/{}", listener.local_addr().unwrap());
    let holder = tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let answer = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            drop(answer);
        }
    });
    for role in [RouterRole::Never, RouterRole::Auto, RouterRole::Always] {
        let program = Program::open(&endpoint, role, "late");
        eventually("the reason names the port and the setting", || {
            let Err(BusError::Down { reason }) = program.bus.graph() else { return false };
            let is_told = reason.contains("held by something") || reason.contains("cannot open the Zenoh router");
            is_told && reason.contains(&endpoint) && reason.contains("CEREBELLUM_ZENOH_ENDPOINT")
        })
        .await;
        program.end().await;
    }
    holder.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_declared_survives_the_router() {
    let endpoint = free_endpoint();
    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    let writer = Program::connected(&endpoint, RouterRole::Never, "writer").await;
    let reader = Program::connected(&endpoint, RouterRole::Never, "reader").await;
    let publisher = writer.bus.advertise("/chatter", &Text::TYPE, Qos::STREAM).await.unwrap();
    let _serving =
        writer.bus.serve("/echo", &Text::TYPE, Arc::new(|request| Box::pin(async move { Ok(request) }))).await.unwrap();
    let (sink, taken) = contract::collect();
    let _subscription = reader.bus.subscribe("/chatter", &Text::TYPE, Qos::STREAM, sink).await.unwrap();
    let listed = |bus: &ZenohBus| bus.graph().is_ok_and(|graph| graph.publishers.len() == 1);
    eventually("the topic is listed", || listed(&reader.bus)).await;

    router.end().await;
    eventually("both know that the bus is away", || writer.bus.graph().is_err() && reader.bus.graph().is_err()).await;
    publisher.put(vec![1]);
    let away = reader.bus.call("/echo", &Text::TYPE, vec![1], DEADLINE).await;
    assert!(matches!(away, Err(CallError::Down { .. })), "{away:?}");

    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    eventually("the topic is listed again", || listed(&reader.bus) && listed(&writer.bus)).await;
    eventually("messages flow again", || {
        publisher.put(vec![2]);
        taken.lock().unwrap().last() == Some(&vec![2])
    })
    .await;
    let mut answer = reader.bus.call("/echo", &Text::TYPE, vec![1], DEADLINE).await;
    for _ in 0..50 {
        if answer != Err(CallError::Unavailable) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer = reader.bus.call("/echo", &Text::TYPE, vec![1], DEADLINE).await;
    }
    assert_eq!(answer, Ok(vec![1]));
    for program in [reader, writer, router] {
        program.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_takes_the_place_of_a_router_that_went() {
    let endpoint = free_endpoint();
    let first = Program::connected(&endpoint, RouterRole::Auto, "first").await;
    let second = Program::connected(&endpoint, RouterRole::Auto, "second").await;
    let third = Program::connected(&endpoint, RouterRole::Never, "third").await;
    let _publisher = second.bus.advertise("/chatter", &Text::TYPE, Qos::STREAM).await.unwrap();
    first.end().await;
    eventually("the second is the router now", || {
        third.bus.graph().is_ok_and(|graph| graph.publishers.iter().any(|found| found.node == "/second"))
    })
    .await;
    third.end().await;
    second.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_dies_leaves_the_graph() {
    let endpoint = free_endpoint();
    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    let node = Program::connected(&endpoint, RouterRole::Never, "node").await;
    let publisher = node.bus.advertise("/chatter", &Text::TYPE, Qos::STREAM).await.unwrap();
    let publishers = || router.bus.graph().unwrap().publishers.len();
    eventually("it is listed", || publishers() == 1).await;
    node.end().await;
    eventually("it is gone", || publishers() == 0).await;
    publisher.put(vec![1]);
    assert!(!publisher.is_wanted(), "a publisher whose session has ended is no danger");
    router.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn domains_do_not_see_each_other() {
    let endpoint = free_endpoint();
    let router = Program::connected(&endpoint, RouterRole::Always, "router").await;
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let config = ZenohConfig::new(&endpoint, RouterRole::Never, 8, "elsewhere").unwrap();
    let elsewhere = ZenohBus::open(config, tasks.clone(), stop.clone());
    elsewhere.connected(DEADLINE).await.unwrap();
    let _theirs = elsewhere.advertise("/theirs", &Text::TYPE, Qos::STREAM).await.unwrap();
    let _ours = router.bus.advertise("/ours", &Text::TYPE, Qos::STREAM).await.unwrap();
    let names =
        |bus: &ZenohBus| bus.graph().unwrap().publishers.into_iter().map(|found| found.name).collect::<Vec<_>>();
    eventually("each sees its own", || names(&elsewhere) == ["/theirs"] && names(&router.bus) == ["/ours"]).await;
    stop.cancel();
    tasks.close();
    tokio::time::timeout(DEADLINE, tasks.wait()).await.unwrap();
    router.end().await;
}
