//! What every adapter of [`RosBus`] keeps. `ours` and `theirs` are two ends of one bus, or the same end twice.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::mpsc;

use super::{CallError, Durability, Handler, Qos, RosBus, Sink};
use crate::msg::common::Text;
use crate::msg::vision::CREATE_VISION_TASK;
use crate::msg::{Message, RosType};

/// Ten times what the slowest adapter needs on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) async fn check(ours: Arc<dyn RosBus>, theirs: Arc<dyn RosBus>) {
    messages_reach_a_subscriber_of_the_same_type(&ours, &theirs).await;
    late_subscribers_get_latched_values(&ours, &theirs).await;
    endpoints_come_and_go_in_the_graph(&ours, &theirs).await;
    many_topics_appear_at_once(&ours, &theirs).await;
    services_answer(&ours, &theirs).await;
    services_that_do_not_answer_are_told_apart(&ours, &theirs).await;
    requests_are_worked_on_side_by_side(&ours, &theirs).await;
}

pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = tokio::time::Instant::now() + DEADLINE;
    while !holds() {
        assert!(tokio::time::Instant::now() < until, "not within {DEADLINE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn collect() -> (Sink, Arc<Mutex<Vec<Vec<u8>>>>) {
    let taken: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let into = taken.clone();
    (Arc::new(move |message| into.lock().unwrap().push(message.to_vec())), taken)
}

async fn messages_reach_a_subscriber_of_the_same_type(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let publisher = ours.advertise("/contract/chatter", &Text::TYPE, Qos::STREAM).await.unwrap();
    let (sink, taken) = collect();
    let (other_sink, other) = collect();
    let subscription = theirs.subscribe("/contract/chatter", &Text::TYPE, Qos::STREAM, sink).await.unwrap();
    let other_hash = RosType { hash: CREATE_VISION_TASK.hash, ..Text::TYPE };
    let mismatched = theirs.subscribe("/contract/chatter", &other_hash, Qos::STREAM, other_sink).await.unwrap();
    eventually("the publisher sees its reader", || publisher.is_wanted()).await;
    for number in 0..20_u8 {
        publisher.put(vec![0, 1, 0, 0, number]);
    }
    eventually("all messages came", || taken.lock().unwrap().len() == 20).await;
    assert!(taken.lock().unwrap().iter().map(|message| message[4]).eq(0..20), "in order");
    assert!(other.lock().unwrap().is_empty(), "another hash is another type");

    drop((subscription, mismatched));
    eventually("the publisher sees that nobody reads", || !publisher.is_wanted()).await;
    publisher.put(vec![0, 1, 0, 0, 99]);
    assert_eq!(taken.lock().unwrap().len(), 20);
}

async fn late_subscribers_get_latched_values(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let publisher = ours.advertise("/contract/latched", &Text::TYPE, Qos::LATCHED).await.unwrap();
    let (early_sink, early) = collect();
    let _early = theirs.subscribe("/contract/latched", &Text::TYPE, Qos::STREAM, early_sink).await.unwrap();
    eventually("the publisher sees its reader", || publisher.is_wanted()).await;
    for number in 0..9_u8 {
        publisher.put(vec![number]);
    }
    // What is still on its way when somebody subscribes reaches him too: only now is a subscriber late.
    eventually("all messages came", || early.lock().unwrap().len() == 9).await;
    let (sink, taken) = collect();
    let (volatile_sink, volatile) = collect();
    let _late = theirs.subscribe("/contract/latched", &Text::TYPE, Qos::LATCHED, sink).await.unwrap();
    let _volatile = theirs.subscribe("/contract/latched", &Text::TYPE, Qos::STREAM, volatile_sink).await.unwrap();
    eventually("the kept values came", || taken.lock().unwrap().len() == 5).await;
    assert!(taken.lock().unwrap().iter().flatten().copied().eq(4..9));
    assert!(volatile.lock().unwrap().is_empty());
    eventually("the publisher sees its readers", || publisher.is_wanted()).await;
    publisher.put(vec![9]);
    eventually("new values come too", || taken.lock().unwrap().last() == Some(&vec![9])).await;
}

/// More than all other endpoints of this contract together.
const SUBSCRIPTIONS: u64 = 64;

async fn endpoints_come_and_go_in_the_graph(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let mut changes = theirs.graph_changes();
    let publisher = ours.advertise("/contract/graph", &Text::TYPE, Qos::LATCHED).await.unwrap();
    let listed = || theirs.graph().unwrap().publishers.into_iter().find(|endpoint| endpoint.name == "/contract/graph");
    eventually("the publisher is listed", || listed().is_some()).await;
    let endpoint = listed().unwrap();
    assert_eq!((endpoint.ros_type, endpoint.qos.durability), (Text::TYPE, Durability::TransientLocal));
    assert!(endpoint.node.starts_with('/'), "{}", endpoint.node);
    tokio::time::timeout(DEADLINE, changes.changed()).await.unwrap().unwrap();

    let (sink, _) = collect();
    let subscription = ours.subscribe("/contract/graph", &Text::TYPE, Qos::STREAM, sink).await.unwrap();
    let subscribed = || theirs.graph().unwrap().subscribers.into_iter().find(|found| found.name == "/contract/graph");
    eventually("the subscriber is listed", || subscribed().is_some_and(|found| found.ros_type == Text::TYPE)).await;
    drop(subscription);
    eventually("the subscriber has left", || subscribed().is_none()).await;

    // What was used before may still be leaving, so single changes prove nothing: many subscriptions must not show as many.
    let before = *changes.borrow();
    for _ in 0..SUBSCRIPTIONS {
        let (sink, _) = collect();
        drop(theirs.subscribe("/contract/graph", &Text::TYPE, Qos::LATCHED, sink).await.unwrap());
    }
    let marker = ours.advertise("/contract/marker", &Text::TYPE, Qos::STREAM).await.unwrap();
    let marked = || theirs.graph().unwrap().publishers.iter().any(|endpoint| endpoint.name == "/contract/marker");
    eventually("what was advertised later is listed", marked).await;
    let told = *changes.borrow() - before;
    assert!(told < SUBSCRIPTIONS, "subscribing is no change, or reconciling would never end: {told} changes");
    drop(marker);
    changes.mark_unchanged();
    drop(publisher);
    eventually("the publisher has left", || listed().is_none()).await;
    tokio::time::timeout(DEADLINE, changes.changed()).await.unwrap().unwrap();
}

async fn many_topics_appear_at_once(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let mut publishers = Vec::new();
    for number in 0..500 {
        publishers.push(ours.advertise(&format!("/many/t{number}/found"), &Text::TYPE, Qos::STREAM).await.unwrap());
    }
    let listed = || theirs.graph().unwrap().publishers.iter().filter(|found| found.name.starts_with("/many/")).count();
    eventually("all are listed", || listed() == 500).await;
    drop(publishers);
    eventually("none are left", || listed() == 0).await;
}

fn echo() -> Handler {
    Arc::new(|mut request| {
        async move {
            request.reverse();
            Ok(request)
        }
        .boxed()
    })
}

async fn services_answer(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let serving = ours.serve("/contract/echo", &CREATE_VISION_TASK, echo()).await.unwrap();
    let listed = || theirs.graph().unwrap().services.iter().any(|service| service.name == "/contract/echo");
    eventually("the service is listed", listed).await;
    let call = async |request: Vec<u8>| theirs.call("/contract/echo", &CREATE_VISION_TASK, request, DEADLINE).await;
    assert_eq!(call(vec![1, 2, 3]).await, Ok(vec![3, 2, 1]));
    assert_eq!(call(Vec::new()).await, Ok(Vec::new()));
    let large: Vec<u8> = (0..2_000_000_u32).map(|number| number as u8).collect();
    assert_eq!(call(large.clone()).await.map(|mut reply| reply.drain(..).rev().collect()), Ok(large));
    drop(serving);
    eventually("the service has left", || !listed()).await;
    assert_eq!(call(vec![1]).await, Err(CallError::Unavailable));
}

async fn services_that_do_not_answer_are_told_apart(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let silent: Handler = Arc::new(|_| std::future::pending().boxed());
    let failing: Handler = Arc::new(|_| async { Err("the camera is covered".to_owned()) }.boxed());
    let _silent = ours.serve("/contract/silent", &CREATE_VISION_TASK, silent).await.unwrap();
    let _failing = ours.serve("/contract/failing", &CREATE_VISION_TASK, failing).await.unwrap();
    let listed =
        || theirs.graph().unwrap().services.iter().filter(|found| found.name.starts_with("/contract/")).count();
    eventually("the services are listed", || listed() == 2).await;

    let short = Duration::from_millis(300);
    let silent = theirs.call("/contract/silent", &CREATE_VISION_TASK, vec![1], short).await;
    assert_eq!(silent, Err(CallError::TimedOut { waited: short }));
    let failing = theirs.call("/contract/failing", &CREATE_VISION_TASK, vec![1], DEADLINE).await;
    assert_eq!(failing, Err(CallError::Failed { reason: "the camera is covered".into() }));
    let nobody = theirs.call("/contract/nobody", &CREATE_VISION_TASK, vec![1], DEADLINE).await;
    assert_eq!(nobody, Err(CallError::Unavailable));
    let other_type = RosType { hash: Text::TYPE.hash, ..CREATE_VISION_TASK };
    let mismatched = theirs.call("/contract/failing", &other_type, vec![1], DEADLINE).await;
    assert_eq!(mismatched, Err(CallError::Unavailable), "another hash is another service");
}

async fn requests_are_worked_on_side_by_side(ours: &Arc<dyn RosBus>, theirs: &Arc<dyn RosBus>) {
    let (arrived, mut arrivals) = mpsc::channel(8);
    let release = Arc::new(tokio::sync::Semaphore::new(0));
    let held = release.clone();
    let handler: Handler = Arc::new(move |request| {
        let (arrived, held) = (arrived.clone(), held.clone());
        async move {
            arrived.send(()).await.unwrap();
            held.acquire().await.unwrap().forget();
            Ok(request)
        }
        .boxed()
    });
    let _serving = ours.serve("/contract/slow", &CREATE_VISION_TASK, handler).await.unwrap();
    let listed = || theirs.graph().unwrap().services.iter().any(|service| service.name == "/contract/slow");
    eventually("the service is listed", listed).await;
    let call = async |number: u8| theirs.call("/contract/slow", &CREATE_VISION_TASK, vec![number], DEADLINE).await;
    let calls = [1, 2, 3].map(call);
    let all_arrive = async {
        for _ in 0..3 {
            tokio::time::timeout(DEADLINE, arrivals.recv()).await.unwrap().unwrap();
        }
        release.add_permits(3);
    };
    let (answers, ()) = tokio::join!(futures::future::join_all(calls), all_arrive);
    assert_eq!(answers, [Ok(vec![1]), Ok(vec![2]), Ok(vec![3])]);
}
