use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cerebellum_wire::event::Event;
use tokio::sync::watch;

/// Keeps the events that were posted, in order.
///
/// The sink port lives in `cerebellum-kit`, which takes any closure; [`Self::sink`] is one, so
/// `let sink: Arc<dyn EventSink> = recorded.sink();` needs nothing more.
#[derive(Clone)]
pub struct RecordedEvents {
    events: Arc<Mutex<Vec<Event>>>,
    count: watch::Sender<usize>,
}

impl RecordedEvents {
    /// None yet.
    pub fn new() -> Self {
        Self { events: Arc::default(), count: watch::Sender::new(0) }
    }

    /// What to hand to the code under test; it records here.
    pub fn sink(&self) -> Arc<impl Fn(Event) + Send + Sync + 'static> {
        let recorded = self.clone();
        Arc::new(move |event| recorded.post(event))
    }

    /// Records an event.
    pub fn post(&self, event: Event) {
        let count = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.push(event);
            events.len()
        };
        self.count.send_replace(count);
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All events, as soon as there are `count`. Panics with what there is when `deadline` passes first.
    pub async fn wait_for(&self, count: usize, deadline: Duration) -> Vec<Event> {
        let mut counted = self.count.subscribe();
        let reached = tokio::time::timeout(deadline, counted.wait_for(|have| *have >= count)).await.is_ok();
        assert!(reached, "not {count} events within {deadline:?}, but {:#?}", self.events());
        self.events()
    }
}

impl Default for RecordedEvents {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_wire::event::EventType;

    use super::*;

    #[tokio::test]
    async fn events_are_kept_in_order_and_can_be_waited_for() {
        let recorded = RecordedEvents::new();
        let sink = recorded.sink();
        let waiting = tokio::spawn({
            let recorded = recorded.clone();
            async move { recorded.wait_for(2, Duration::from_secs(10)).await }
        });
        for id in ["a", "b"] {
            sink(Event::new(EventType::WatchEvent, id, "perception", &()));
        }
        let ids: Vec<String> = waiting.await.unwrap().into_iter().map(|event| event.task_id).collect();
        assert_eq!(ids, ["a", "b"]);
    }
}
