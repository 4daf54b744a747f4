use cerebellum_wire::event::Event;

/// Where a server puts its events. Posting never waits and never fails for the caller: what becomes of the event is the
/// business of the sink, which counts what it loses.
///
/// A closure that takes an event is a sink.
pub trait EventSink: Send + Sync {
    /// Takes the event over.
    fn post(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn post(&self, event: Event) {
        self(event);
    }
}
