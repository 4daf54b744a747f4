//! Posts one signed event, to try a receiver:
//! `RVC_CALLBACK_URL=http://127.0.0.1:8001/api/agent/events RVC_EVENT_SECRET=... cargo run -p cerebellum-kit --example post_event`
#![allow(clippy::print_stdout, reason = "an example talks to a person on stdout")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::Stamp;
use cerebellum_kit::{EventSink, HostClock, Poster, Push};
use cerebellum_wire::event::{Event, EventType, TopicRef, WatchEvent};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, secret) = (std::env::var("RVC_CALLBACK_URL")?, std::env::var("RVC_EVENT_SECRET")?);
    let (clock, tasks, stop) = (Arc::new(HostClock::new()), TaskTracker::new(), CancellationToken::new());
    let push = Push::from_settings(Some(&url), Some(&secret))?;
    let poster = Poster::start(push, clock, &tasks, stop.clone())?;
    let payload = WatchEvent {
        skill: "watch_for".into(),
        condition: "a person is in view".into(),
        value: true.into(),
        detection_summary: "person 0.91".into(),
        overlay_ref: Some(TopicRef {
            topic: "/vision/watch_for/overlay".into(),
            stamp: Stamp::from_ros(1_750_000_000, 500_000_000).as_secs_micros(),
        }),
    };
    poster.post(Event::new(EventType::WatchEvent, "watch_for", "perception", &payload));
    // The stop tries what waits once more, so that one second is enough for a receiver that is there.
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    println!("{:#?}", poster.stats());
    Ok(())
}
