use std::sync::{Arc, Mutex, PoisonError};

use cerebellum_core::{
    Detection, DetectionFrame, Found, Mask, OutputName, OutputValue, PixelBox, Point, Skill, SkillStreams, Stamp,
    StreamKind, StreamMessage, StreamTopic, Subscription, VisionStreams,
};
use glam::DVec3;
use serde_json::json;

use super::{PATIENCE, eventually};

const PREFIXES: [&str; 1] = ["/vision/"];

/// What is written on one side arrives on the other: topics in the graph, values, latched values, and the end of a skill.
pub async fn check(writer: &dyn SkillStreams, reader: &dyn VisionStreams) {
    a_skill_is_read_as_it_was_written(writer, reader).await;
    a_late_reader_gets_the_last_value_of_a_skill_that_looks_once(writer, reader).await;
    topics_leave_with_their_publisher_and_return_with_the_next(writer, reader).await;
}

async fn a_skill_is_read_as_it_was_written(writer: &dyn SkillStreams, reader: &dyn VisionStreams) {
    let skill = skill("contract_stream", false);
    let publisher = writer.advertise(&skill).await.expect("the port does as asked");
    let topics = topics_of(reader, &skill, 3).await;
    let kinds: Vec<_> = topics.iter().map(|topic| (topic.topic.as_str(), topic.kind)).collect();
    let expected = [
        ("/vision/contract_stream/detections", StreamKind::Detections),
        ("/vision/contract_stream/found", StreamKind::Output),
        ("/vision/contract_stream/overlay", StreamKind::Overlay),
    ];
    assert_eq!(kinds, expected);
    assert!(topics.iter().all(|topic| topic.skill == "contract_stream" && topic.unreadable.is_none()), "{topics:?}");
    assert!(!publisher.overlay_wanted(), "nobody reads it yet");

    let (taken, subscriptions) = read(reader, &topics).await;
    eventually("the overlay is wanted", async || publisher.overlay_wanted()).await;
    let frame = frame("contract_stream");
    let (stamp, found) = (frame.stamp, name("found"));
    // A reader is not known everywhere at once: what is published before that is lost to it.
    eventually("all three topics are read", async || {
        publisher.detections(Arc::clone(&frame));
        publisher.output(&found, stamp, "camera", &OutputValue::Boolean(true));
        publisher.overlay(stamp, "camera", vec![0xff, 0xd8, 0xff]);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.contains(&StreamMessage::Detections(without_pixels(&frame)))
            && taken.contains(&StreamMessage::Output { stamp, text: "true".to_owned() })
            && taken.contains(&StreamMessage::Overlay { stamp })
    })
    .await;
    drop(subscriptions);
    eventually("the overlay is wanted by nobody", async || !publisher.overlay_wanted()).await;
}

async fn a_late_reader_gets_the_last_value_of_a_skill_that_looks_once(
    writer: &dyn SkillStreams,
    reader: &dyn VisionStreams,
) {
    let skill = skill("contract_once", true);
    let publisher = writer.advertise(&skill).await.expect("the port does as asked");
    let frame = frame("contract_once");
    publisher.detections(Arc::clone(&frame));
    publisher.output(&name("found"), frame.stamp, "camera", &OutputValue::Boolean(false));
    let topics = topics_of(reader, &skill, 3).await;
    let (taken, _subscriptions) = read(reader, &topics).await;
    eventually("the kept values come", async || {
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.contains(&StreamMessage::Detections(without_pixels(&frame)))
            && taken.contains(&StreamMessage::Output { stamp: frame.stamp, text: "false".to_owned() })
    })
    .await;
}

async fn topics_leave_with_their_publisher_and_return_with_the_next(
    writer: &dyn SkillStreams,
    reader: &dyn VisionStreams,
) {
    let skill = skill("contract_restart", false);
    let publisher = writer.advertise(&skill).await.expect("the port does as asked");
    let topics = topics_of(reader, &skill, 3).await;
    let (taken, _subscriptions) = read(reader, &topics).await;
    drop(publisher);
    topics_of(reader, &skill, 0).await;
    tokio::time::timeout(PATIENCE, reader.changed()).await.expect("a change of the graph is told");

    let publisher = writer.advertise(&skill).await.expect("the port does as asked");
    topics_of(reader, &skill, 3).await;
    let stamp = Stamp::from_nanos(7);
    eventually("the old subscription reads the new publisher", async || {
        publisher.output(&name("found"), stamp, "camera", &OutputValue::Boolean(true));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.contains(&StreamMessage::Output { stamp, text: "true".to_owned() })
    })
    .await;
}

/// The topics of the skill once there are `count` of them, by name.
async fn topics_of(reader: &dyn VisionStreams, skill: &Skill, count: usize) -> Vec<StreamTopic> {
    let prefixes = PREFIXES.map(str::to_owned);
    let mut topics = Vec::new();
    eventually(&format!("{} has {count} topics", skill.name), async || {
        topics = reader.topics(&prefixes).await.expect("the port does as asked");
        topics.retain(|topic| topic.skill == skill.name.as_str());
        topics.len() == count
    })
    .await;
    topics.sort_by(|a, b| a.topic.cmp(&b.topic));
    topics
}

type Taken = Arc<Mutex<Vec<StreamMessage>>>;

async fn read(reader: &dyn VisionStreams, topics: &[StreamTopic]) -> (Taken, Vec<Subscription>) {
    let taken = Taken::default();
    let mut subscriptions = Vec::new();
    for topic in topics {
        let into = Arc::clone(&taken);
        let sink = Arc::new(move |message| into.lock().unwrap_or_else(PoisonError::into_inner).push(message));
        subscriptions.push(reader.subscribe(topic, sink).await.expect("the port does as asked"));
    }
    (taken, subscriptions)
}

fn without_pixels(frame: &DetectionFrame<Found>) -> DetectionFrame {
    DetectionFrame {
        stamp: frame.stamp,
        frame_id: frame.frame_id.clone(),
        skill: frame.skill.clone(),
        image_width: frame.image_width,
        image_height: frame.image_height,
        detections: frame.detections.iter().map(|found| found.detection.clone()).collect(),
    }
}

fn frame(skill: &str) -> Arc<DetectionFrame<Found>> {
    let bounds = PixelBox { x: 3, y: 4, width: 5, height: 6 };
    let mask = Mask::new(bounds, vec![255; 30]).expect("30 pixels fill the box");
    let with_all = Detection {
        id: Some("7".to_owned()),
        label: "red can".to_owned(),
        score: 0.5,
        bounds,
        has_mask: true,
        point: Some(Point { frame: "camera".to_owned(), position: DVec3::new(0.1, -0.2, 1.5) }),
    };
    let bare = Detection { id: None, label: "ä".to_owned(), has_mask: false, point: None, ..with_all.clone() };
    Arc::new(DetectionFrame {
        stamp: Stamp::from_nanos(1_750_000_000_123_456_789),
        frame_id: "camera".to_owned(),
        skill: skill.to_owned(),
        image_width: 640,
        image_height: 480,
        detections: vec![Found { detection: with_all, mask: Some(mask) }, Found { detection: bare, mask: None }],
    })
}

fn name(text: &str) -> OutputName {
    text.parse().expect("the output of the suite has a name")
}

fn skill(name: &str, once: bool) -> Skill {
    let skill = json!({
        "name": name, "mode": "ground_and_segment", "grounding": "can", "segment": true, "once": once,
        "outputs": [{"name": "found", "type": "boolean"}]
    });
    cerebellum_wire::skill::from_value(&skill).expect("the skill of the suite is one")
}
